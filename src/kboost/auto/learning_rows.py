"""The rows of the search: distinct, or repeated as often as they occur.

Rows of one x are merged into one row with their mean target where they are rare: nothing is lost,
and no row is in the training part and the left-out part of a fold at once. In a table of few
distinct rows, such as one of categories alone, new rows repeat old ones, and leaving out all rows
of one x would judge something else. Such a table shows itself by rows of one x with different
targets. There each row is repeated by its weight, if weights are whole numbers, and rows
are left out one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.folds import LearningRows

_REPEATED = 1.2  # different targets per distinct x from which rows are left out one by one
_MOST = 100_000  # rows


def row_counts(weight: FloatArray) -> FloatArray:
    """Weights that are shares of 1, or the like, count as rows in the mean."""
    total, n_weighted = float(weight.sum()), int(np.count_nonzero(weight))
    if total >= n_weighted:
        return weight
    counts = weight * (n_weighted / total)
    whole = np.round(counts)
    return whole if np.allclose(counts, whole, rtol=1e-9, atol=0.0) else counts


def learning_rows(X: Any, rows: IndexedRows, *, labels: bool) -> LearningRows:
    """The rows in random order, which depends on their content only."""
    merged, _ = rows.by_center()
    total = float(rows.weight.sum())
    whole = bool(np.all(rows.weight == np.round(rows.weight)))
    repeated = len(rows.order) >= _REPEATED * len(merged.order)
    if not (whole and repeated and total <= _MOST):
        return LearningRows(_at(X, merged.order), merged.targets, merged.weight, labels)
    each = np.repeat(np.arange(len(rows.order)), rows.weight.astype(np.intp))
    each = each[np.random.default_rng(0).permutation(len(each))]
    numbers = _at(X, rows.order[each])
    return LearningRows(numbers, rows.targets[each], np.ones(len(each)), labels)


def _at(X: Any, order: IntArray) -> Any:
    """The rows in this order; those of a distributed table stay where they are."""
    if hasattr(X, "in_order"):
        return X.in_order(order)
    return np.asarray(X[order], dtype=np.float64)
