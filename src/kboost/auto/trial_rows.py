"""Fits to a sample of the rows, as the final model would be fitted, for rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.auto.final_fit import CUT_SHORT, Engine, Member, fit_members
from kboost.core.deadline import Deadline
from kboost.core.stopping import StopReason
from kboost.data.indexed_rows import indexed_rows
from kboost.metric.folds import LearningRows, fold_of

_TRAINING, _LEFT = 10_000, 2000  # rows, at most


class TrialRows:
    """Rows to fit, and rows left out, of a table in random order."""

    def __init__(self, learning: LearningRows) -> None:
        n_left = min(_LEFT, len(learning) // 5)
        rows = np.arange(min(len(learning), _TRAINING + n_left))
        self.fold = fold_of(learning, rows[n_left:], rows[:n_left])
        self._labels = learning.labels
        targets = self.fold.targets + self.fold.mean
        self._rows: Any = indexed_rows(self.fold.X, targets, self.fold.weight)

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
        return np.asarray(fitted.model.decision(self.fold.X_left))
