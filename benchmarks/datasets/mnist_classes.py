"""Handwritten digits, ten classes, the official 60,000 / 10,000; pixels from 0 to 1."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, data_file
from benchmarks.datasets.forest import archive

FILE = "mnist.npz"


def load(n_train: int = 60_000, n_test: int = 10_000, seed: int = 0) -> Data:
    """Of each part random rows if fewer are asked for."""
    X, digit = archive(data_file(FILE))
    rng = np.random.default_rng(seed)
    train, test = rng.permutation(60_000)[:n_train], 60_000 + rng.permutation(10_000)[:n_test]
    parts = (X[train] / 255.0, digit[train], X[test] / 255.0, digit[test])
    return Data(*(part.astype(np.float64) for part in parts))
