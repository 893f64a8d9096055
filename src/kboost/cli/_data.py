"""Load a file as a learning problem: rows, target, task and column types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._suggest import task_of
from kboost.cli._names import columns_named, meant
from kboost.preparation import TablePreparation
from kboost.tables import Column, Table, describe, preparation, read_table, target_of, tidy
from kboost.tables.columns import ASKED, MISSING, as_dates, as_numbers, as_text
from kboost.tables.preparing import rows_like

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
    groups: Any = None  # of the rows, which stay together
    order: Any = None  # of the rows, numbers; later ones are held out
    order_name: str = ""

    @property
    def is_table(self) -> bool:
        return self.raw is not None

    @property
    def has_missing(self) -> bool:
        """Whether a matrix has missing values; those of a table are in its columns."""
        numbers = isinstance(self.X, np.ndarray) and self.X.dtype.kind == "f"
        return numbers and bool(np.isnan(self.X).any())

    def preparation(self) -> Any:
        """The unfitted transformer; None for a matrix without missing values."""
        if self.is_table:
            return preparation(self.X, self.task)
        return TablePreparation(target_type=self.task) if self.has_missing else None

    def part(self, rows: Any) -> Data:
        """A subset of the rows."""
        if not self.is_table:
            return replace(self, X=self.X[rows], y=self.y[rows])
        return replace(
            self,
            X=self.X.iloc[rows],
            y=self.y[rows],
            raw=self.raw.iloc[rows],
            groups=None if self.groups is None else self.groups[rows],
            order=None if self.order is None else self.order[rows],
        )


@dataclass(frozen=True)
class DataOptions:
    """The options that describe the data."""

    task: str | None = None
    drop: Sequence[str] = ()
    use: Sequence[str] = ()
    na: Sequence[str] | None = None
    groups: str | None = None
    split_by: str | None = None

    def __post_init__(self) -> None:
        if self.task not in (None, "classification", "regression"):
            raise ValueError(f"--task must be classification or regression; got {self.task!r}.")
        if self.groups is not None and self.split_by is not None:
            raise ValueError("--split-by cannot be combined with --groups; got both.")


def load(
    path: Any,
    target: str | None,
    options: DataOptions | None = None,
    *,
    n_features: int | None = None,
    distinct: bool = True,
) -> Data:
    """Read a file as a learning problem; `distinct` targets are those of training."""
    options = options or DataOptions()
    table = read_table(path, n_features=n_features, na=options.na)
    if table.frame is None:
        return _matrix(table, path, options)
    frame, missing = _numbered(table.frame), MISSING if options.na is None else ()
    names = [str(name) for name in frame.columns]
    if target is None or target not in names:
        got = "no --target" if target is None else f"--target {target}{meant(target, names)}"
        raise ValueError(f"--target must be a column of {path}, one of {_names(frame)}; got {got}.")
    if len(names) == 1:
        raise ValueError(f"{path} must have a column besides the target; it has only {target}.")
    y, kept, task = target_of(frame[target], options.task, missing, distinct=distinct)
    frame = frame.loc[kept]
    columns = tuple(_columns(frame.drop(columns=target), missing, options))
    rows = tidy(frame, columns)
    if not rows.shape[1]:
        raise ValueError(f"{path} must have a usable column; all columns were left out.")
    data = Data(rows, y, task, target, columns, int((~kept).sum()), len(kept), frame)
    if options.groups is not None:
        data = replace(data, groups=as_text(frame[options.groups]).fillna("").to_numpy(dtype=str))
    if options.split_by is not None:
        data = replace(data, order=_order(frame[options.split_by]), order_name=options.split_by)
    return data


def load_test(path: Any, data: Data, na: Sequence[str] | None) -> Data:
    """Read the rows of another file, with the columns and types of the first."""
    table = read_table(path, n_features=None if data.is_table else data.X.shape[1], na=na)
    if (table.frame is None) == data.is_table:
        raise ValueError(f"--test must be a file of the same kind as the data; got {path}.")
    if table.frame is None:
        return replace(_matrix(table, path, DataOptions(task=data.task)), target=data.target)
    frame, missing = _numbered(table.frame), MISSING if na is None else ()
    if data.target not in frame.columns:
        raise ValueError(f"--test must be a file with the target {data.target!r}; got {path}.")
    y, kept, _ = target_of(frame[data.target], data.task, missing, distinct=False)
    frame = frame.loc[kept]
    if data.task == "classification":
        y = labels_like(y, data.y, path)
    return replace(
        data, X=rows_like(data.X, frame), y=y, raw=frame, n_read=len(kept), groups=None, order=None
    )


def labels_like(y: Any, classes: Any, path: Any) -> Any:
    """Labels as words, or as numbers, as those of training are."""
    y, classes = np.asarray(y), np.asarray(classes)
    if classes.dtype.kind == "U":
        return y.astype(str)
    if y.dtype.kind == "U" and classes.dtype.kind != "O":
        words = {str(label): label for label in np.unique(classes)}
        strange = [label for label in y.tolist() if label not in words]
        if strange:
            raise ValueError(
                f"{path} must have labels of the fit, such as {classes[0]}; got {strange[0]!r}."
            )
        return np.array([words[label] for label in y.tolist()], dtype=classes.dtype)
    return y


def _numbered(frame: Any) -> Any:
    """The table with the numbers of its rows, from 1, which rows keep when others are left out."""
    return frame.set_axis(range(1, len(frame) + 1), axis=0)


def _columns(frame: Any, missing: Sequence[str], options: DataOptions) -> Iterator[Column]:
    """The columns with their types, by inference or by the options."""
    names = [str(name) for name in frame.columns]
    drop = columns_named(options.drop, names, "--drop")
    use = columns_named(options.use, names, "--use")
    for option, name in (("--groups", options.groups), ("--split-by", options.split_by)):
        if name is not None and name not in names:
            columns_named([name], names, option)
            raise ValueError(f"{option} must be one column of the table; got {name!r}.")
    for column in describe(frame, missing):
        if column.name == options.groups:
            yield Column(column.name, "left out", column.n_missing, "groups the rows")
        elif column.name in drop:
            yield Column(column.name, "left out", column.n_missing, "asked for")
        elif column.name in use and column.kind == "left out":
            yield _used(column, frame[column.name])
        else:
            yield column


def _used(column: Column, values: Any) -> Column:
    """A column of numbers that would be left out, used nevertheless."""
    numbers = as_numbers(values)
    if numbers.nunique() < 2:
        raise ValueError(
            f"--use must be a column of numbers with several values; got {column.name!r}."
        )
    return Column(column.name, "number", int(numbers.isna().sum()), ASKED)


def _order(column: Any) -> Any:
    """Numbers in the order of a column of numbers or dates; missing values come first."""
    numbers, n_values = as_numbers(column), int((column.notna() & (column != "")).sum())
    if numbers.notna().sum() < 0.9 * n_values:
        dates = as_dates(column)
        if dates.notna().sum() < 0.9 * n_values:
            raise ValueError(
                f"--split-by must be a column of numbers or dates; got {column.name!r}."
            )
        numbers = dates.astype("int64").astype("float64").where(dates.notna())
    return numbers.fillna(-np.inf).to_numpy()


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


def _matrix(table: Table, path: Any, options: DataOptions) -> Data:
    if options.groups or options.split_by or options.drop or options.use:
        raise ValueError(
            f"--drop, --use, --groups and --split-by require a table; got the matrix {path}."
        )
    if table.y is None:
        raise ValueError(f"{path} must contain y, the target of each row; it contains only X.")
    if table.X.shape[1] == 0:
        raise ValueError(f"{path} must have features; X has none.")
    y, X = table.y, table.X
    present = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)
    if not present.any():
        raise ValueError(f"{path} must contain targets; all values of y are missing.")
    if not present.all():
        X, y = X[present], y[present]
    task = options.task or task_of(y)
    if task == "classification" and y.dtype.kind == "f" and (y % 1 == 0).all():
        y = y.astype(np.int64)
    if task == "classification" and len(np.unique(y)) < 2:
        raise ValueError(f"the target y must have at least two values; got {str(y[0])!r}.")
    return Data(X, y, task, "y", n_without_target=int((~present).sum()), n_read=len(present))
