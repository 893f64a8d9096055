"""Categories with few values: one 0/1 column per level.

Rare levels share one column, `(other)`, which is also that of levels that `fit` did not see;
without rare levels, these have zeros only. A missing value is a level where `fit` saw one. Two
levels are one column, in which an unseen level counts as the more frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.preparation.typed_column import TypedColumn

OTHER, GAP = "(other)", "(missing)"
_RARE = 5  # rows below which a level is rare, or
_RARE_SHARE = 0.02  # share of the rows, if that is less


@dataclass(frozen=True)
class LevelEncoding:
    """One 0/1 column per group of levels, or one column for two groups."""

    levels: list[str]  # sorted
    group: IntArray  # of each level
    n_groups: int
    group_of_gap: int  # -1 stands for no group
    group_of_unseen: int
    labels: list[str]  # of the groups

    @property
    def reads(self) -> str:
        return "strings"

    def names(self, name: str) -> list[str]:
        return [f"{name}={label}" for label in self.labels[self.n_groups == 2 :]]

    @property
    def one_hot(self) -> list[bool]:
        return [True] * (1 if self.n_groups == 2 else self.n_groups)

    def encode(self, column: TypedColumn) -> FloatArray:
        group = np.append(self.group, [self.group_of_unseen, self.group_of_gap])
        codes = codes_in(self.levels, column)
        rows: FloatArray = np.eye(self.n_groups + 1, self.n_groups)[group[codes]]  # last: zeros
        return rows[:, 1:] if self.n_groups == 2 else rows

    def decode(self, rows: FloatArray) -> list[str | None]:
        """The label of each row; None if it has none."""
        if self.n_groups == 2:
            rows = np.column_stack([1 - rows[:, 0], rows[:, 0]])
        best = rows.argmax(axis=1)
        return [self.labels[k] if row[k] > 0 else None for k, row in zip(best, rows, strict=True)]


def fit_levels(column: TypedColumn, weight: FloatArray, max_levels: int) -> LevelEncoding | None:
    """The encoding; None if only one group of levels is left."""
    n = len(column.levels)
    count = counts(column, weight)
    enough = count[:n] >= min(_RARE, _RARE_SHARE * weight.sum())
    if enough.sum() > max_levels:
        enough[np.argsort(-count[:n], kind="stable")[max_levels:]] = False
    group = np.where(enough, np.cumsum(enough) - 1, -1)
    labels = [level for level, often in zip(column.levels, enough, strict=True) if often]
    of_unseen = of_missing = -1
    if not enough.all():
        of_unseen = len(labels)
        group[~enough] = of_unseen
        labels.append(OTHER)
    if count[n] > 0:
        of_missing = len(labels)
        labels.append(GAP)
    if len(labels) < 2:
        return None
    if len(labels) == 2:
        mass = np.bincount(np.append(group, of_missing)[column.values], weights=weight, minlength=2)
        frequent = int(mass[1] > mass[0])
        of_unseen = frequent if of_unseen < 0 else of_unseen
        of_missing = frequent if of_missing < 0 else of_missing
    elif of_missing < 0:
        of_missing = of_unseen
    return LevelEncoding(list(column.levels), group, len(labels), of_missing, of_unseen, labels)


def counts(column: TypedColumn, weight: FloatArray) -> FloatArray:
    """The weight of each level, and at the end that of missing values."""
    n = len(column.levels)
    places = np.where(column.values < 0, n, column.values)
    return np.bincount(places, weights=weight, minlength=n + 1).astype(np.float64)


def codes_in(levels: list[str], column: TypedColumn) -> IntArray:
    """The index of each value among the levels of fit; n for unseen ones, -1 for missing values."""
    index = {level: i for i, level in enumerate(levels)}
    index_of_level = [index.get(level, len(levels)) for level in column.levels]
    codes: IntArray = np.array([*index_of_level, -1], dtype=np.intp)[column.values]
    return codes
