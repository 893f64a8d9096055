"""The search for the best model of a table of numbers, and its final fit on all rows.

1. Families of kernels are judged on rows left out (auto/search.py); for a target with heavy tails
   also on a transformed target (auto/target_scale.py).
2. The weights of a blend are found on the same rows (auto/blend.py). Each candidate and the blend
   has a score there; the best one is the model. "size" and "speed" prefer few columns: the smallest
   model of two engines whose error stays within a tolerance (auto/small_model.py).
3. The winner is fitted to all rows: by column generation (auto/certified.py), or its members one
   by one, and their weighted sum is one additive model (auto/final_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.auto.blend import blend_weights
from kboost.auto.certified import FAILED, CertifiedResult, Problem, fit_certified
from kboost.auto.contender import Contender, ScoredRows, Scorer
from kboost.auto.engine import choose_engine
from kboost.auto.final_fit import CUT_SHORT, Engine, Member, fit_members
from kboost.auto.search import SearchResult, search
from kboost.auto.small_model import ENOUGH, MOST, smallest_models
from kboost.auto.target_scale import IDENTITY, TargetScale, heavy_tailed
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.compare import COMPARED, Judged
from kboost.metric.families import FAMILIES, MetricFamily, families_for
from kboost.metric.folds import LearningRows
from kboost.metric.rounds import ROUNDS
from kboost.plans.sparse import SparseResult
from kboost.solvers.threads import one_blas_thread

COMPLETE = StopReason("complete", "every family was compared, and the best model is fitted.")
SEARCH_CUT_SHORT = StopReason(
    "search", "max_seconds cut the search short; the best model so far is fitted to all rows."
)
_ENDED = {  # what ends the search at once
    INTERRUPTED.rule: "interrupted; the best candidate so far is fitted to all rows.",
    "callback": "a callback requested the stop; the best candidate so far is fitted to all rows.",
}
_SEARCH = 0.8  # of the time for the search; the rest is for the final fit
_CERTIFIED = 0.8  # of the rest for column generation, before a joint fit stands in for it
_STANDS_IN = {
    INTERRUPTED.rule: "interrupted; a joint fit stands in for column generation.",
    OUT_OF_TIME.rule: "max_seconds reached: a joint fit stands in for column generation; "
    "raise max_seconds.",
    "callback": "a callback requested the stop; a joint fit stands in for column generation.",
}


@dataclass(frozen=True)
class AutoPlan:
    """What may compete, and how it is judged."""

    scorer: Scorer  # larger is better; values are on the original scale of the target
    prefer: str = "accuracy"
    families: Sequence[MetricFamily] = FAMILIES
    rounds: int = ROUNDS
    blend: bool = True
    scales: bool = True  # whether transforms of the target compete
    engine: bool = True  # whether the final fit has all columns, in cells where rows are many
    problem: Problem | None = None  # of column generation, which competes for a small model
    random_state: Any = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class AutoResult:
    """The fitted sum of the members, and everything that was judged."""

    result: SparseResult | CertifiedResult
    winner: Contender
    candidates: tuple[Contender, ...]  # the best first
    engine: Engine | None = None  # of all columns, where engines competed
    failure: str = ""  # of column generation


def fit_auto(
    plan: AutoPlan,
    X: Any,
    rows: IndexedRows,
    learning: LearningRows,
    *,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> AutoResult:
    """Search on the learning rows, choose, and fit all rows; there is always a model.

    Ctrl-C or a callback ends the search, and the best candidate so far with a single member is
    fitted. Ctrl-C before there is a candidate is raised.
    """
    with one_blas_thread():  # folds are small: a second thread would only spin
        scales = [] if learning.labels else _scales(plan, rows)
        candidates, reason = _search(plan, learning, scales, deadline, listeners)
    chosen = [candidates[0]]  # and what stands in for it
    single = next(c for c in candidates if len(c.members) == 1)
    ended, failure = reason.rule in _ENDED, ""
    if ended or not deadline.remaining:
        chosen = [single]
    elif plan.prefer != "accuracy":
        small = smallest_models(
            candidates, learning, plan.scorer, plan.prefer, plan.problem, deadline.share(2)
        )
        ended = small.reason.rule == INTERRUPTED.rule
        reason = small.reason if ended or small.reason.rule == OUT_OF_TIME.rule else reason
        failure = small.reason.message if small.reason.rule == FAILED else ""
        chosen = [*small.contenders, single]
        candidates = sorted([*candidates, *small.contenders], key=lambda c: -c.score)
    final = _Final(plan, X, rows, learning, () if ended else listeners)
    if not ended:
        final, stop = final.with_engine(chosen[0], deadline.share(3))
        reason = INTERRUPTED if stop.rule == INTERRUPTED.rule else reason
    winner, result = final.fit(chosen, deadline)
    if result.reason.rule == FAILED:
        failure = result.reason.message
    result = replace(result, reason=_reason(reason, result.reason, failure))
    return AutoResult(result, winner, tuple(candidates), final.engine, failure)


@dataclass(frozen=True)
class _Final:
    """The fit of the winner to all rows."""

    plan: AutoPlan
    X: Any
    rows: IndexedRows
    learning: LearningRows
    listeners: Sequence[Listener]
    engine: Engine | None = None  # None: the default, or a limit on the columns

    def with_engine(self, winner: Contender, deadline: Deadline) -> tuple[_Final, StopReason]:
        """The same with an engine for all columns; after Ctrl-C without listeners."""
        if self.plan.prefer != "accuracy" or not self.plan.engine:
            return self, COMPLETE
        learning = replace(self.learning, targets=winner.scale.apply(self.learning.targets))
        heaviest = max(self._members(winner), key=lambda member: member.weight)
        n_rows = len(self.rows.center_rows)
        engine, stop = choose_engine(heaviest, n_rows, learning, deadline)
        interrupted = stop.rule == INTERRUPTED.rule
        return replace(self, engine=engine, listeners=() if interrupted else self.listeners), stop

    def fit(
        self, chosen: Sequence[Contender], deadline: Deadline
    ) -> tuple[Contender, SparseResult | CertifiedResult]:
        """The first that can be fitted; column generation that is cut short leaves the next one."""
        winner, *others = chosen
        rows = replace(self.rows, targets=winner.scale.apply(self.rows.targets))
        members = self._members(winner)
        few = self.plan.prefer != "accuracy"
        if winner.cost is None or self.plan.problem is None:
            most = ENOUGH if few and winner.max_columns is None else winner.max_columns
            return winner, fit_members(
                members, self.X, rows, labels=self.learning.labels,
                max_columns=most, engine=self.engine, all_columns=self.plan.engine,
                deadline=deadline, random_state=self.plan.random_state, n_jobs=self.plan.n_jobs,
                listeners=self.listeners, hurry=True,
            )  # fmt: skip
        kernels = [member.kernel for member in members]
        until = deadline.share(1 / _CERTIFIED)
        result, reason = fit_certified(
            self.plan.problem, kernels, self.X, rows, winner.cost,
            deadline=until, listeners=self.listeners,
        )  # fmt: skip
        if result is not None:
            n_columns, most = result.model.n_columns, MOST[self.plan.prefer]
            if n_columns <= most:
                return winner, result
            reason = _too_many(n_columns, most)
        stand_in, fitted = self.fit(others, deadline)
        if reason.rule == FAILED and fitted.reason.rule in CUT_SHORT:
            return stand_in, fitted
        words = _STANDS_IN.get(reason.rule, reason.message)
        return stand_in, replace(fitted, reason=StopReason(reason.rule, words))

    def _members(self, winner: Contender) -> list[Member]:
        reference = self.learning.reference()
        return [Member(each.kernel(*reference), each.ridge, part) for each, part in winner.members]


def _too_many(n_columns: int, most: int) -> StopReason:
    words = f"column generation has {n_columns} columns on all rows, more than {most}."
    return StopReason(FAILED, words)


def _reason(search: StopReason, final: StopReason, failure: str) -> StopReason:
    """Why the fit ended, from the reasons of the search and the final fit."""
    if search.rule in _ENDED:
        return StopReason(search.rule, _ENDED[search.rule])
    if final.rule in CUT_SHORT:
        return final
    reason = COMPLETE if search.rule == COMPARED.rule else SEARCH_CUT_SHORT
    return replace(reason, message=f"{reason.message} {sentence(failure)}".rstrip())


def sentence(words: str) -> str:
    """The words with a capital letter."""
    return words[:1].upper() + words[1:]


def _scales(plan: AutoPlan, rows: IndexedRows) -> list[TargetScale]:
    """The transforms that compete; they are defined for the target of every row."""
    one_target = rows.targets.shape[1] == 1
    return heavy_tailed(rows.targets[:, 0], rows.weight) if plan.scales and one_target else []


def _search(
    plan: AutoPlan,
    learning: LearningRows,
    scales: Sequence[TargetScale],
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[list[Contender], StopReason]:
    """All candidates, the best first, and why there are no more."""
    first = deadline.share(2 if scales else 1 / _SEARCH)
    candidates, reason = _candidates(plan, learning, IDENTITY, first, listeners)
    if scales:
        best = [c.members[0][0].family for c in candidates if len(c.members) == 1][:3]
        narrower = replace(plan, families=best)
        for scale in scales:
            if reason.rule not in _ENDED and deadline.remaining:
                until = deadline.share(2)
                more, then = _candidates(narrower, learning, scale, until, listeners)
                candidates += more
                reason = reason if then.rule == COMPARED.rule else then
    if not candidates:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    return sorted(candidates, key=lambda c: -c.score), reason


def _candidates(
    plan: AutoPlan,
    learning: LearningRows,
    scale: TargetScale,
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[list[Contender], StopReason]:
    """Every family on one scale of the target, and their blend, with scores."""
    scaled = replace(learning, targets=scale.apply(learning.targets))
    n, d = learning.X.shape
    families = families_for(n, d, learning.targets.shape[1], plan.families)
    found = search(scaled, families, plan.rounds, deadline, listeners)
    if not found.judged:
        return [], found.reason
    suffix = "" if scale.kind == "identity" else f" of {scale.kind} y"
    left = ScoredRows(plan.scorer, scaled, scale, found.left, found.fold_numbers)
    out = [
        _contender(left, found, f"{each.family.name}{suffix}", ((each, 1.0),))
        for each in found.judged
    ]
    if plan.blend and len(found.judged) > 1:
        values = [found.values(each) for each in found.judged]
        share = blend_weights(values, scaled.targets[left.rows], scaled.weight[left.rows])
        members = tuple(
            (each, float(part)) for each, part in zip(found.judged, share, strict=True) if part > 0
        )
        if len(members) > 1:
            out.append(_contender(left, found, f"blend{suffix}", members))
    return out, found.reason


def _contender(
    left: ScoredRows, found: SearchResult, name: str, members: tuple[tuple[Judged, float], ...]
) -> Contender:
    """A weighted sum of families as a candidate."""
    values = np.sum([part * found.values(each) for each, part in members], axis=0)
    seconds = sum(each.seconds for each, _ in members)
    n_columns = len(left.learning) * len(members)
    return left.contender(name, values, members, seconds=seconds, n_columns=n_columns)
