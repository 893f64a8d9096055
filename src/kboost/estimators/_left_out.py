"""The scorers of scikit-learn, by name, on predictions for rows left out."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names

from kboost._rules import Rule, optional
from kboost._typing import FloatArray, IntArray

SCORING = optional(
    Rule(
        "the name of a scorer of scikit-learn",
        lambda v: isinstance(v, str) and v in get_scorer_names(),
    )
)


class LeftOutModel(BaseEstimator):
    """The predictions of a candidate at rows left out, for scikit-learn's scorers."""

    def __init__(
        self,
        values: Any,
        probabilities: Any = None,
        classes_: Any = None,
        estimator_type: str = "classifier",
    ) -> None:
        self.values = values
        self.probabilities = probabilities
        self.classes_ = classes_
        self.estimator_type = estimator_type

    def fit(self, X: Any, y: Any = None) -> LeftOutModel:
        """Nothing is left to fit."""
        return self

    def predict(self, X: Any) -> Any:
        """The predictions, whatever X."""
        return self.values

    def predict_proba(self, X: Any) -> Any:
        """The probabilities, whatever X."""
        return self.probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = self.estimator_type
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


def named_scorer(
    name: str, y: Any, weight: FloatArray, perfect: LeftOutModel
) -> Callable[[LeftOutModel, IntArray], float]:
    """The score of predictions for rows of these numbers; -inf where it is not defined.

    Raises for a scorer that cannot score `perfect` predictions of all rows: it is meant for another
    kind of targets.
    """
    scorer: Any = get_scorer(name)
    weighted = "sample_weight" in inspect.signature(scorer._score_func).parameters

    def plain(model: LeftOutModel, rows: IntArray) -> float:
        options = {"sample_weight": weight[rows]} if weighted else {}
        return float(scorer(model, np.zeros((len(rows), 1)), y[rows], **options))

    try:
        plain(perfect, np.arange(len(y)))
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f"scoring must be the name of a scorer for such targets; got scoring={name!r}."
        ) from error

    def score(model: LeftOutModel, rows: IntArray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            try:
                value = plain(model, rows)
            except ValueError:  # such as a single class among these rows
                return -np.inf
        return value if np.isfinite(value) else -np.inf

    return score
