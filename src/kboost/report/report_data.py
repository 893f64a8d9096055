"""The model and the data of a report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kboost._validation import check_table
from kboost.plotting._fitted import input_of, last_step
from kboost.report import measures
from kboost.report.rivals import ModelFigures, svm_figures, tree_figures
from kboost.report.scores import Score, scores

Section = tuple[str, str, str]  # id, title, HTML
CLASSES = 12  # shown in a table, at most
WIDE = 300  # features above which rows are not described


class Remembered:
    """A model whose answers at the rows of the report are computed once."""

    _METHODS = ("predict", "predict_proba", "decision_function")

    def __init__(self, model: Any, X: Any) -> None:
        self._model, self._X = model, X
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._model, name)
        if name not in self._METHODS:
            return attribute

        def answer(X: Any) -> Any:
            if X is not self._X:
                return attribute(X)
            if name not in self._known:
                self._known[name] = np.asarray(attribute(X))
            return self._known[name]

        return answer


@dataclass(frozen=True)
class ReportData:
    """The model and the data of a report; see `write_report`."""

    model: Any
    inner: Any
    X: Any
    y: Any
    X_learn: Any
    y_learn: Any
    seen: bool
    target: str
    file: Path | None
    seconds: float | None
    reason: str
    left_out: tuple[tuple[str, str], ...]
    na: tuple[str, ...] | None = None

    @property
    def estimator(self) -> Any:
        """The estimator that was fitted; `inner` is the model inside an AutoKernel estimator."""
        return last_step(self.model)

    @cached_property
    def answers(self) -> Any:
        """The model, for its answers at X and at other rows."""
        return Remembered(self.model, self.X)

    @cached_property
    def predicted(self) -> Any:
        """Predictions for X."""
        return self.answers.predict(self.X)

    @cached_property
    def scores(self) -> list[Score]:
        """Scores on X."""
        base = self.y if self.y_learn is None else self.y_learn
        return list(scores(self.answers, self.X, np.asarray(self.y), np.asarray(base)))

    @cached_property
    def rivals(self) -> list[ModelFigures]:
        """Other models on the same rows: trees and a support vector machine."""
        if self.X_learn is None or getattr(self.inner, "_is_precomputed", False):
            return []
        arguments = (self.model, self.X_learn, self.y_learn, self.X, np.asarray(self.y))
        trees = tree_figures(*arguments)
        return [svm_figures(*arguments)] if trees is None else [trees, svm_figures(*arguments)]

    @cached_property
    def sample(self) -> Any:
        """A sample of X as input of the estimator."""
        return self.input_of(measures.sample_rows(self.X))

    def input_of(self, X: Any) -> Any:
        """Rows of the table as input of the estimator, checked."""
        return check_table(self.inner, input_of(self.model, X), reset=False)

    @property
    def labels(self) -> list[str]:
        """The class labels; empty for regression."""
        return [str(label) for label in getattr(self.inner, "classes_", [])]

    @property
    def gap(self) -> float | None:
        """The largest certified gap."""
        gap = getattr(self.inner, "dual_gap_", None)
        return None if gap is None else float(np.max(gap))
