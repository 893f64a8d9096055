"""Handwritten digits, ten classes, on their 16 first principal components, of unit variance."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, mnist_classes


def load(n_train: int = 7_500, n_test: int = 2_500, seed: int = 0, n_components: int = 16) -> Data:
    """Random rows; the components are those of the training rows."""
    data = mnist_classes.load(n_train, n_test, seed)
    middle = data.X_train.mean(axis=0)
    centered = data.X_train - middle
    values, vectors = np.linalg.eigh(centered.T @ centered / len(centered))
    axes = vectors[:, -n_components:] / np.sqrt(values[-n_components:])
    return Data(centered @ axes, data.y_train, (data.X_test - middle) @ axes, data.y_test)
