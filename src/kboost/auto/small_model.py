"""The smallest model whose error on rows left out stays close to the lowest.

Two engines compete on the same rows: joint fits of the best kernel on few basis vectors
(auto/basis_size.py), and column generation over a mixture of the best kernels (auto/certified.py).
"size" takes the fewest columns within 5 % of the lowest squared error of all fits, or a little more
if that may be chance (auto/trial.py), "speed" at most 256 columns within 10 %. The error of labels
is that of their calibrated probabilities.

A search that time cuts short has no evidence for the last size it tried: larger ones may be much
better. Below ENOUGH columns such a size does not count.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray
from kboost.auto.basis_size import BasisTrials
from kboost.auto.certified import CostTrials, Problem
from kboost.auto.probabilities import calibrate, shares_of
from kboost.auto.scored_candidate import ScoredCandidate, ScoredRows, Scorer
from kboost.auto.search import global_folds
from kboost.auto.target_scale import TargetScale
from kboost.auto.trial import Comparison, Judge, SizeTrial
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.interruptible import interruptible
from kboost.core.iterate import iterate
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.sizes import CERTIFIED_ROWS
from kboost.metric.folds import LearningRows, fold_of, folds_of
from kboost.metric.rounds import Fold
from kboost.selection.learned_kernels import mixture_of

_TOLERANCE = {"size": 0.05, "speed": 0.10}
MOST = {"size": 1024, "speed": 256}  # columns
ENOUGH = 256  # columns without evidence for a number
_FEW, _SOME = 800, 2400  # rows up to which all of five folds, three of them are tried
_TRAINING, _LEFT = 4000, 2000  # rows of the one fold above, at most


@dataclass(frozen=True)
class SmallModels:
    """The smallest model of each engine, the winner first; none if there was no time."""

    candidates: tuple[ScoredCandidate, ...]
    reason: StopReason  # why no more were tried


def smallest_models(
    candidates: Sequence[ScoredCandidate],
    learning: LearningRows,
    scorer: Scorer,
    prefer: str,
    problem: Problem | None = None,
    deadline: Deadline = NO_LIMIT,
) -> SmallModels:
    """Try both engines in growing sizes; after Ctrl-C the choice is among the joint fits so far.

    `problem` states that of column generation; without one, or with many rows, it does not compete.
    """
    if learning.targets.size > CERTIFIED_ROWS:
        problem = None

    def search_sizes() -> tuple[SmallModels, StopReason]:
        search = _SmallModelSearch(candidates, learning, scorer, prefer)
        reason = search.try_joint(deadline if problem is None else deadline.share(2))
        if problem is not None and search.joint and reason.rule != INTERRUPTED.rule:
            reason = search.try_certified(problem, deadline)
        return SmallModels(search.candidates(), reason), reason

    models, reason = interruptible(search_sizes, None)  # Ctrl-C between the trials
    return models or SmallModels((), reason)


class _SmallModelSearch:
    """The trials of both engines on the same rows left out."""

    def __init__(
        self,
        candidates: Sequence[ScoredCandidate],
        learning: LearningRows,
        scorer: Scorer,
        prefer: str,
    ) -> None:
        singles = [c for c in candidates if len(c.members) == 1]
        self._best = best = singles[0]
        same = [c.members[0][0] for c in singles if c.scale.kind == best.scale.kind]
        self._mixture = mixture_of(same)
        self._folds, self._scored = _left_out(learning, best.scale, scorer)
        judge, weight = _judge(self._scored, learning), learning.weight[self._scored.rows]
        self._comparison = Comparison(judge, weight, _TOLERANCE[prefer])
        self._labels, self._most = learning.labels, MOST[prefer]
        self._seconds, self._cut_short = [0.0, 0.0], [False, False]  # of the engines
        self.joint: list[SizeTrial] = []
        self.certified: list[SizeTrial] = []

    def try_joint(self, deadline: Deadline) -> StopReason:
        """Joint fits of the best kernel."""
        start, judged = time.perf_counter(), self._best.members[0][0]
        trials = BasisTrials(
            judged, self._folds, self._comparison, labels=self._labels, most=self._most,
            deadline=deadline,
        )  # fmt: skip
        reason = iterate(trials, deadline=deadline)
        self.joint, self._seconds[0] = trials.trace, time.perf_counter() - start
        self._cut_short[0] = reason.rule == OUT_OF_TIME.rule
        return reason

    def try_certified(self, problem: Problem, deadline: Deadline) -> StopReason:
        """Column generation over the mixture; nothing of it counts after Ctrl-C."""
        start, few = time.perf_counter(), self._comparison.smallest(self.joint, self.joint)
        most = self._most if few is None else few.n_columns  # with more it cannot be the smallest
        trials = CostTrials(
            problem, self._mixture, self._folds, self._comparison, most=most, deadline=deadline
        )
        reason = iterate(trials, trials.limit, deadline=deadline)
        if reason.rule != INTERRUPTED.rule:
            self.certified = [t for t in trials.trace if 0 < t.n_columns <= self._most]
        self._seconds[1] = time.perf_counter() - start
        self._cut_short[1] = reason.rule == OUT_OF_TIME.rule
        return reason

    def candidates(self) -> tuple[ScoredCandidate, ...]:
        """The smallest model of each engine; those close to the lowest error of both go first."""
        smallest, every = self._comparison.smallest, [*self.joint, *self.certified]
        near: list[SizeTrial] = []
        far: list[SizeTrial] = []
        for trials, cut_short in zip(
            (self.certified, self.joint), self._cut_short[::-1], strict=True
        ):
            trial, is_near = smallest(trials, every), True
            if trial is None:
                trial, is_near = smallest(trials, trials), False
            if trial is None or (cut_short and trial is trials[-1] and trial.n_columns < ENOUGH):
                continue
            (near if is_near else far).append(trial)
        order = [*sorted(near, key=lambda trial: trial.n_columns), *far]
        return tuple(map(self._candidate, order))

    def _candidate(self, trial: SizeTrial) -> ScoredCandidate:
        best = self._best
        if trial.cost is None:
            return self._scored.candidate(
                f"joint fit of {best.name}", trial.values, best.members,
                seconds=self._seconds[0], n_columns=trial.n_columns, max_columns=trial.n_columns,
            )  # fmt: skip
        suffix = best.name.removeprefix(best.members[0][0].family.name)  # the scale of the target
        members = tuple((each, 1.0) for each in self._mixture)
        return self._scored.candidate(
            f"column generation{suffix}", trial.values, members,
            seconds=self._seconds[1], n_columns=trial.n_columns, cost=trial.cost,
        )  # fmt: skip


def _left_out(
    learning: LearningRows, scale: TargetScale, scorer: Scorer
) -> tuple[list[Fold], ScoredRows]:
    """Folds on the scale of the fits, and their rows left out."""
    scaled = replace(learning, targets=scale.apply(learning.targets))
    folds = _folds(scaled)
    rows = np.concatenate([fold.left_out for fold in folds])
    numbers = np.repeat(np.arange(len(folds)), [len(fold.left_out) for fold in folds])
    return folds, ScoredRows(scorer, scaled, scale, rows, numbers)


def _folds(rows: LearningRows) -> list[Fold]:
    """Folds with most rows in the training part: few rows need fewer columns than many."""
    n = len(rows)
    if n <= _FEW:
        return global_folds(rows)
    if n <= _SOME:
        return folds_of(rows, 5, 3, n)
    n_left = min(_LEFT, n // 4)
    numbers = np.arange(min(n, _TRAINING + n_left))
    return [fold_of(rows, numbers[n_left:], numbers[:n_left])]


def _judge(rows: ScoredRows, learning: LearningRows) -> Judge:
    """The squared error of numbers on the original scale, or of calibrated probabilities."""
    targets, weight = learning.targets[rows.rows], learning.weight[rows.rows]

    def of_numbers(values: FloatArray) -> FloatArray:
        away = rows.on_original_scale(values)[0] - targets
        return np.asarray(np.sum(away**2, axis=1))

    def of_labels(values: FloatArray) -> FloatArray:
        shares = shares_of(targets)
        logs = calibrate(values, shares, weight).log_probabilities(values)
        return np.asarray(np.sum((np.exp(logs) - shares) ** 2, axis=1))

    return of_labels if learning.labels else of_numbers
