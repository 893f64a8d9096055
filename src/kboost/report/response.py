"""The response of a model to rows, as one number per row that a chart can show, and its losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray

_LEAST = 1e-6  # probabilities below lose no more


def shown_class(s: Any) -> int:
    """The class whose probability is shown: the second of two, the most frequent of several."""
    if len(s.labels) == 2:
        return 1
    return int(np.argmax([np.sum(np.asarray(s.y) == c) for c in s.inner.classes_]))


def response_name(s: Any) -> str:
    """What `response` returns, in words."""
    if not s.labels:
        return f"predicted {s.target}"
    label = s.labels[shown_class(s)]
    return f"{'probability' if hasattr(s.model, 'predict_proba') else 'value'} of {label}"


def response(s: Any, X: Any) -> FloatArray:
    """The prediction, or the probability (the decision value) of one class, of each row."""
    if not s.labels:
        return np.asarray(s.answers.predict(X), dtype=np.float64)
    if hasattr(s.model, "predict_proba"):
        return np.asarray(s.answers.predict_proba(X)[:, shown_class(s)])
    values = np.asarray(s.model.decision_function(X))
    return values if values.ndim == 1 else values[:, shown_class(s)]


def losses(s: Any, X: Any, y: Any) -> FloatArray:
    """Two losses of each row, (n, 2), the finer one first.

    Squared and absolute error of a regressor; minus the logarithm of the probability, and whether
    the label is wrong, of a classifier.
    """
    if not s.labels:
        error = np.asarray(y, dtype=np.float64) - s.answers.predict(X)
        return np.column_stack([error**2, np.abs(error)])
    if not hasattr(s.model, "predict_proba"):
        wrong = np.asarray(s.answers.predict(X) != y, dtype=np.float64)
        return np.column_stack([wrong, wrong])
    chances = s.answers.predict_proba(X)
    codes = np.searchsorted(s.model.classes_, y)
    codes = np.minimum(codes, len(s.model.classes_) - 1)
    is_class = s.model.classes_[codes] == y
    probabilities = np.where(is_class, chances[np.arange(len(codes)), codes], 0.0)
    wrong = s.model.classes_[chances.argmax(axis=1)] != y
    return np.column_stack([-np.log(np.maximum(probabilities, _LEAST)), wrong])
