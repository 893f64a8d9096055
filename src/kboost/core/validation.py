"""The error on held-out rows after each step; their columns are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Family, Fit, Hypothesis


class ValidationMonitor:
    """The error of a growing model on held-out rows; `loss` takes their decision values."""

    def __init__(self, X: Any, loss: Callable[[FloatArray], float]) -> None:
        self._X = X
        self._loss = loss
        self._columns = np.zeros((X.shape[0], 0))

    def error(self, hypotheses: Sequence[Hypothesis], fit: Fit) -> float:
        """The loss of `fit`."""
        return self._loss(self.decision(hypotheses, fit))

    def decision(self, hypotheses: Sequence[Hypothesis], fit: Fit) -> FloatArray:
        """Values of `fit` at the rows; hypotheses not seen before are evaluated now."""
        new = hypotheses[self._columns.shape[1] :]
        self._columns = np.hstack([self._columns, columns_at(self._X, new)])
        values: FloatArray = self._columns @ fit.coef + fit.bias
        return values


def columns_at(X: Any, hypotheses: Sequence[Hypothesis]) -> FloatArray:
    """Values of hypotheses at the rows of X, (n, m), a family at a time."""
    if hasattr(X, "columns_at"):  # rows that are elsewhere
        values: FloatArray = X.columns_at(hypotheses)
        return values
    members: dict[Family, list[int]] = {}
    for number, hypothesis in enumerate(hypotheses):
        members.setdefault(hypothesis.family, []).append(number)
    out = np.empty((X.shape[0], len(hypotheses)))
    for family, numbers in members.items():
        out[:, numbers] = family.columns([hypotheses[j] for j in numbers], X)
    return out
