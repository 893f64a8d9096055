"""The candidates: families of kernels with learned metrics, and their blend, with scores.

Families are judged on rows left out (auto/search.py); for a target with heavy tails also on a
transformed target (auto/target_scale.py). The weights of a blend are found on the same rows
(auto/blend.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kboost.auto.blend import blend_weights
from kboost.auto.plan import AutoPlan
from kboost.auto.scored_candidate import ScoredCandidate, ScoredRows
from kboost.auto.search import SearchResult, search
from kboost.auto.target_scale import IDENTITY, TargetScale, heavy_tailed
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.stopping import INTERRUPTED, StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.compare import COMPARED, Judged
from kboost.metric.families import families_for
from kboost.metric.folds import LearningRows

ENDED = {  # what ends the search at once
    INTERRUPTED.rule: "interrupted; the best candidate so far is fitted to all rows.",
    "callback": "a callback requested the stop; the best candidate so far is fitted to all rows.",
}
_SEARCH = 0.8  # of the time given for candidates, without transforms of the target


def scales_for(plan: AutoPlan, rows: IndexedRows) -> list[TargetScale]:
    """The transforms that compete; they are defined for the target of every row."""
    one_target = rows.targets.shape[1] == 1
    return heavy_tailed(rows.targets[:, 0], rows.weight) if plan.scales and one_target else []


def find_candidates(
    plan: AutoPlan,
    learning: LearningRows,
    scales: Sequence[TargetScale],
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[list[ScoredCandidate], StopReason]:
    """All candidates, the best first, and why there are no more."""
    first = deadline.share(2 if scales else 1 / _SEARCH)
    candidates, reason = _candidates(plan, learning, IDENTITY, first, listeners)
    if scales:
        best = [c.members[0][0].family for c in candidates if len(c.members) == 1][:3]
        narrower = replace(plan, families=best)
        for scale in scales:
            if reason.rule not in ENDED and deadline.remaining:
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
) -> tuple[list[ScoredCandidate], StopReason]:
    """Every family on one scale of the target, and their blend, with scores."""
    scaled = replace(learning, targets=scale.apply(learning.targets))
    n, d = learning.X.shape
    families = families_for(n, d, learning.targets.shape[1], plan.families)
    result = search(scaled, families, plan.rounds, deadline, listeners)
    return candidates_of(plan, scaled, scale, result), result.reason


def candidates_of(
    plan: AutoPlan,
    scaled: LearningRows,
    scale: TargetScale,
    searched: SearchResult,
    learned: str = "",
) -> list[ScoredCandidate]:
    """Every family of a search, and their blend, with scores on the rows left out.

    `learned` ends their names.
    """
    if not searched.judged:
        return []
    suffix = learned if scale.kind == "identity" else f" of {scale.kind} y{learned}"
    rows = ScoredRows(plan.scorer, scaled, scale, searched.left_out, searched.fold_numbers)
    out = [
        _candidate(rows, searched, f"{each.family.name}{suffix}", ((each, 1.0),))
        for each in searched.judged
    ]
    if plan.blend and len(searched.judged) > 1:
        values = [searched.values(each) for each in searched.judged]
        share = blend_weights(values, scaled.targets[rows.rows], scaled.weight[rows.rows])
        members = tuple(
            (each, float(part))
            for each, part in zip(searched.judged, share, strict=True)
            if part > 0
        )
        if len(members) > 1:
            out.append(_candidate(rows, searched, f"blend{suffix}", members))
    return out


def _candidate(
    rows: ScoredRows, searched: SearchResult, name: str, members: tuple[tuple[Judged, float], ...]
) -> ScoredCandidate:
    """A weighted sum of families as a candidate."""
    values = np.sum([part * searched.values(each) for each, part in members], axis=0)
    seconds = sum(each.seconds for each, _ in members)
    n_columns = len(rows.learning) * len(members)
    return rows.candidate(name, values, members, seconds=seconds, n_columns=n_columns)
