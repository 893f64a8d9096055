"""Scores of a model on held-out rows, with those of a constant prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils import get_tags


@dataclass(frozen=True)
class Score:
    """One score."""

    name: str
    value: float
    base: float | None  # of the constant prediction
    is_error: bool  # whether smaller is better


def is_classifier(model: Any) -> bool:
    """Whether it predicts labels."""
    return bool(get_tags(model).estimator_type == "classifier")


def scores(model: Any, X: Any, y: Any, y_learn: Any) -> Sequence[Score]:
    """Scores on rows; `y_learn` gives the constant prediction to compare with."""
    return _labels(model, X, y, y_learn) if is_classifier(model) else _numbers(model, X, y, y_learn)


def _labels(model: Any, X: Any, y: Any, y_learn: Any) -> Sequence[Score]:
    labels, counts = np.unique(y_learn, return_counts=True)
    majority = np.full(len(y), labels[counts.argmax()])
    predicted = model.predict(X)
    found = [
        Score("accuracy", float(np.mean(predicted == y)), float(np.mean(majority == y)), False),
    ]
    if len(labels) == 2 and len(np.unique(y)) == 2 and hasattr(model, "decision_function"):
        area = float(metrics.roc_auc_score(y == labels[1], model.decision_function(X)))
        found.append(Score("area under the ROC curve", area, 0.5, False))
    elif len(labels) > 2:
        mean_recall = float(np.mean([np.mean(predicted[y == k] == k) for k in np.unique(y)]))
        found.append(Score("mean accuracy of the classes", mean_recall, 1 / len(labels), False))
    return found


def _numbers(model: Any, X: Any, y: Any, y_learn: Any) -> Sequence[Score]:
    y = np.asarray(y, dtype=np.float64)
    error = y - np.asarray(model.predict(X), dtype=np.float64)
    plain, middle = y - np.mean(y_learn), y - np.median(y_learn)
    total = float(np.sum((y - y.mean()) ** 2))
    return [
        Score("R²", 1 - float(error @ error) / total if total > 0 else float("nan"), 0.0, False),
        Score(
            "mean absolute error", float(np.abs(error).mean()), float(np.abs(middle).mean()), True
        ),
        Score(
            "root mean squared error",
            float(np.sqrt(np.mean(error**2))),
            float(np.sqrt(np.mean(plain**2))),
            True,
        ),
    ]
