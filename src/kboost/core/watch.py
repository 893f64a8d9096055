"""Rows held out to judge each step, their columns computed once as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Hypothesis


class Watch:
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
        blocks = [
            family.columns(list(members), self._X)
            for family, members in groupby(new, key=lambda h: h.family)
        ]
        self._columns = np.hstack([self._columns, *blocks])
        values: FloatArray = self._columns @ fit.coef + fit.bias
        return values
