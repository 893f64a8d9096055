"""Sparse boosted mixtures of kernels."""

__version__ = "0.1.0"
