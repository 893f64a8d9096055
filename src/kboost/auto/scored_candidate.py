"""A candidate with its score on rows left out: a line of the leaderboard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.target_scale import IDENTITY, TargetScale
from kboost.metric.compare import Judged
from kboost.metric.folds import LearningRows

Scorer = Callable[[FloatArray, IntArray], float]  # of values at rows of these numbers


@dataclass(frozen=True)
class ScoredCandidate:
    """A line of the leaderboard.

    Its engine is column generation with a `cost`, a joint fit with `max_columns`, and kernel ridge
    regression on all rows with neither.
    """

    name: str
    values: FloatArray  # at the rows left out, on the original scale (m, q)
    rows: IntArray  # their numbers
    score: float
    spread: float  # standard error over the folds
    seconds: float
    n_columns: int  # of a fit to all rows, estimated
    row_microseconds: float  # estimated from the fits of the search
    members: tuple[tuple[Judged, float], ...]  # and their weights
    scale: TargetScale = IDENTITY
    max_columns: int | None = None
    cost: float | None = None  # C, the cost of errors

    @property
    def is_small(self) -> bool:
        """Whether the engine has few columns."""
        return self.max_columns is not None or self.cost is not None

    def n_bytes(self, n_features: int) -> int:
        """The size of the model: centres in float32, and coefficients."""
        return self.n_columns * (4 * n_features + 8 * int(self.values.shape[1]))


@dataclass(frozen=True)
class ScoredRows:
    """The rows left out in turn, and how values there are scored."""

    scorer: Scorer  # larger is better; values are on the original scale of the target
    learning: LearningRows  # all rows, with targets on the scale of the fits
    scale: TargetScale
    rows: IntArray  # numbers of those left out
    folds: IntArray  # the fold of each

    def on_original_scale(self, values: FloatArray) -> tuple[FloatArray, TargetScale]:
        """The values on the original scale, and the scale with the residuals of these rows."""
        targets, weight = self.learning.targets[self.rows], self.learning.weight[self.rows]
        scale = self.scale.with_residuals(values, targets, weight)
        return scale.invert(values), scale

    def candidate(
        self,
        name: str,
        values: FloatArray,
        members: tuple[tuple[Judged, float], ...],
        *,
        seconds: float,
        n_columns: int,
        max_columns: int | None = None,
        cost: float | None = None,
    ) -> ScoredCandidate:
        """A candidate of these values, with its score and the spread over the folds."""
        plain, scale = self.on_original_scale(values)
        numbers = [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]
        scores = [self.scorer(plain[each], self.rows[each]) for each in numbers]
        scores = [score for score in scores if np.isfinite(score)]
        with np.errstate(over="ignore"):
            few = len(scores) < 2
            spread = 0.0 if few else float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
        entry = float(np.mean([each.entry_seconds for each, _ in members]))
        return ScoredCandidate(
            name, plain, self.rows, self.scorer(plain, self.rows), spread, seconds, n_columns,
            1e6 * n_columns * entry, members, scale, max_columns, cost,
        )  # fmt: skip
