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
from kboost.auto.final_fit import Member, fit_members
from kboost.auto.search import SearchResult, families_for, search
from kboost.auto.target_scale import IDENTITY, TargetScale, heavy_tailed
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.compare import Judged
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.folds import LearningRows
from kboost.metric.rounds import ROUNDS
from kboost.plans.sparse import SparseResult

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


def fit_auto(
    plan: AutoPlan,
    X: Any,
    rows: IndexedRows,
    *,
    labels: bool,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> AutoResult:
    """Search, choose and fit; there is a model whatever the deadline."""
    merged, _ = rows.by_center()
    numbers = np.asarray(X[merged.order], dtype=np.float64)
    learning = LearningRows(numbers, merged.targets, merged.weight, labels)
    candidates = _candidates(plan, learning, IDENTITY, deadline.share(2))
    if plan.scales and not labels and merged.targets.shape[1] == 1:
        names = [c.members[0][0].family for c in candidates if len(c.members) == 1]
        for scale in heavy_tailed(merged.targets[:, 0], merged.weight):
            narrower = replace(plan, families=names[:3])
            if deadline.share(2).remaining:
                candidates += _candidates(narrower, learning, scale, deadline.share(2))
    candidates.sort(key=lambda c: -c.score)
    winner = candidates[0]
    limit = None
    if plan.prefer != "accuracy":
        winner, limit = smallest_basis(candidates, learning, plan.prefer, deadline.share(3))
    targets = winner.scale.apply(rows.targets)
    members = tuple(
        Member(each.kernel(numbers, merged.weight), each.ridge, weight)
        for each, weight in winner.members
    )
    scaled = replace(rows, targets=targets)
    result = fit_members(
        members, X, scaled, labels=labels, max_columns=limit, random_state=plan.random_state,
        n_jobs=plan.n_jobs, deadline=deadline, listeners=listeners,
    )  # fmt: skip
    return AutoResult(result, winner, tuple(candidates))


def _candidates(
    plan: AutoPlan, learning: LearningRows, scale: TargetScale, deadline: Deadline
) -> list[Contender]:
    """Every family on one scale of the target, and their blend, with scores."""
    scaled = replace(learning, targets=scale.apply(learning.targets))
    families = families_for(learning.X.shape[1], plan.families)
    found = search(scaled, families, plan.rounds, deadline)
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
    return out


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
