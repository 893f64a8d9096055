"""Digits (scikit-learn): 1797 images of 8 x 8 pixels, odd digits are +1."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.datasets import Data
from benchmarks.datasets._split import split


def load(test_size: float = 0.3, seed: int = 0) -> Data:
    """A stratified random split."""
    X, digit = load_digits(return_X_y=True)
    return split(X, np.where(digit % 2 == 1, 1.0, -1.0), test_size=test_size, seed=seed)
