"""The search for the best model of a table of numbers, and its final fit on all rows.

1. Families of kernels are judged on rows left out (auto/search.py); for a target with heavy tails
   also on a transformed target (auto/target_scale.py).
2. The weights of a blend are found on the same rows (auto/blend.py). Each candidate and the blend
   has a score there; the best one is the model. "size" and "speed" prefer few columns: the smallest
   basis whose error stays within a tolerance (auto/basis_size.py).
3. The members are fitted to all rows, and their weighted sum is one additive model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.basis_size import smallest_basis
from kboost.auto.blend import blend_weights
from kboost.auto.engine import choose_engine
from kboost.auto.final_fit import CUT_SHORT, Member, fit_members
from kboost.auto.search import SearchResult, search
from kboost.auto.target_scale import IDENTITY, TargetScale, heavy_tailed
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.stopping import INTERRUPTED, StopReason
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

Scorer = Callable[[FloatArray, IntArray], float]  # of values at rows of these numbers


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
    random_state: Any = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Contender:
    """A line of the leaderboard."""

    name: str
    values: FloatArray  # at the rows left out, on the original scale (m, q)
    rows: IntArray  # their numbers
    score: float
    spread: float  # standard error over the folds
    seconds: float
    n_columns: int
    row_microseconds: float  # estimated from the fits of the search
    members: tuple[tuple[Judged, float], ...]  # and their weights
    scale: TargetScale = IDENTITY


@dataclass(frozen=True)
class AutoResult:
    """The fitted sum of the members, and everything that was judged."""

    result: SparseResult
    winner: Contender
    candidates: tuple[Contender, ...]  # the best first
    limited: bool = False  # whether the model has as few columns as come close


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
    winner, limit = candidates[0], None
    ended = reason.rule in _ENDED
    if ended or not deadline.remaining:
        winner = next(c for c in candidates if len(c.members) == 1)
    elif plan.prefer != "accuracy":
        until = deadline.share(3)
        winner, limit, ended = smallest_basis(candidates, learning, plan.prefer, until)
        reason = INTERRUPTED if ended else reason
    reference = learning.reference()
    members = tuple(
        Member(each.kernel(*reference), each.ridge, weight) for each, weight in winner.members
    )
    scaled = replace(rows, targets=winner.scale.apply(rows.targets))
    engine = None
    if limit is None and plan.engine and not ended:
        on_scale = replace(learning, targets=winner.scale.apply(learning.targets))
        heaviest = max(members, key=lambda member: member.weight)
        n_rows = len(rows.center_rows)
        engine, stop = choose_engine(heaviest, n_rows, on_scale, deadline.share(3))
        ended = stop.rule == INTERRUPTED.rule
        reason = INTERRUPTED if ended else reason
    result = fit_members(
        members, X, scaled, labels=learning.labels, max_columns=limit, engine=engine,
        deadline=deadline, all_columns=plan.engine, random_state=plan.random_state,
        n_jobs=plan.n_jobs, listeners=() if ended else listeners,
    )  # fmt: skip
    reason = _reason(reason, result.reason)
    found = replace(result, reason=reason)
    return AutoResult(found, winner, tuple(candidates), limited=limit is not None)


def _reason(search: StopReason, final: StopReason) -> StopReason:
    """Why the fit ended, from the reasons of the search and the final fit."""
    if search.rule in _ENDED:
        return StopReason(search.rule, _ENDED[search.rule])
    if final.rule in CUT_SHORT:
        return final
    return COMPLETE if search.rule == COMPARED.rule else SEARCH_CUT_SHORT


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
    suffix = "" if scale.kind == "identity" else f" of {scale.kind} y"
    out = [
        _scored(plan, found, scale, scaled, f"{each.family.name}{suffix}", ((each, 1.0),))
        for each in found.judged
    ]
    if plan.blend and len(found.judged) > 1:
        left = found.left
        values = [found.values(each) for each in found.judged]
        share = blend_weights(values, scaled.targets[left], scaled.weight[left])
        members = tuple(
            (each, float(part)) for each, part in zip(found.judged, share, strict=True) if part > 0
        )
        if len(members) > 1:
            out.append(_scored(plan, found, scale, scaled, f"blend{suffix}", members))
    return out, found.reason


def _scored(
    plan: AutoPlan,
    found: SearchResult,
    scale: TargetScale,
    scaled: LearningRows,
    name: str,
    members: tuple[tuple[Judged, float], ...],
) -> Contender:
    """A candidate with its score on the rows left out, and the spread over the folds."""
    left, fold = found.left, found.fold_numbers
    values = np.sum([part * found.values(each) for each, part in members], axis=0)
    scale = scale.with_residuals(values, scaled.targets[left])
    plain = scale.invert(values)
    scores = [plan.scorer(plain[fold == f], left[fold == f]) for f in np.unique(fold)]
    scores = [score for score in scores if np.isfinite(score)]
    with np.errstate(over="ignore"):
        spread = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else 0.0
    return Contender(
        name,
        plain,
        left,
        plan.scorer(plain, left),
        spread,
        sum(each.seconds for each, _ in members),
        len(scaled) * len(members),
        1e6 * len(scaled) * sum(each.entry_seconds for each, _ in members),
        members,
        scale,
    )
