"""How few basis vectors suffice: fits of growing size on one fold, judged on its rows left out.

"size" takes the smallest basis within 5 % of the error of the best candidate, "speed" within 10 %
and at most 256 basis vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.stopping import INTERRUPTED
from kboost.data.indexed_rows import indexed_rows
from kboost.metric.folds import LearningRows, fold_of

if TYPE_CHECKING:
    from kboost.auto.fit import Contender

_SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
_TOLERANCE = {"size": 1.05, "speed": 1.10}
_MOST = {"size": 1024, "speed": 256}
_TRAINING, _LEFT = 4000, 2000  # rows of the fold, at most


def smallest_basis(
    candidates: Sequence[Contender],
    learning: LearningRows,
    prefer: str,
    deadline: Deadline = NO_LIMIT,
) -> tuple[Contender, int, bool]:
    """The best candidate with a single member, the number of its basis vectors, and Ctrl-C."""
    from kboost.auto.final_fit import Member, fit_members

    single = next(c for c in candidates if len(c.members) == 1)
    judged, _ = single.members[0]
    n = len(learning)
    n_left = min(_LEFT, max(1, n // 4))
    rows = np.arange(min(n, _TRAINING + n_left))
    fold = fold_of(learning, rows[n_left:] if n > 1 else rows, rows[:n_left])
    targets = single.scale.apply(fold.targets + fold.mean)
    member = Member(judged.kernel(fold.X, fold.weight), judged.ridge, 1.0)
    inside: Any = indexed_rows(fold.X, targets, fold.weight)
    errors: list[tuple[int, float]] = []
    for size in (s for s in _SIZES if s <= _MOST[prefer]):
        if errors and (size >= 2 * len(inside.order) or not deadline.remaining):
            break
        fitted = fit_members(
            [member], fold.X, inside, labels=learning.labels, max_columns=size, deadline=deadline
        )
        values = single.scale.invert(fitted.model.decision(fold.X_left))
        errors.append((size, fold.error(values - fold.mean)))
        if fitted.reason.rule == INTERRUPTED.rule:
            break
    least = min(error for _, error in errors)
    size = next(s for s, error in errors if error <= _TOLERANCE[prefer] * least)
    return single, size, fitted.reason.rule == INTERRUPTED.rule
