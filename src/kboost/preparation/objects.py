"""A column of Python objects as a typed column; its kind is that of the values present."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from kboost.preparation.typed_column import DATE, TypedColumn, strings, text_of

_GAPS = ("NAType", "NaTType")  # of pandas
_NO_TEXT = (dict, list, tuple, set, np.ndarray, complex)
_DATES = (datetime.date, np.datetime64)  # a datetime is a date
_DURATIONS = (datetime.timedelta, np.timedelta64)
SECOND = np.timedelta64(1, "s")


def objects_column(name: str, values: Sequence[Any]) -> TypedColumn:
    """A typed column of Python objects."""
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return strings(name, values)
    values_or_none = [None if is_missing(value) else value for value in values]
    kinds = {type(value) for value in values_or_none if value is not None}
    if odd := [kind for kind in kinds if issubclass(kind, _NO_TEXT)]:
        raise TypeError(
            f"column {name!r} must hold numbers, booleans, dates or strings; got a "
            f"{odd[0].__name__}."
        )
    for types, make in _MAKERS:
        if kinds and all(issubclass(kind, types) for kind in kinds):
            return make(name, values_or_none)
    return strings(name, (None if value is None else text_of(value) for value in values_or_none))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in _GAPS:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and math.isnan(value)


def _booleans(name: str, values_or_none: Sequence[Any]) -> TypedColumn:
    return TypedColumn(name, "boolean", _numbers(name, values_or_none).values)


def _numbers(name: str, values_or_none: Sequence[Any]) -> TypedColumn:
    numbers = [np.nan if value is None else _float(value) for value in values_or_none]
    return TypedColumn(name, "number", np.array(numbers))


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # of a whole number; infinity is refused with the name of its column
        return math.inf if value > 0 else -math.inf


def _dates(name: str, values_or_none: Sequence[Any]) -> TypedColumn:
    local = [v.replace(tzinfo=None) if getattr(v, "tzinfo", None) else v for v in values_or_none]
    return TypedColumn(name, "date", np.array([np.datetime64(v, "us") for v in local], dtype=DATE))


def _durations(name: str, values_or_none: Sequence[Any]) -> TypedColumn:
    seconds = [np.nan if v is None else np.timedelta64(v) / SECOND for v in values_or_none]
    return TypedColumn(name, "number", np.array(seconds), note="a duration, in seconds")


def _times(name: str, values_or_none: Sequence[Any]) -> TypedColumn:
    hours = [
        np.nan if t is None else t.hour + t.minute / 60 + (t.second + t.microsecond / 1e6) / 3600
        for t in values_or_none
    ]
    return TypedColumn(name, "number", np.array(hours), note="a time of day, in hours")


_MAKERS: list[tuple[Any, Callable[[str, Sequence[Any]], TypedColumn]]] = [
    ((bool, np.bool_), _booleans),
    ((Real, Decimal, np.bool_), _numbers),
    (_DATES, _dates),
    (_DURATIONS, _durations),
    (datetime.time, _times),
]
