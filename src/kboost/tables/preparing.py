"""Prepare a table for an estimator: columns of strings as typed columns, and then as numbers.

A date in which the day comes before the month is named `name (d/m)`, so that new rows are read in
the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kboost._optional import require
from kboost.preparation import TablePreparation
from kboost.tables.columns import (
    DAY_FIRST,
    MAX_LEVELS,
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
        name = f"{column.name}{DAY_FIRST}" if first else column.name
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


def rows_for(model: Any, frame: Any) -> Any:
    """Convert a table to the input of a model that was fitted to a table with the same columns.

    Parameters
    ----------
    model : Pipeline or AutoKernel estimator
        A fitted pipeline with a :func:`preparation` as its first step, or an estimator with a
        preparation of its own.
    frame : pandas.DataFrame
        The table as read; columns may be in any order, and there may be others.

    Returns
    -------
    pandas.DataFrame
        For ``model.predict``.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    out: dict[str, Any] = {}
    prepare = preparation_of(model)
    if prepare is None:
        raise ValueError(
            f"model must begin with a TablePreparation; got a {type(model).__name__} without one."
        )
    for column in prepare.columns_:
        if column.kind == "left out":
            continue
        first = column.name not in frame.columns and column.name.endswith(DAY_FIRST)
        name = column.name.removesuffix(DAY_FIRST) if first else column.name
        if name not in frame.columns:
            given = ", ".join(map(str, frame.columns[:8])) + (", …" * (len(frame.columns) > 8))
            raise ValueError(
                f"the table must have the columns of the model; {name!r} is missing; got {given}."
            )
        out[column.name] = _typed(frame[name], column.kind, day_first=first)
    return pd.DataFrame(out, index=frame.index)


def _typed(column: Any, kind: str, *, day_first: bool) -> Any:
    if kind == "date":
        return as_dates(column, day_first=day_first)
    return as_numbers(column) if kind == "number" else as_text(column)
