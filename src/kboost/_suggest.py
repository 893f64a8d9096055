"""Which estimator for these data: the table of docs/how_to_choose.md as a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from kboost._rules import Rule, check_params, one_of
from kboost.data.sizes import MOST_ENTRIES, MOST_LABELS, WIDE, search_seconds
from kboost.estimators.auto_classifier import AutoKernelClassifier
from kboost.estimators.auto_regressor import AutoKernelRegressor
from kboost.estimators.novelty import KernelBoostNovelty
from kboost.estimators.regressor import KernelBoostRegressor
from kboost.estimators.semi_supervised import SemiSupervisedKernelBoostClassifier
from kboost.estimators.sparse_classifier import SparseKernelClassifier
from kboost.estimators.sparse_regressor import SparseKernelRegressor
from kboost.metric.families import FAMILIES
from kboost.preparation import TablePreparation
from kboost.preparation.matrices import are_numbers
from kboost.preparation.reading import as_table, len_of, typed_columns

TASK: Rule = one_of("classification", "regression", None)


@dataclass(frozen=True)
class Suggestion:
    """An estimator, not fitted, and why it; what :func:`kboost.suggest` returns.

    Parameters
    ----------
    estimator : estimator
        Not fitted. A pipeline with a TablePreparation if the estimator accepts only numbers and
        the table has other columns, or missing values.
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
    X : table of shape (n, n_columns)
        A frame (pandas, polars, ...), an array or a sparse matrix; any kinds of columns.
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
    AutoKernelClassifier()
    >>> found.reason.partition(": ")[0]
    '2 classes and 569 rows'
    """
    check_params({"task": task}, {"task": TASK})
    table = as_table(X)
    n, d = len_of(table)
    if n < 2:
        raise ValueError(f"X must have at least 2 rows; got {n}.")
    if y is None:
        return Suggestion(
            _prepared(KernelBoostNovelty(), table),
            f"no y: {n:,} rows are taken for examples of one class.",
        )
    y = column_or_1d(y)
    if len(y) != n:
        raise ValueError(f"y must have one value per row; got {len(y)} for {n} rows.")
    if (task or task_of(y)) == "regression":
        return _regression(table, n, d)
    return _classification(table, n, d, y)


def task_of(y: Any) -> str:
    """Whether y is numbers to predict, or labels."""
    kind = type_of_target(y)
    if kind == "continuous":
        return "regression"
    numbers = np.asarray(y).dtype.kind in "iuf"
    return "regression" if numbers and len(np.unique(y)) > MOST_LABELS else "classification"


def _regression(table: Any, n: int, d: int) -> Suggestion:
    if d > WIDE * n:
        return Suggestion(
            _prepared(KernelBoostRegressor("halfspaces"), table),
            f"numbers, and {d:,} features for {n:,} rows: halfspaces select few features.",
        )
    if _is_large(table, n * d):
        return Suggestion(SparseKernelRegressor(), f"numbers and {_many(n, d)}")
    return Suggestion(AutoKernelRegressor(), f"numbers and {_competing(n)}")


def _classification(table: Any, n: int, d: int, y: Any) -> Suggestion:
    labels, counts = np.unique(y, return_counts=True)
    if labels.dtype.kind in "if" and len(labels) > 2 and labels[0] == -1 and counts[0] > n / 2:
        return Suggestion(
            _prepared(SemiSupervisedKernelBoostClassifier(), table),
            f"{counts[0]:,} of {n:,} rows have the label -1, none: they serve as centres too.",
        )
    classes = f"{len(labels)} classes"
    if _is_large(table, n * d):
        return Suggestion(SparseKernelClassifier(), f"{classes} and {_many(n, d)}")
    return Suggestion(AutoKernelClassifier(), f"{classes} and {_competing(n)}")


def _is_large(table: Any, n_entries: int) -> bool:
    return sparse.issparse(table) and n_entries > MOST_ENTRIES


def _prepared(estimator: Any, table: Any) -> Any:
    """The estimator, with a preparation for columns that are not numbers and for missing values."""
    if sparse.issparse(table):
        return estimator
    columns = typed_columns(table)
    if are_numbers(columns) and not any(column.missing.any() for column in columns):
        return estimator
    return make_pipeline(TablePreparation(), estimator)


def _competing(n: int) -> str:
    *kinds, last = dict.fromkeys(family.kind.__name__ for family in FAMILIES)
    return (
        f"{n:,} rows: {', '.join(kinds)} and {last} kernels and their blend compete, by default "
        f"for at most {search_seconds(n):,.0f} seconds."
    )


def _many(n: int, d: int) -> str:
    return f"{n:,} sparse rows of {d:,} features: basis vectors are taken where the residual is."
