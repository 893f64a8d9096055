"""Kernel functions, their sums and products, and the default library."""

from kboost.kernels.adapters import as_kernels
from kboost.kernels.ard import ARD, fit_ard
from kboost.kernels.base import Kernel
from kboost.kernels.default import default_kernels
from kboost.kernels.dot_product import Linear, Polynomial, Sigmoid
from kboost.kernels.stationary import Gaussian, Laplacian, Matern

__all__ = [
    "ARD",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Sigmoid",
    "as_kernels",
    "default_kernels",
    "fit_ard",
]
