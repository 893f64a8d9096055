"""Which rows are held out for the scores: a share, the last ones, groups, folds, another file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    train_test_split,
)

from kboost._typing import IntArray
from kboost.cli._data import Data

Part = tuple[Data, Data | None]  # training rows, and those held out


@dataclass(frozen=True)
class Holdout:
    """How the rows are split; groups and an order, if there are any, belong to the data."""

    test_size: float = 0.2
    seed: int = 0
    cv: int | None = None
    test: Data | None = None  # the rows of another file
    test_name: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.test_size < 1:
            raise ValueError(f"--test-size must be at least 0 and below 1; got {self.test_size:g}.")
        if self.cv is not None and self.cv < 2:
            raise ValueError(f"--cv must be at least 2; got {self.cv}.")
        if self.cv is not None and self.test is not None:
            raise ValueError("--cv cannot be combined with --test; got both.")

    def parts(self, data: Data) -> list[Part]:
        """Training rows and rows held out, one pair per fit that is scored."""
        if self.test is not None:
            return [(data, self.test)]
        if self.cv is not None:
            return [
                (data.part(train), data.part(held_out)) for train, held_out in self._folds(data)
            ]
        return [split(data, self.test_size, self.seed)]

    @property
    def plan(self) -> str:
        """The fits, in words; empty if there is only one."""
        if self.test is not None or (self.cv is None and self.test_size == 0):
            return ""
        scored = f"{self.cv} to be scored" if self.cv else "one to be scored"
        return f"{(self.cv or 1) + 1} fits: {scored} on rows left out, then one to all rows"

    def words(self, data: Data, n_rows: int) -> str:
        """The rows that the scores are of."""
        rows = f"{n_rows:,} row{'' if n_rows == 1 else 's'}"
        if self.test is not None:
            return f"on {rows} of {self.test_name}"
        if self.cv is not None:
            return f"on {self.cv} folds of {rows} in all, mean ± standard deviation"
        if data.order is not None:
            return f"on the last {rows} by {data.order_name}"
        if data.groups is not None:
            return f"on {rows} of groups held out"
        return f"on {rows} held out"

    def _folds(self, data: Data) -> Iterator[tuple[IntArray, IntArray]]:
        n, cv = len(data.y), int(self.cv or 0)
        units: Any = data.order if data.order is not None else data.groups
        n_units = n if units is None else len(np.unique(units))
        most = n_units - (data.order is not None)
        if cv > most:
            raise ValueError(f"--cv must be at most {most} for these rows; got {cv}.")
        rows = np.arange(n)
        if data.order is not None:
            rank = np.unique(data.order, return_inverse=True)[1]
            for train, held_out in TimeSeriesSplit(cv).split(np.arange(n_units)):
                yield np.flatnonzero(rank <= train[-1]), np.flatnonzero(np.isin(rank, held_out))
        elif data.groups is not None:
            folds = GroupKFold(cv, shuffle=True, random_state=self.seed)
            yield from folds.split(rows, groups=data.groups)
        elif data.task == "classification" and np.unique(data.y, return_counts=True)[1].min() >= cv:
            yield from StratifiedKFold(cv, shuffle=True, random_state=self.seed).split(rows, data.y)
        else:
            yield from KFold(cv, shuffle=True, random_state=self.seed).split(rows)


def split(data: Data, test_size: float, seed: int) -> Part:
    """Training rows and, unless `test_size` is 0, held-out rows."""
    if test_size == 0:
        return data, None
    if data.order is not None:
        train, held_out = _last(data, test_size)
    elif data.groups is not None:
        one = GroupShuffleSplit(1, test_size=test_size, random_state=seed)
        train, held_out = next(one.split(data.y, groups=data.groups))
    else:
        train, held_out = _drawn(data, test_size, seed)
    return data.part(np.sort(train)), data.part(np.sort(held_out))


def _last(data: Data, test_size: float) -> tuple[IntArray, IntArray]:
    """The rows of the last values; equal values stay together."""
    order: Any = data.order
    first = np.sort(order)[min(len(order) - 1, round((1 - test_size) * len(order)))]
    late = order >= first if first > order.min() else order > first
    if not late.any():
        raise ValueError(
            f"--split-by must be a column with several values; {data.order_name!r} has one."
        )
    return np.flatnonzero(~late), np.flatnonzero(late)


def _drawn(data: Data, test_size: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows drawn at random, with the shares of the classes where there are enough rows."""
    n, by = len(data.y), None
    if data.task == "classification":
        counts = np.unique(data.y, return_counts=True)[1]
        enough = counts.min() >= 2 and test_size * n >= len(counts)
        by = data.y if enough else None
    train, held_out = train_test_split(
        np.arange(n), test_size=test_size, random_state=seed, stratify=by
    )
    return train, held_out
