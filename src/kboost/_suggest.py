"""Which estimator for these data: the table of docs/how_to_choose.md as a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import type_of_target

from kboost._rules import Rule, check_params, one_of
from kboost.data.sizes import MANY_ROWS, MOST_ROWS
from kboost.estimators.classifier import KernelBoostClassifier
from kboost.estimators.novelty import KernelBoostNovelty
from kboost.estimators.regressor import KernelBoostRegressor
from kboost.estimators.semi_supervised import SemiSupervisedKernelBoostClassifier
from kboost.estimators.sparse_classifier import SparseKernelClassifier
from kboost.estimators.sparse_regressor import SparseKernelRegressor

MOST_LABELS = 20  # whole numbers with more different values are quantities
WIDE = 10  # features a row, in regression, that only halfspaces select among
TASK: Rule = one_of("classification", "regression", None)


@dataclass(frozen=True)
class Suggestion:
    """An estimator, not fitted, and why it; what :func:`kboost.suggest` returns.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    reason : str
        A sentence.
    """

    estimator: Any
    reason: str

    def __str__(self) -> str:
        return f"{self.estimator}: {self.reason}"


def suggest(X: Any, y: Any = None, *, task: str | None = None) -> Suggestion:
    """Suggest an estimator for these data, with the reason.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n, n_features)
        Rows.
    y : array-like of shape (n,), optional
        Labels or numbers; -1 marks a row without a label where most rows have none. Without y the
        rows are taken for examples of one class.
    task : {"classification", "regression"}, optional
        What y is. By default whole numbers of up to 20 different values, and what is not a number,
        are labels.

    Returns
    -------
    Suggestion
        The `estimator`, not fitted, and the `reason`.

    Examples
    --------
    >>> import kboost
    >>> from sklearn.datasets import load_breast_cancer
    >>> found = kboost.suggest(*load_breast_cancer(return_X_y=True))
    >>> found.estimator
    KernelBoostClassifier()
    >>> print(found.reason)
    2 classes and 569 rows: few enough to search every kernel at every row for the smallest model.
    """
    check_params({"task": task}, {"task": TASK})
    table = check_array(
        X, accept_sparse="csr", dtype=None, ensure_all_finite=False, ensure_min_samples=2
    )
    n, d = table.shape
    if y is None:
        return Suggestion(
            KernelBoostNovelty(), f"no y: {n:,} rows are taken for examples of one class."
        )
    y = column_or_1d(y)
    if len(y) != n:
        raise ValueError(f"y must have one value per row; got {len(y)} for {n} rows.")
    if (task or task_of(y)) == "regression":
        return _regression(n, d, dense=not sparse.issparse(table))
    return _classification(n, y, dense=not sparse.issparse(table))


def task_of(y: Any) -> str:
    """Whether y is numbers to predict, or labels."""
    kind = type_of_target(y)
    if kind == "continuous":
        return "regression"
    numbers = np.asarray(y).dtype.kind in "iuf"
    return "regression" if numbers and len(np.unique(y)) > MOST_LABELS else "classification"


def _regression(n: int, d: int, *, dense: bool) -> Suggestion:
    if d > WIDE * n:
        return Suggestion(
            KernelBoostRegressor("halfspaces"),
            f"numbers, and {d:,} features for {n:,} rows: halfspaces select few features.",
        )
    if n <= MOST_ROWS:
        return Suggestion(KernelBoostRegressor(), f"numbers {_few(n)}")
    return Suggestion(
        SparseKernelRegressor(**_cells(n, dense)), f"numbers and {_many(n, dense=dense)}"
    )


def _classification(n: int, y: Any, *, dense: bool) -> Suggestion:
    labels, counts = np.unique(y, return_counts=True)
    if labels.dtype.kind in "if" and len(labels) > 2 and labels[0] == -1 and counts[0] > n / 2:
        return Suggestion(
            SemiSupervisedKernelBoostClassifier(),
            f"{counts[0]:,} of {n:,} rows have the label -1, none: they serve as centres too.",
        )
    classes = f"{len(labels)} classes"
    if n * (len(labels) if len(labels) > 2 else 1) <= 2 * MOST_ROWS and n <= MOST_ROWS:
        return Suggestion(KernelBoostClassifier(), f"{classes} {_few(n)}")
    return Suggestion(
        SparseKernelClassifier(**_cells(n, dense)), f"{classes} and {_many(n, dense=dense)}"
    )


def _cells(n: int, dense: bool) -> dict[str, Any]:
    return {"cells": "auto"} if n > MANY_ROWS and dense else {}


def _few(n: int) -> str:
    return f"and {n:,} rows: few enough to search every kernel at every row for the smallest model."


def _many(n: int, *, dense: bool) -> str:
    if _cells(n, dense):
        return f"{n:,} rows: the space is cut into cells, with kernel ridge in each."
    return f"{n:,} rows: many to search whole, so basis vectors are taken where the residual is."
