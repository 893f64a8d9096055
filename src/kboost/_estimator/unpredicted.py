"""Classes that a fitted classifier predicts for none of its training rows.

Only the training rows of the class itself are predicted, a few of them first. The most frequent
class is not checked, and neither are small data, on which a class may well be left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from kboost._typing import IntArray

LEAST_ROWS, LEAST_OF_CLASS = 100, 10  # fewer rows, or fewer of a class, are not checked
_FIRST = 100  # rows of a class


def unpredicted_classes(estimator: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """The labels of these classes; `X`, `y` and `sample_weight` are the arguments of `fit`."""
    labels = np.asarray(y).ravel()
    if len(labels) < LEAST_ROWS:
        return []
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
    weighted = weight.astype(np.float64) > 0
    class_weight = getattr(estimator, "class_weight", None)
    factors = class_weight if isinstance(class_weight, dict) else {}
    rows_of = {
        label: np.flatnonzero(weighted & (labels == label))
        for label in estimator.classes_.tolist()
        if factors.get(label, 1) > 0
    }
    most = max(map(len, rows_of.values()))
    return [
        label
        for label, rows in rows_of.items()
        if LEAST_OF_CLASS <= len(rows) < most and not _is_predicted(estimator, X, label, rows)
    ]


def _is_predicted(estimator: Any, X: Any, label: Any, rows: IntArray) -> bool:
    """Whether the label is predicted for one of the rows."""
    parts = [part for part in (rows[:_FIRST], rows[_FIRST:]) if len(part)]
    return any((estimator.predict(_safe_indexing(X, part)) == label).any() for part in parts)
