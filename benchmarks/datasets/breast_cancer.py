"""Breast cancer, Wisconsin (scikit-learn): 569 rows, 30 features, benign is +1."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer

from benchmarks.datasets import Data
from benchmarks.datasets._split import split


def load(test_size: float = 0.3, seed: int = 0) -> Data:
    """A stratified random split."""
    X, label = load_breast_cancer(return_X_y=True)
    return split(X, np.where(label == 1, 1.0, -1.0), test_size=test_size, seed=seed)
