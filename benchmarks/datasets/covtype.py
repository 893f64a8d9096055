"""COVTYPE as Sun and Yao use it: class 2 (+1) against the rest, raw features, nine rows in ten.

`n_train` takes the first of the shuffled training rows; the test rows are always the same 58,102.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, data_file
from benchmarks.datasets.forest import FILE, archive

N_TEST = 58_102


def load(n_train: int | None = None, seed: int = 0) -> Data:
    """Float32 features."""
    X, label = archive(data_file(FILE))
    rows = np.random.default_rng(seed).permutation(len(X))
    test, train = rows[:N_TEST], rows[N_TEST:][:n_train]
    y = np.where(label == 2, 1.0, -1.0)
    X = np.ascontiguousarray(X, dtype=np.float32)
    return Data(X[train], y[train], X[test], y[test])
