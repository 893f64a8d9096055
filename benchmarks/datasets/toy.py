"""The toy of CG-Boost's Figure 1: a plane and four bumps in the plane, to be predicted.

    f(x) = x1 + 2 x2 + sum_i exp(-|x - c_i|^2 / s),   c_i = (+-1/2, +-1/2),   x uniform in [-1, 1]^2

with Gaussian noise on the training rows and none on the test rows. The paper leaves s and the
noise open; here s = 0.1 and a deviation of 0.05.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, FloatArray

WIDTH = 0.1
CENTERS = 0.5 * np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])


def target(X: FloatArray) -> FloatArray:
    """The function without noise."""
    distances = np.sum((X[:, None] - CENTERS) ** 2, axis=2)
    values: FloatArray = X[:, 0] + 2 * X[:, 1] + np.exp(-distances / WIDTH).sum(axis=1)
    return values


def load(n_train: int = 50, n_test: int = 2000, noise: float = 0.05, seed: int = 0) -> Data:
    """Rows drawn by `seed`."""
    rng = np.random.default_rng(seed)
    X, X_test = rng.uniform(-1, 1, (n_train, 2)), rng.uniform(-1, 1, (n_test, 2))
    return Data(X, target(X) + noise * rng.normal(size=n_train), X_test, target(X_test))
