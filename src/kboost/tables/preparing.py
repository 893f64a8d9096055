"""Prepare a table for an estimator: columns of strings as typed columns, and then as numbers.

A date in which the day comes before the month is named `name (d/m)`, so that new rows are read in
the same order; a number that looks like an id and is used nevertheless, `name (used)`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kboost._optional import require
from kboost.preparation import TablePreparation
from kboost.tables.columns import (
    ASKED,
    DAY_FIRST,
    MAX_LEVELS,
    USED,
    Column,
    as_dates,
    as_numbers,
    as_text,
    has_day_first,
)


def tidy(frame: Any, columns: Sequence[Column]) -> Any:
    """The columns used for training, converted to their types.

    Parameters
    ----------
    frame : pandas.DataFrame
        As read.
    columns : sequence of Column
        Their types; see :func:`describe`.

    Returns
    -------
    pandas.DataFrame
        Numbers as float64, dates as datetime64, categories and text as objects.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    out: dict[str, Any] = {}
    for column in columns:
        if column.kind == "left out":
            continue
        first = column.kind == "date" and has_day_first(frame[column.name])
        name = column.name + DAY_FIRST * first + USED * (column.note == ASKED)
        out[name] = _typed(frame[column.name], column.kind, day_first=first)
    return pd.DataFrame(out, index=frame.index)


def preparation(table: Any, task: str = "auto") -> TablePreparation:
    """The unfitted transformer of a tidy table.

    Parameters
    ----------
    table : pandas.DataFrame
        See :func:`tidy`.
    task : {"auto", "classification", "regression"}, default="auto"
        How the target is read.

    Returns
    -------
    TablePreparation
        See :class:`kboost.preparation.TablePreparation`.
    """
    if not table.shape[1]:
        raise ValueError("the table must have a usable column; all columns were left out.")
    return TablePreparation(target_type=task, max_levels=MAX_LEVELS)


def preparation_of(model: Any) -> TablePreparation | None:
    """The fitted preparation of a pipeline or an AutoKernel estimator, if there is one."""
    first = model[0] if hasattr(model, "steps") else getattr(model, "preparation_", None)
    return first if isinstance(first, TablePreparation) else None


def rows_for(model: Any, frame: Any, *, fill: bool = False) -> Any:
    """Convert a table to the input of a model that was fitted to a table with the same columns.

    Parameters
    ----------
    model : Pipeline or AutoKernel estimator
        A fitted pipeline with a :func:`preparation` as its first step, or an estimator with a
        preparation of its own.
    frame : pandas.DataFrame
        The table as read; columns may be in any order, and there may be others.
    fill : bool, default=False
        Whether columns that are missing, at most half of them, are filled with missing values.

    Returns
    -------
    pandas.DataFrame
        For ``model.predict``.
    """
    prepare = preparation_of(model)
    if prepare is None:
        raise ValueError(
            f"model must begin with a TablePreparation; got a {type(model).__name__} without one."
        )
    kinds = {c.name: c.kind for c in prepare.columns_ if c.kind != "left out"}
    if fill:
        frame = _filled(frame, kinds)
    return _of_kinds(kinds, frame)


def rows_like(table: Any, frame: Any) -> Any:
    """Convert a table as read to the columns and types of a tidy one.

    Parameters
    ----------
    table : pandas.DataFrame
        See :func:`tidy`.
    frame : pandas.DataFrame
        As read, with the same columns among others.

    Returns
    -------
    pandas.DataFrame
        The rows of `frame`.
    """
    kinds = {"f": "number", "M": "date"}
    return _of_kinds({n: kinds.get(table[n].dtype.kind, "category") for n in table}, frame)


def missing_columns(model: Any, frame: Any) -> list[str]:
    """The columns that a model reads and a table does not have.

    Parameters
    ----------
    model : Pipeline or AutoKernel estimator
        See :func:`rows_for`.
    frame : pandas.DataFrame
        The table as read.

    Returns
    -------
    list of str
        Their names.
    """
    prepare = preparation_of(model)
    used = [] if prepare is None else [c.name for c in prepare.columns_ if c.kind != "left out"]
    return [_raw_name(frame, name) for name in used if _raw_name(frame, name) not in frame.columns]


def _filled(frame: Any, kinds: Mapping[str, str]) -> Any:
    """The table with missing values in columns it does not have, at most half of them."""
    names = [_raw_name(frame, name) for name in kinds]
    missing = [name for name in names if name not in frame.columns]
    if 2 * len(missing) > len(names):
        return frame
    frame = frame.copy(deep=False)
    for name in missing:
        frame[name] = None
    return frame


def _raw_name(frame: Any, name: str) -> str:
    """The name in the table of a column of a model."""
    return name if name in frame.columns else plain_name(name)


def plain_name(name: str) -> str:
    """The name of a column without the suffix for its reading."""
    return name.removesuffix(USED).removesuffix(DAY_FIRST)


def prepared_name(names: Collection[str], plain: str) -> str:
    """The one of these names, perhaps with a suffix for its reading, that has this plain name."""
    spellings = (plain, plain + DAY_FIRST, plain + USED, plain + DAY_FIRST + USED)
    return next(name for name in spellings if name in names)


def _of_kinds(kinds: Mapping[str, str], frame: Any) -> Any:
    pd = require("pandas", extra="cli", what="kboost.tables")
    out: dict[str, Any] = {}
    for name, kind in kinds.items():
        raw_name = _raw_name(frame, name)
        if raw_name not in frame.columns:
            shown = ", ".join(map(str, frame.columns[:8])) + (", …" * (len(frame.columns) > 8))
            raise ValueError(
                f"the table must have the columns of the model; {raw_name!r} is missing; "
                f"got {shown}."
            )
        out[name] = _typed(
            frame[raw_name], kind, day_first=raw_name == name.removesuffix(DAY_FIRST) != name
        )
    return pd.DataFrame(out, index=frame.index)


def _typed(column: Any, kind: str, *, day_first: bool) -> Any:
    if kind == "date":
        return as_dates(column, day_first=day_first)
    return as_numbers(column) if kind == "number" else as_text(column)
