"""One fold of a stratified cross-validation on a small set: wdbc, ionosphere or pima.

Positive are the malignant (wdbc), the good returns (ionosphere), the diabetic (pima).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.datasets import Data, FloatArray, data_file, standardised
from benchmarks.datasets.forest import archive


def load(
    table: str, fold: int = 0, n_folds: int = 5, seed: int = 0, inner: int | None = None
) -> Data:
    """Fold number `fold` of the folding that `seed` draws is the test part.

    With `inner` that fold is left out, and one of three folds of the rest is the test part.
    """
    X, y = archive(data_file(f"{table}.npz"))
    X, y = X.astype(np.float64), y.astype(np.float64)
    train, test = parts(y, n_folds, fold, seed)
    if inner is not None:
        learn, judge = parts(y[train], 3, inner, seed)
        train, test = train[learn], train[judge]
    X_train, X_test = standardised(X[train], X[test])
    return Data(X_train, y[train], X_test, y[test])


def parts(y: FloatArray, n_folds: int, fold: int, seed: int) -> Any:
    """Row numbers of all folds but one, and of that one."""
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros((len(y), 1)), y))[fold]
