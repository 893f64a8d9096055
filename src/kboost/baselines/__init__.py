"""Rivals to compare with, on the same kernels."""

from kboost.baselines.composite import CompositeSVC, CompositeSVR

__all__ = ["CompositeSVC", "CompositeSVR"]
