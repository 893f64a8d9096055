"""Forest: covtype, class 1 (spruce/fir, +1) against class 2 (lodgepole pine, -1), 54 features.

The training rows depend on `seed` and `n_train` only. The test rows are the next ones of the same
shuffle, after `skip` rows, so that a part for tuning and a part for the final word do not overlap.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, data_file, standardised

FILE = "covtype.npz"


def load(n_train: int = 1000, n_test: int = 5000, skip: int = 0, seed: int = 0) -> Data:
    """`n_train` and `n_test` random rows, standardised by the training part."""
    with np.load(data_file(FILE), allow_pickle=False) as archive:
        X, labels = archive["X"], archive["y"]
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(labels <= 2))
    train = rows[:n_train]
    test = rows[n_train + skip : n_train + skip + n_test]
    y = np.where(labels == 1, 1.0, -1.0)
    X_train, X_test = standardised(X[train].astype(np.float64), X[test].astype(np.float64))
    return Data(X_train, y[train], X_test, y[test])
