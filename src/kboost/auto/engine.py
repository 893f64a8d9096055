"""How all rows are fitted: in one problem, in cells, or on few columns; judged on rows left out.

Up to ONE_CELL distinct rows one least-squares problem holds all of them. With more rows, engines
compete with the kernel and the ridge of the member of largest weight:

    cells                problems of CELL rows
    overlapping cells    which also learn from rows beyond their borders
    few columns          one problem for all rows, with columns at some of them; only for so many
                         features that cells are far from local

Each of them is fitted to the same sample of rows and judged by its squared error on other rows. To
replace plain cells an engine must be better by a margin: overlapping cells cost three times as
much, and few columns gain less from the rows beyond the sample. It must also have the time for all
rows and members, by the seconds of the sample.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kboost.auto.final_fit import (
    CELL_SECONDS,
    CELLS,
    FEW_COLUMNS,
    ONE_CELL,
    ONE_PROBLEM,
    OVERLAPPING,
    Engine,
    Member,
)
from kboost.auto.trial_rows import TrialRows
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Method, iterate
from kboost.core.stopping import OUT_OF_TIME, StopReason
from kboost.metric.folds import LearningRows

MANY_FEATURES = 50
_MARGIN = {OVERLAPPING: 0.98, FEW_COLUMNS: 0.95}  # of the error of cells that must be reached
_TRIED = StopReason("engines", "every engine was tried.")


@dataclass(frozen=True)
class EngineStep:
    """An engine and its squared error on rows left out."""

    engine: Engine
    error: float
    seconds: float  # of the fit to the sample

    def __str__(self) -> str:
        return f"{self.engine.name}: error {self.error:.4g}"


class EngineChoice(NamedTuple):
    """An engine, why no more were tried, and what it takes."""

    engine: Engine
    reason: StopReason
    row_seconds: float = 0.0  # per row and member; 0 if it was not tried


def engines_for(n_rows: int, n_features: int) -> tuple[Engine, ...]:
    """The engines that compete for a table of `n_rows` distinct rows, the default first."""
    if n_rows <= ONE_CELL:
        return (ONE_PROBLEM,)
    local = CELLS, OVERLAPPING
    return local if n_features < MANY_FEATURES else (*local, FEW_COLUMNS)


def choose_engine(
    members: Sequence[Member],
    n_rows: int,
    learning: LearningRows,
    deadline: Deadline = NO_LIMIT,
    final: Deadline = NO_LIMIT,
) -> EngineChoice:
    """The engine of the lowest error, and why no more were tried.

    Trials end at `deadline`, the fit of all rows and members that follows at `final`. Targets of
    `learning` are on the scale of the fit. Without time, or after Ctrl-C, engines that
    were tried so far compete, and the default stands without any.
    """
    engines = engines_for(n_rows, learning.X.shape[1])
    if len(engines) == 1:
        return EngineChoice(engines[0], _TRIED)
    if deadline.remaining < CELL_SECONDS:
        return EngineChoice(engines[0], OUT_OF_TIME)
    heaviest = max(members, key=lambda member: member.weight)
    trials = EngineTrials(heaviest, engines, learning, deadline)
    reason = iterate(trials, deadline=deadline, level=logging.DEBUG)
    engine = trials.best(final.remaining / len(members) * trials.n_rows / n_rows)
    seconds = sum(step.seconds for step in trials.trace if step.engine is engine)
    return EngineChoice(engine, reason, seconds / max(1, trials.n_rows))


class EngineTrials(Method[EngineStep]):
    """One step fits one engine to the sample."""

    trace: list[EngineStep]

    def __init__(
        self, member: Member, engines: Sequence[Engine], learning: LearningRows, deadline: Deadline
    ) -> None:
        self._member, self._engines = member, engines
        self._learning, self._deadline = learning, deadline
        self._trial: TrialRows | None = None
        self.trace = []

    def advance(self) -> EngineStep | StopReason:
        """Fit the next engine."""
        if len(self.trace) == len(self._engines):
            return _TRIED
        trial = self._trial = self._trial or TrialRows(self._learning)
        engine, fold = self._engines[len(self.trace)], trial.fold
        start = time.perf_counter()
        values = trial.values([self._member], engine, self._deadline)
        if isinstance(values, StopReason):
            return values
        error = fold.error(values - fold.mean)
        return EngineStep(engine, error, time.perf_counter() - start)

    @property
    def n_rows(self) -> int:
        """The rows of the sample; 0 before the first step."""
        return 0 if self._trial is None else len(self._trial)

    def best(self, seconds: float = np.inf) -> Engine:
        """The engine of the lowest error so far that takes at most `seconds` for the sample."""
        default = self._engines[0]
        quick = [s for s in self.trace if s.engine is default or s.seconds <= seconds]
        errors = {step.engine: step.error / _MARGIN.get(step.engine, 1.0) for step in quick}
        return min(errors, key=lambda engine: errors[engine], default=default)
