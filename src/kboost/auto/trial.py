"""A small model tried on every fold, and the smallest of several that comes close to the best.

A trial is close if its mean loss is within a tolerance of the lowest. So is one within a quarter of
the lowest, if the difference may be chance: with the difference d_i of the losses at row i, its
weight w_i, W = sum_i w_i and mean(d) = sum_i w_i d_i / W, if it is at most one standard error,

    mean(d)  <=  sqrt(mean((d - mean(d))^2) / W).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kboost._typing import FloatArray

_CHANCE = 0.25  # above the lowest loss: a larger difference counts, however uncertain

Judge = Callable[[FloatArray], FloatArray]  # the loss of each row left out, of values there


@dataclass(frozen=True, eq=False)
class SizeTrial:
    """One setting of an engine: the columns it takes, and its values at the rows left out."""

    n_columns: int
    values: FloatArray = field(repr=False)  # (m, q), on the scale of the fits
    losses: FloatArray = field(repr=False)  # (m,)
    error: float  # their mean
    cost: float | None = None  # C of column generation; None for a joint fit

    def __str__(self) -> str:
        return f"{self.n_columns} columns: error {self.error:.4g}"


@dataclass(frozen=True)
class Comparison:
    """What counts as close: a tolerance, and the weights of the rows left out."""

    judge: Judge
    weight: FloatArray
    tolerance: float

    def trial(self, n_columns: int, values: FloatArray, cost: float | None = None) -> SizeTrial:
        """A trial of these values."""
        losses = self.judge(values)
        return SizeTrial(n_columns, values, losses, self._mean(losses), cost)

    def smallest(self, trials: Sequence[SizeTrial], every: Sequence[SizeTrial]) -> SizeTrial | None:
        """The trial with the fewest columns among those close to the best."""
        if not every:
            return None
        best = min(every, key=lambda trial: trial.error)
        near = [trial for trial in trials if self._is_close(trial, best)]
        return min(near, key=lambda trial: (trial.n_columns, trial.error), default=None)

    def _is_close(self, trial: SizeTrial, best: SizeTrial) -> bool:
        if trial.error <= (1 + self.tolerance) * best.error:
            return True
        if trial.error > (1 + _CHANCE) * best.error:
            return False
        away = (trial.losses - best.losses) / best.error  # squares of large losses would overflow
        mean = self._mean(away)
        return bool(mean <= np.sqrt(self._mean((away - mean) ** 2) / self.weight.sum()))

    def _mean(self, losses: FloatArray) -> float:
        return float(np.average(losses, weights=self.weight))
