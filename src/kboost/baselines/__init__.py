"""Rivals to compare with, on the same kernels."""

from kboost.baselines.composite import CompositeSVC, CompositeSVR
from kboost.baselines.kernel_design import KernelDesignClassifier
from kboost.baselines.mkl import MKLClassifier

__all__ = ["CompositeSVC", "CompositeSVR", "KernelDesignClassifier", "MKLClassifier"]
