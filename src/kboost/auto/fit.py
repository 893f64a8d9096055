"""The search for the best model of a table of numbers, and its final fit on all rows.

1. Families of kernels are judged on rows left out (auto/search.py); for a target with heavy tails
   also on a transformed target (auto/target_scale.py).
2. The weights of a blend are found on the same rows (auto/blend.py). Each candidate and the blend
   has a score there; the best one is the model. "size" and "speed" prefer few columns: the smallest
   model of two engines whose error stays within a tolerance (auto/small_model.py).
3. With many rows the best candidate, and the one learned again inside cells, are fitted
   in cells to a sample, and judged on other rows (auto/finalists.py).
4. The winner is fitted to all rows: by column generation (auto/certified.py), or its members one
   by one, and their weighted sum is one additive model (auto/final_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost.auto.candidates import ENDED, find_candidates, scales_for
from kboost.auto.certified import FAILED, CertifiedResult, fit_certified
from kboost.auto.engine import MANY_FEATURES, choose_engine
from kboost.auto.final_fit import CUT_SHORT, ONE_CELL, Engine, Member, fit_in_time, members_of
from kboost.auto.finalists import judge_finalists
from kboost.auto.plan import AutoPlan
from kboost.auto.scored_candidate import ScoredCandidate
from kboost.auto.small_model import ENOUGH, MOST, smallest_models
from kboost.auto.target_scale import TargetScale
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.compare import COMPARED
from kboost.metric.folds import LearningRows
from kboost.plans.sparse import SparseResult
from kboost.solvers.threads import one_blas_thread

COMPLETE = StopReason("complete", "every family was compared, and the best model is fitted.")
SEARCH_CUT_SHORT = StopReason(
    "search", "max_seconds cut the search short; the best model so far is fitted to all rows."
)
_CANDIDATES = 0.65  # of the time for candidates of many rows
_CERTIFIED = 0.8  # of the rest for column generation, before a joint fit replaces it
_STANDS_IN = {
    INTERRUPTED.rule: "interrupted; a joint fit replaces column generation.",
    OUT_OF_TIME.rule: "max_seconds reached: a joint fit replaces column generation; "
    "raise max_seconds.",
    "callback": "a callback requested the stop; a joint fit replaces column generation.",
}


@dataclass(frozen=True)
class AutoResult:
    """The fitted sum of the members, and everything that was judged."""

    result: SparseResult | CertifiedResult
    winner: ScoredCandidate
    candidates: tuple[ScoredCandidate, ...]  # the best first
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
        scales = [] if learning.labels else scales_for(plan, rows)
        n_rows = len(rows.center_rows)
        candidates, reason = _judged(plan, learning, n_rows, scales, deadline, listeners)
    chosen = [candidates[0]]  # and what replaces it if it fails
    single = next(c for c in candidates if len(c.members) == 1)
    ended, failure = reason.rule in ENDED, ""
    if ended or not deadline.remaining:
        chosen = [single]
    elif plan.prefer != "accuracy":
        small = smallest_models(
            candidates, learning, plan.scorer, plan.prefer, plan.problem, deadline.share(2)
        )
        ended = small.reason.rule == INTERRUPTED.rule
        reason = small.reason if ended or small.reason.rule == OUT_OF_TIME.rule else reason
        failure = small.reason.message if small.reason.rule == FAILED else ""
        chosen = [*small.candidates, single]
        candidates = sorted([*candidates, *small.candidates], key=lambda c: -c.score)
    final = _Final(plan, X, rows, learning, () if ended else listeners)
    members = members_of(chosen[0], learning)
    if not ended:
        final, stop = final.with_engine(chosen[0].scale, members, deadline)
        reason = INTERRUPTED if stop.rule == INTERRUPTED.rule else reason
    winner, result = final.fit(chosen, members, deadline)
    if result.reason.rule == FAILED:
        failure = result.reason.message
    result = replace(result, reason=_reason(reason, result.reason, failure))
    return AutoResult(result, winner, tuple(candidates), final.engine, failure)


def _judged(
    plan: AutoPlan,
    learning: LearningRows,
    n_rows: int,
    scales: Sequence[TargetScale],
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[list[ScoredCandidate], StopReason]:
    """The candidates, the best first; with many distinct rows judged again in cells.

    With many features cells are far from local: nothing is gained by learning inside them.
    """
    if n_rows <= ONE_CELL or plan.prefer != "accuracy" or not plan.engine:
        return find_candidates(plan, learning, scales, deadline, listeners)
    until = deadline.share(1 / _CANDIDATES)
    candidates, reason = find_candidates(plan, learning, scales, until, listeners)
    if reason.rule in ENDED or learning.X.shape[1] >= MANY_FEATURES:
        return candidates, reason
    candidates, stop = judge_finalists(plan, candidates, learning, deadline.share(2), listeners)
    return candidates, stop if stop.rule in (*ENDED, OUT_OF_TIME.rule) else reason


@dataclass(frozen=True)
class _Final:
    """The fit of the winner to all rows."""

    plan: AutoPlan
    X: Any
    rows: IndexedRows
    learning: LearningRows
    listeners: Sequence[Listener]
    engine: Engine | None = None  # None: the default, or a limit on the columns
    row_seconds: float = 0.0  # of the engine, per row and member; 0 if unknown

    def with_engine(
        self, scale: TargetScale, members: Sequence[Member], deadline: Deadline
    ) -> tuple[_Final, StopReason]:
        """The same with an engine for all columns; after Ctrl-C without listeners."""
        if self.plan.prefer != "accuracy" or not self.plan.engine:
            return self, COMPLETE
        learning = replace(self.learning, targets=scale.apply(self.learning.targets))
        n_rows = len(self.rows.center_rows)
        choice = choose_engine(members, n_rows, learning, deadline.share(3), deadline)
        listeners = () if choice.reason.rule == INTERRUPTED.rule else self.listeners
        final = replace(
            self, engine=choice.engine, row_seconds=choice.row_seconds, listeners=listeners
        )
        return final, choice.reason

    def fit(
        self, chosen: Sequence[ScoredCandidate], members: Sequence[Member], deadline: Deadline
    ) -> tuple[ScoredCandidate, SparseResult | CertifiedResult]:
        """The first candidate that can be fitted; the next one if column generation is cut short.

        `members` are those of the first.
        """
        winner, *others = chosen
        rows = self._rows_on(winner.scale)
        few = self.plan.prefer != "accuracy"
        if winner.cost is None or self.plan.problem is None:
            most = ENOUGH if few and winner.max_columns is None else winner.max_columns
            return winner, fit_in_time(
                members, self.X, rows, row_seconds=self.row_seconds, labels=self.learning.labels,
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
        stand_in, fitted = self.fit(others, members_of(others[0], self.learning), deadline)
        if reason.rule == FAILED and fitted.reason.rule in CUT_SHORT:
            return stand_in, fitted
        words = _STANDS_IN.get(reason.rule, reason.message)
        return stand_in, replace(fitted, reason=StopReason(reason.rule, words))

    def _rows_on(self, scale: TargetScale) -> IndexedRows:
        """All rows with transformed targets.

        Where the search merged rows of one x, their mean is transformed, as in the search: the mean
        of transformed targets is another one, to which the residuals do not belong.
        """
        merged = scale.kind != "identity" and len(self.learning) == len(self.rows.center_rows)
        rows = self.rows.by_center()[0] if merged else self.rows
        return replace(rows, targets=scale.apply(rows.targets))


def _too_many(n_columns: int, most: int) -> StopReason:
    words = f"column generation has {n_columns} columns on all rows, more than {most}."
    return StopReason(FAILED, words)


def _reason(search: StopReason, final: StopReason, failure: str) -> StopReason:
    """Why the fit ended, from the reasons of the search and the final fit."""
    if search.rule in ENDED:
        return StopReason(search.rule, ENDED[search.rule])
    if final.rule in CUT_SHORT:
        return final
    reason = COMPLETE if search.rule == COMPARED.rule else SEARCH_CUT_SHORT
    return replace(reason, message=f"{reason.message} {sentence(failure)}".rstrip())


def sentence(words: str) -> str:
    """The words with a capital letter."""
    return words[:1].upper() + words[1:]
