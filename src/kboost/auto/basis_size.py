"""How few basis vectors suffice: joint fits of growing size, judged on rows left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kboost.auto.final_fit import Member, fit_members
from kboost.auto.trial import Comparison, SizeTrial
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Method
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.indexed_rows import indexed_rows
from kboost.metric.compare import Judged
from kboost.metric.rounds import Fold

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
_TRIED = StopReason("sizes", "every size was tried.")


class BasisTrials(Method[SizeTrial]):
    """One step fits one kernel on the next number of basis vectors in every fold."""

    trace: list[SizeTrial]

    def __init__(
        self,
        judged: Judged,
        folds: Sequence[Fold],
        comparison: Comparison,
        *,
        labels: bool,
        most: int = SIZES[-1],
        deadline: Deadline = NO_LIMIT,
    ) -> None:
        self._folds, self._comparison = folds, comparison
        self._labels, self._deadline = labels, deadline
        self._members = [
            Member(judged.kernel(fold.X, fold.weight), judged.ridge, 1.0) for fold in folds
        ]
        self._rows = [indexed_rows(f.X, f.targets + f.mean, f.weight) for f in folds]
        self._sizes = [size for size in SIZES if size <= most]
        self.trace = []

    def advance(self) -> SizeTrial | StopReason:
        """Try the next size, unless the one before had all columns."""
        position, n_rows = len(self.trace), max(len(rows.order) for rows in self._rows)
        if position == len(self._sizes) or (position and self._sizes[position] >= 2 * n_rows):
            return _TRIED
        size, values = self._sizes[position], []
        for fold, member, rows in zip(self._folds, self._members, self._rows, strict=True):
            fitted = fit_members(
                [member], fold.X, rows, labels=self._labels, max_columns=size,
                deadline=self._deadline,
            )  # fmt: skip
            if fitted.reason.rule in (INTERRUPTED.rule, OUT_OF_TIME.rule):
                return fitted.reason
            values.append(fitted.model.decision(fold.X_left_out))
        return self._comparison.trial(size, np.concatenate(values))
