"""How all rows are fitted: in one problem, in cells, or on few columns; judged on rows left out.

Up to ONE_CELL distinct rows one least-squares problem holds all of them. With more rows, engines
compete with the kernel and the ridge of the heaviest member:

    cells                problems of CELL rows
    overlapping cells    which also learn from rows beyond their borders
    few columns          one problem for all rows, with columns at some of them; only for so many
                         features that cells are far from local

Each of them is fitted to the same sample of rows and judged by its squared error on other rows. To
replace plain cells an engine must be better by a margin: overlapping cells cost three times as
much, and few columns gain less from the rows beyond the sample.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from kboost.auto.final_fit import (
    CELL_SECONDS,
    CELLS,
    FEW_COLUMNS,
    ONE_PROBLEM,
    OVERLAPPING,
    Engine,
    Member,
)
from kboost.auto.sample import Sample
from kboost.auto.search import ONE_CELL
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Method, iterate
from kboost.core.stopping import OUT_OF_TIME, StopReason
from kboost.metric.folds import LearningRows

_MANY_FEATURES = 50
_MARGIN = {OVERLAPPING: 0.98, FEW_COLUMNS: 0.95}  # of the error of cells that must be reached
_TRIED = StopReason("engines", "every engine was tried.")


@dataclass(frozen=True)
class EngineStep:
    """An engine and its squared error on rows left out."""

    engine: Engine
    error: float

    def __str__(self) -> str:
        return f"{self.engine.name}: error {self.error:.4g}"


def engines_for(n_rows: int, n_features: int) -> tuple[Engine, ...]:
    """The engines that compete for a table of so many distinct rows, the default first."""
    if n_rows <= ONE_CELL:
        return (ONE_PROBLEM,)
    local = CELLS, OVERLAPPING
    return local if n_features < _MANY_FEATURES else (*local, FEW_COLUMNS)


def choose_engine(
    member: Member, n_rows: int, learning: LearningRows, deadline: Deadline = NO_LIMIT
) -> tuple[Engine, StopReason]:
    """The engine of the lowest error, and why no more were tried.

    Targets of `learning` are on the scale of the fit. Without time, or after Ctrl-C, engines that
    were tried so far compete, and the default stands without any.
    """
    engines = engines_for(n_rows, learning.X.shape[1])
    if len(engines) == 1:
        return engines[0], _TRIED
    if deadline.remaining < CELL_SECONDS:
        return engines[0], OUT_OF_TIME
    trials = EngineTrials(member, engines, learning, deadline)
    reason = iterate(trials, deadline=deadline, level=logging.DEBUG)
    return trials.best(), reason


class EngineTrials(Method[EngineStep]):
    """One step fits one engine to the sample."""

    trace: list[EngineStep]

    def __init__(
        self, member: Member, engines: Sequence[Engine], learning: LearningRows, deadline: Deadline
    ) -> None:
        self._member, self._engines = member, engines
        self._sample, self._deadline = Sample(learning), deadline
        self.trace = []

    def advance(self) -> EngineStep | StopReason:
        """Fit the next engine."""
        if len(self.trace) == len(self._engines):
            return _TRIED
        engine, fold = self._engines[len(self.trace)], self._sample.fold
        values = self._sample.values([self._member], engine, self._deadline)
        if isinstance(values, StopReason):
            return values
        return EngineStep(engine, fold.error(values - fold.mean))

    def best(self) -> Engine:
        """The engine of the lowest error so far."""
        errors = {step.engine: step.error / _MARGIN.get(step.engine, 1.0) for step in self.trace}
        return min(errors, key=lambda engine: errors[engine], default=self._engines[0])
