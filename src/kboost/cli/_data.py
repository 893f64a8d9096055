"""Load a file as a learning problem: rows, target, task and column types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._suggest import task_of
from kboost.preparation import TablePreparation
from kboost.tables import Column, Table, describe, preparation, read_table, target_of, tidy
from kboost.tables.columns import MISSING, with_gaps

_SHOWN = 20  # column names in a message


@dataclass(frozen=True)
class Data:
    """Rows and their targets, before any pipeline."""

    X: Any  # a tidy frame, or a matrix
    y: Any
    task: str
    target: str
    columns: tuple[Column, ...] = ()  # of a table; a matrix has none
    n_without_target: int = 0
    n_read: int = 0  # rows of the file
    raw: Any = None  # the table as read, on the rows that have a target

    @property
    def is_table(self) -> bool:
        return self.raw is not None

    @property
    def has_gaps(self) -> bool:
        """Whether a matrix has missing values; those of a table are in its columns."""
        numbers = isinstance(self.X, np.ndarray) and self.X.dtype.kind == "f"
        return numbers and bool(np.isnan(self.X).any())

    def preparation(self) -> Any:
        """The unfitted transformer; None for a matrix without missing values."""
        if self.is_table:
            return preparation(self.X, self.task)
        return TablePreparation(target_type=self.task) if self.has_gaps else None

    def part(self, rows: Any) -> Data:
        """A subset of the rows."""
        if not self.is_table:
            return replace(self, X=self.X[rows], y=self.y[rows])
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], raw=self.raw.iloc[rows])


def load(
    path: Any,
    target: str | None,
    *,
    task: str | None = None,
    left_out: Sequence[str] = (),
    n_features: int | None = None,
    na: Sequence[str] | None = None,
) -> Data:
    """Read a file as a learning problem; `na` are words for missing values in all columns."""
    if task not in (None, "classification", "regression"):
        raise ValueError(f"--task must be classification or regression; got {task!r}.")
    table = read_table(path, n_features=n_features)
    if table.frame is None:
        return _matrix(table, path, task)
    frame = table.frame
    missing: Sequence[str] = MISSING
    if na is not None:
        frame, missing = with_gaps(frame, na), ()
    if target is None or target not in frame.columns:
        got = "no --target" if target is None else f"--target {target}"
        raise ValueError(f"--target must be a column of {path}, one of {_names(frame)}; got {got}.")
    if len(frame.columns) == 1:
        raise ValueError(f"{path} must have a column besides the target; it has only {target}.")
    unknown = [name for name in left_out if name not in frame.columns]
    if unknown:
        raise ValueError(f"--drop must be a column of {path}; got {unknown[0]!r}.")
    y, kept, task_used = target_of(frame[target], task, missing)
    frame = frame.loc[kept].reset_index(drop=True)
    columns = tuple(
        Column(c.name, "left out", c.n_missing, "asked for") if c.name in left_out else c
        for c in describe(frame.drop(columns=target), missing)
    )
    rows = tidy(frame, columns)
    if not rows.shape[1]:
        raise ValueError(f"{path} must have a usable column; all columns were left out.")
    return Data(rows, y, task_used, target, columns, int((~kept).sum()), len(kept), frame)


def _names(frame: Any) -> str:
    """The column names, with a remark if they look like numbers."""
    names = [str(name) for name in frame.columns]
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN))
    return shown + " (the first line must contain names)" * any(map(_is_number, names))


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _matrix(table: Table, path: Any, task: str | None) -> Data:
    if table.y is None:
        raise ValueError(f"{path} must contain y, the target of each row; it contains only X.")
    if table.X.shape[1] == 0:
        raise ValueError(f"{path} must have features; X has none.")
    y, X = table.y, table.X
    known = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
    if not known.any():
        raise ValueError(f"{path} must contain targets; all values of y are missing.")
    if not known.all():
        X, y = X[known], y[known]
    task = task or task_of(y)
    if task == "classification" and y.dtype.kind == "f" and (y % 1 == 0).all():
        y = y.astype(np.int64)
    if task == "classification" and len(np.unique(y)) < 2:
        raise ValueError(f"the target y must have at least two values; got {str(y[0])!r}.")
    return Data(X, y, task, "y", n_without_target=int((~known).sum()), n_read=len(known))
