"""KIN40K: forward dynamics of an eight-link robot arm, 36,000 rows to learn from, 4,000 to test.

Which rows the paper used is not known; here `seed` shuffles all 40,000.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, data_file
from benchmarks.datasets.forest import archive

FILE = "kin40k.npz"


def load(n_train: int = 36_000, n_test: int = 4_000, seed: int = 0) -> Data:
    """Random rows as they are."""
    X, y = archive(data_file(FILE))
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[:n_train], rows[n_train : n_train + n_test]
    parts = (X[train], y[train], X[test], y[test])
    return Data(*(part.astype(np.float64) for part in parts))
