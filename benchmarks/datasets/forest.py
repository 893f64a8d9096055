"""Forest: covtype, class 1 (spruce/fir, +1) against class 2 (lodgepole pine, -1), 54 features.

The training rows depend on `seed` and `n_train` only. Rows for validation come next in the same
shuffle, then the test rows, after `skip` rows, so that a part for tuning and a part for the final
word do not overlap.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Data, data_file, three_parts

FILE = "covtype.npz"


def load(
    n_train: int = 1000, n_test: int = 5000, skip: int = 0, seed: int = 0, n_val: int = 0
) -> Data:
    """Random rows, standardised by the training part."""
    X, labels = archive(data_file(FILE))
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(labels <= 2))
    y = np.where(labels == 1, 1.0, -1.0)
    return three_parts(X, y, rows, n_train=n_train, n_val=n_val, skip=skip, n_test=n_test)


@cache
def archive(path: Path) -> tuple[Any, Any]:
    """Features and labels, read once."""
    with np.load(path, allow_pickle=False) as content:
        return content["X"], content["y"]
