"""Fits to a sample of the rows, as the final model would be fitted, for rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.final_fit import CUT_SHORT, Engine, Member, fit_members
from kboost.core.deadline import Deadline
from kboost.core.stopping import StopReason
from kboost.data.indexed_rows import indexed_rows
from kboost.metric.folds import LearningRows, deal, fold_of

_TRAINING, _LEFT = 10_000, 2000  # rows, at most


class TrialRows:
    """Rows to fit, and rows left out, of a table in random order; labels are stratified."""

    def __init__(self, learning: LearningRows) -> None:
        training, left_out = _parts(learning)
        self.fold = fold_of(learning, training, left_out)
        self._labels = learning.labels
        targets = self.fold.targets + self.fold.mean
        self._rows: Any = indexed_rows(self.fold.X, targets, self.fold.weight)

    def __len__(self) -> int:
        return len(self.fold.weight)

    def values(
        self, members: Sequence[Member], engine: Engine, deadline: Deadline
    ) -> FloatArray | StopReason:
        """The weighted mean of the members at the rows left out, or why there is none."""
        fitted = fit_members(
            members, self.fold.X, self._rows, labels=self._labels, engine=engine,
            deadline=deadline, hurry=False,
        )  # fmt: skip
        if fitted.reason.rule in CUT_SHORT:
            return fitted.reason
        return np.asarray(fitted.model.decision(self.fold.X_left_out))


def _parts(learning: LearningRows) -> tuple[IntArray, IntArray]:
    """Numbers of the rows to fit and of those left out."""
    n_left = min(_LEFT, len(learning) // 5)
    rows = np.arange(min(len(learning), _TRAINING + n_left))
    if not learning.labels or not n_left:
        return rows[n_left:], rows[:n_left]
    targets, weight = learning.targets[rows], learning.weight[rows]
    part = deal(replace(learning, X=None, targets=targets, weight=weight), len(rows) // n_left)
    return np.flatnonzero(part > 0), np.flatnonzero(part == 0)
