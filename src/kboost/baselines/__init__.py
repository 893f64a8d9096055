"""Other methods on the same kernels, for comparison."""

from kboost.baselines.boosted_svm import BoostedSVMClassifier
from kboost.baselines.composite import CompositeSVC, CompositeSVR
from kboost.baselines.kernel_design import KernelDesignClassifier
from kboost.baselines.mkl import MKLClassifier

__all__ = [
    "BoostedSVMClassifier",
    "CompositeSVC",
    "CompositeSVR",
    "KernelDesignClassifier",
    "MKLClassifier",
]
