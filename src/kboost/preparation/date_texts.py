"""Dates that are written as strings, all in the same way.

A format is accepted if it reads all values of a column, and every other format that does so reads
the same dates: 03/04/2024 alone is not a date, since it may be in March or in April.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from kboost.preparation.typed_column import DATE, TypedColumn

ISO = "ISO 8601"
FORMATS = (
    *(ISO, "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y"),
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
_FEW = 3  # values below which a column is a category
_SOME = 20  # values that are tried first


def format_of(texts: Sequence[str]) -> str | None:
    """The format of distinct values; None if they are not dates."""
    n = len(texts)
    if n < _FEW:
        return None
    sample = texts[:: 1 + n // _SOME]
    fits = [way for way in FORMATS if _read(sample, way) is not None]
    readings = [(way, dates) for way in fits if (dates := _read(texts, way)) is not None]
    if not readings or any((dates != readings[0][1]).any() for _, dates in readings):
        return None
    return readings[0][0]


def as_dates(column: TypedColumn, way: str) -> TypedColumn:
    """A column of strings as dates; raises for other values."""
    dates = _read(column.levels, way)
    if dates is None:
        odd = next(text for text in column.levels if _read([text], way) is None)
        raise ValueError(f"column {column.name!r} must hold dates, as in fit; got {odd!r}.")
    values = np.append(dates, np.array(["NaT"], dtype=DATE))[column.values]
    return TypedColumn(column.name, "date", values)


def _read(texts: Sequence[str], way: str) -> Any:
    try:
        if way != ISO:
            return np.array([datetime.strptime(text.strip(), way) for text in texts], dtype=DATE)
        if all(_ISO.fullmatch(text.strip()) for text in texts):
            return np.array([text.strip() for text in texts], dtype=DATE)
    except ValueError:
        pass
    return None
