"""Describe rows of an estimator with the columns and units of the original table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import numpy as np

from kboost.kernels.rows import as_dense
from kboost.preparation.inverse import DatePart, named_values
from kboost.report.page import figure_words
from kboost.report.table_rows import codes, column, is_missing, is_number
from kboost.tables.columns import DAY_FIRST
from kboost.tables.preparing import preparation_of

Row = dict[str, Any]
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def named_rows(model: Any, rows: Any) -> list[Row]:
    """Each row as names and values of the original columns, inverting a pipeline if possible."""
    rows = as_dense(rows)
    steps = list(model.steps) if hasattr(model, "steps") else [("model", model)]
    if len(steps) == 2 and hasattr(steps[0][1], "transformers_"):
        columns = dict(_columns(steps[0][1], rows))
        return [{name: values[i] for name, values in columns.items()} for i in range(len(rows))]
    prepare = preparation_of(model)
    if prepare is not None and len(steps) <= 2:
        columns = dict(named_values(prepare, rows))
        return [{name: values[i] for name, values in columns.items()} for i in range(len(rows))]
    for _, step in reversed(steps[:-1]):
        if not hasattr(step, "inverse_transform"):
            break
        rows = np.asarray(step.inverse_transform(rows))
    names = _names(model, rows.shape[1])
    return [dict(zip(names, row.tolist(), strict=True)) for row in rows]


def rows_of_frame(frame: Any) -> list[Row]:
    """Each row of a data frame; dates are days since 1970, a missing word is "(missing)"."""
    columns: dict[str, Any] = {}
    for j, name in enumerate(map(str, frame.columns)):
        values = column(frame, j)
        numbers = codes(values)[0]
        if values.dtype.kind == "M":
            columns[DatePart(f"{name}:days")] = numbers / 86_400
        elif is_number(values):
            columns[name] = numbers
        else:
            missing = is_missing(values)
            words = zip(values.tolist(), missing, strict=True)
            columns[name] = ["(missing)" if missing else str(value) for value, missing in words]
    return [{name: values[i] for name, values in columns.items()} for i in range(len(frame))]


def _columns(table: Any, rows: Any) -> Iterator[tuple[str, Any]]:
    """The columns of the input of a ColumnTransformer, group by group."""
    for group, step, given in table.transformers_:
        columns = table.output_indices_.get(group)
        if columns is None or columns.stop == columns.start or isinstance(step, str):
            continue
        block, names = rows[:, columns], [str(name) for name in given]
        encoder = step[-1] if hasattr(step, "steps") else step
        if hasattr(encoder, "categories_"):
            yield from zip(names, encoder.inverse_transform(block).T, strict=True)
        else:  # imputed numbers, followed by missing indicators
            kept = [n for n in step.get_feature_names_out() if n in names]
            yield from zip(kept, block[:, : len(kept)].T, strict=True)


def _names(model: Any, n: int) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return (
        [f"x{j}" for j in range(n)] if names is None or len(names) != n else list(map(str, names))
    )


def show(name: str, value: Any) -> str:
    """`name = value`, with parts of dates as dates."""
    if isinstance(value, str):
        return f"{name} = {value}"
    if value is None:
        return f"{name} = (rare)"
    number = float(value)
    if not np.isfinite(number):
        return f"{name} = {'(missing)' if np.isnan(number) else number}"
    if isinstance(name, DatePart):
        base, _, part = name.rpartition(":")
        base = base.removesuffix(DAY_FIRST)
        if part == "days":
            return f"{base} = {date(1970, 1, 1) + timedelta(days=number)}"
        if part == "weekday" and number in range(7):
            return f"{base} on a {_DAYS[int(number)]}"
        name = f"{base}:{part}"
    return f"{name} = {_number_words(number)}"


def _number_words(number: float) -> str:
    """A number, whole ones in full; commas from a million on, since 2006 may be a year."""
    if number != int(number) or abs(number) >= 1e15:
        return figure_words(number)
    return f"{number:,.0f}" if abs(number) >= 1e6 else f"{number:.0f}"


def unusual(row: Row, others: list[Row]) -> list[str]:
    """The columns of a row, those with the most unusual values first.

    The rarer a word than the most frequent one, the more unusual; where all are rare, none is.
    """
    score = {}
    for name, value in row.items():
        values = [other[name] for other in others]
        if isinstance(value, str) or value is None:
            counts = Counter(values)
            score[name] = (max(counts.values()) - counts[value]) / len(values)
        else:
            numbers = np.array(values, dtype=np.float64)
            numbers = numbers[np.isfinite(numbers)]
            comparable = np.isfinite(float(value)) and len(numbers) > 0 and numbers.std() > 0
            distance = abs(float(value) - numbers.mean()) / numbers.std() if comparable else 0.0
            score[name] = distance / (1 + distance)
    return sorted(score, key=lambda name: -score[name])
