"""Metrics learned on all of a table against metrics learned inside cells of it.

With many rows, metrics are learned on a sample, where rows are farther apart than in the final
model. Learned again inside cells (auto/search.py) they suit the density of the final model, but
the cells may not be like the rest of the table. So both are judged as final models: the best
candidate of the sample and the best one of the cells are fitted in cells to the same rows, and
scored on other rows of the whole table. These values also serve for what is learned from rows left
out: residuals of a transformed target, and calibration.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kboost._typing import FloatArray
from kboost.auto.candidates import ENDED, candidates_of
from kboost.auto.final_fit import CELLS, members_of
from kboost.auto.plan import AutoPlan
from kboost.auto.scored_candidate import ScoredCandidate, ScoredRows
from kboost.auto.search import search_in_cells
from kboost.auto.trial_rows import TrialRows
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.interruptible import interruptible
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.stopping import OUT_OF_TIME, StopReason
from kboost.metric.folds import LearningRows

_JUDGED = StopReason("finalists", "every finalist was judged.")
_SPREAD_PARTS = 4  # of the rows left out, for the spread of a score


@dataclass(frozen=True)
class FinalistStep:
    """A finalist with its score on rows of the whole table."""

    finalist: ScoredCandidate

    def __str__(self) -> str:
        return f"{self.finalist.name}: score {self.finalist.score:.4g}"


def judge_finalists(
    plan: AutoPlan,
    candidates: Sequence[ScoredCandidate],
    learning: LearningRows,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> tuple[list[ScoredCandidate], StopReason]:
    """The candidates, the best first: finalists with their new scores, then the others.

    Without time to judge both finalists, without a score, or after Ctrl-C, the candidates stay as
    they are.
    """
    if not deadline.remaining:
        return list(candidates), OUT_OF_TIME
    judge = partial(_judge, plan, candidates, learning, deadline, listeners)
    return interruptible(judge, list(candidates))


def _judge(
    plan: AutoPlan,
    candidates: Sequence[ScoredCandidate],
    learning: LearningRows,
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[list[ScoredCandidate], StopReason]:
    first = candidates[0]
    scaled = replace(learning, targets=first.scale.apply(learning.targets))
    same = [c for c in candidates if c.scale.kind == first.scale.kind]
    single = [c.members[0][0] for c in same if len(c.members) == 1]
    found = search_in_cells(scaled, single, plan.rounds, deadline.share(2), listeners)
    inside = candidates_of(plan, scaled, first.scale, found, learned=" learned in cells")
    if found.reason.rule in ENDED or not inside:
        return list(candidates), found.reason
    finalists = [first, max(inside, key=lambda c: c.score)]
    trials = FinalistTrials(plan, finalists, scaled, deadline)
    reason = iterate(trials, deadline=deadline, level=logging.DEBUG)
    judged = [step.finalist for step in trials.trace]
    if len(judged) < len(finalists) or not all(np.isfinite(c.score) for c in judged):
        return list(candidates), reason
    return [*sorted(judged, key=lambda c: -c.score), *candidates[1:]], reason


class FinalistTrials(Method[FinalistStep]):
    """One step fits one finalist in cells to the sample."""

    trace: list[FinalistStep]

    def __init__(
        self,
        plan: AutoPlan,
        finalists: Sequence[ScoredCandidate],
        scaled: LearningRows,
        deadline: Deadline,
    ) -> None:
        self._finalists, self._scaled, self._deadline = finalists, scaled, deadline
        self._trial = TrialRows(scaled)
        left_out = self._trial.fold.left_out
        self._scored = ScoredRows(
            plan.scorer,
            scaled,
            finalists[0].scale,
            left_out,
            np.arange(len(left_out)) % _SPREAD_PARTS,
        )
        self.trace = []

    def advance(self) -> FinalistStep | StopReason:
        """Fit the next finalist."""
        if len(self.trace) == len(self._finalists):
            return _JUDGED
        finalist, start = self._finalists[len(self.trace)], time.perf_counter()
        members = members_of(finalist, self._scaled)
        values = self._trial.values(members, CELLS, self._deadline)
        if isinstance(values, StopReason):
            return values
        seconds = finalist.seconds + time.perf_counter() - start
        return FinalistStep(self._rescored(finalist, values, seconds))

    def _rescored(
        self, finalist: ScoredCandidate, values: FloatArray, seconds: float
    ) -> ScoredCandidate:
        return self._scored.candidate(
            finalist.name, values, finalist.members,
            seconds=seconds, n_columns=finalist.n_columns,
        )  # fmt: skip
