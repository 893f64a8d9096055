"""Scores of a model on held-out rows, with those of a constant prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils import get_tags

_TINY = float(np.finfo(np.float64).eps)  # probabilities below it, as in scikit-learn


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
    recall = float(np.mean([np.mean(predicted[y == k] == k) for k in np.unique(y)]))
    results = [
        Score("accuracy", float(np.mean(predicted == y)), float(np.mean(majority == y)), False),
        Score("balanced accuracy", recall, 1 / len(labels), False),
    ]
    if len(labels) == 2 and len(np.unique(y)) == 2 and hasattr(model, "decision_function"):
        area = float(metrics.roc_auc_score(y == labels[1], model.decision_function(X)))
        results.append(Score("area under the ROC curve", area, 0.5, False))
    if hasattr(model, "predict_proba"):
        results.append(_log_loss(model, X, y, y_learn))
    return results


def _log_loss(model: Any, X: Any, y: Any, y_learn: Any) -> Score:
    """The mean of -log of the probability of the true label; the constant has the shares."""
    labels, counts = np.unique(y_learn, return_counts=True)
    shares = np.tile(counts / counts.sum(), (len(y), 1))
    value = _loss_of(model.predict_proba(X), model.classes_, y)
    return Score("log loss", value, _loss_of(shares, labels, y), True)


def _loss_of(probabilities: Any, classes: Any, y: Any) -> float:
    """The log loss of probabilities (n, k); those of labels that are not known are 0."""
    is_true = np.asarray(y)[:, None] == np.asarray(classes)[None, :]  # (n, k)
    true_probability = np.where(is_true, probabilities, 0.0).sum(axis=1)
    return float(-np.log(np.maximum(true_probability, _TINY)).mean())


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
