"""Rows left out in turn, to judge what was learned on the others.

Rows are distinct and in a random order that depends on their content only, so the parts are equal
for every order of the input, and rows of one x are never on both sides. Labels are stratified:
the rows of each class are assigned to the parts in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.metric.rounds import Fold


@dataclass(frozen=True)
class LearningRows:
    """Distinct rows in random order, with targets and weights."""

    X: Any  # an array, or a distributed table that is read as it is indexed
    targets: FloatArray  # (n, q), not centred
    weight: FloatArray
    labels: bool = False  # whether targets are -1 and 1

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: IntArray) -> LearningRows:
        """Some of the rows."""
        return LearningRows(self.X[rows], self.targets[rows], self.weight[rows], self.labels)

    def reference(self) -> tuple[FloatArray, FloatArray]:
        """Rows for transforms and the unit of lengths, and their weights.

        They are all rows, or the first ones of a distributed table.
        """
        count = getattr(self.X, "n_reference", len(self))
        return self.X[:count], self.weight[:count]

    @property
    def mean(self) -> FloatArray:
        """The weighted mean of the targets."""
        return np.asarray(self.weight @ self.targets / self.weight.sum())

    @property
    def kinds(self) -> IntArray:
        """The class of each row; 0 for numbers."""
        if not self.labels:
            return np.zeros(len(self), dtype=np.intp)
        if self.targets.shape[1] == 1:
            return (self.targets[:, 0] > 0).astype(np.intp)
        return np.asarray(self.targets.argmax(axis=1))


def deal(rows: LearningRows, n_parts: int) -> IntArray:
    """The part of each row."""
    out = np.zeros(len(rows), dtype=np.intp)
    kinds, first = rows.kinds, 0
    for kind in np.unique(kinds):
        members = np.flatnonzero(kinds == kind)
        out[members] = (first + np.arange(len(members))) % n_parts
        first += len(members)
    return out


def fold_of(
    rows: LearningRows,
    training: IntArray,
    left_out: IntArray,
    reference: tuple[FloatArray, FloatArray] | None = None,
) -> Fold:
    """A fold of these rows."""
    inside, outside = rows.take(training), rows.take(left_out)
    mean = inside.mean
    return Fold(
        inside.X, inside.targets - mean, inside.weight,
        outside.X, outside.targets - mean, outside.weight, mean, left_out, reference,
    )  # fmt: skip


def folds_of(rows: LearningRows, n_parts: int, n_folds: int, max_rows: int) -> list[Fold]:
    """The first `n_folds` of `n_parts` folds, each trained on at most `max_rows` rows."""
    part = deal(rows, n_parts)
    out = []
    for number in range(n_folds):
        training = np.flatnonzero(part != number)
        out.append(fold_of(rows, training[:max_rows], np.flatnonzero(part == number)))
    return out
