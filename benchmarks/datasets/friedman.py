"""Friedman's first function of ten uniform features, cut in two; it needs no file.

The label is the sign of `10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise - 14.4`; 14.4
is close to the mean. Five of the ten features play no part.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_friedman1

from benchmarks.datasets import Data, standardised


def load(n_train: int = 1000, n_test: int = 5000, skip: int = 0, seed: int = 0) -> Data:
    """`n_train` rows, then `skip` rows that are passed over, then `n_test` rows."""
    X, value = make_friedman1(n_train + skip + n_test, noise=1.0, random_state=seed)
    y = np.where(value > 14.4, 1.0, -1.0)
    X_train, X_test = standardised(X[:n_train], X[n_train + skip :])
    return Data(X_train, y[:n_train], X_test, y[n_train + skip :])
