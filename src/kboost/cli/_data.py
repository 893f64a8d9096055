"""A file as a problem: rows, target, task, and what each column is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.estimators._suggest import task_of
from kboost.tables import Column, Table, describe, read_table, target_of, tidy


@dataclass(frozen=True)
class Data:
    """Rows and their targets, before any pipeline."""

    X: Any  # a tidy frame, or a matrix
    y: Any
    task: str
    target: str
    columns: tuple[Column, ...] = ()  # of a table; a matrix has none
    n_without_target: int = 0
    raw: Any = None  # the table as read, on the rows that have a target

    @property
    def is_table(self) -> bool:
        return bool(self.columns)

    def part(self, rows: Any) -> Data:
        """Some of the rows."""
        if not self.is_table:
            return replace(self, X=self.X[rows], y=self.y[rows])
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], raw=self.raw.iloc[rows])


def load(
    path: Any, target: str | None, *, task: str | None = None, left_out: Sequence[str] = ()
) -> Data:
    """Read a file and make a problem of it."""
    if task not in (None, "classification", "regression"):
        raise ValueError(f"--task must be classification or regression; got {task!r}.")
    table = read_table(path)
    if table.frame is None:
        return _matrix(table, task)
    frame = table.frame
    if target is None or target not in frame.columns:
        have = ", ".join(map(str, frame.columns))
        got = "no --target" if target is None else f"--target {target}"
        raise ValueError(f"--target must be a column of {path}; got {got}, there are: {have}.")
    unknown = [name for name in left_out if name not in frame.columns]
    if unknown:
        raise ValueError(f"--drop must be a column of {path}; got {unknown[0]!r}.")
    y, kept, found = target_of(frame[target], task)
    frame = frame.loc[kept].reset_index(drop=True)
    columns = tuple(
        Column(c.name, "left out", c.n_missing, "asked for") if c.name in left_out else c
        for c in describe(frame.drop(columns=target))
    )
    return Data(tidy(frame, columns), y, found, target, columns, int((~kept).sum()), frame)


def _matrix(table: Table, task: str | None) -> Data:
    if table.y is None:
        raise ValueError("the file must hold y, the target of each row; it holds X only.")
    y = table.y
    found = task or task_of(y)
    if found == "classification" and y.dtype.kind == "f" and (y % 1 == 0).all():
        y = y.astype(np.int64)
    return Data(table.X, y, found, "y")
