"""Dates as numbers: days since 1970, and month, weekday and hour where they vary.

Yearly and monthly data have no weekday: that of the first of a month is chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation.merging import weighted_median
from kboost.preparation.typed_column import DATE, TypedColumn

_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class DateEncoding:
    """The parts of a date, and whether it is missing."""

    parts: list[str]
    fill: int  # microseconds since 1970, in place of a missing value
    has_indicator: bool
    written: str  # the format of dates that were strings in fit, else ""

    @property
    def reads(self) -> str:
        return "date"

    def names(self, name: str) -> list[str]:
        return [f"{name}:{part}" for part in self.parts] + [f"{name}:missing"] * self.has_indicator

    @property
    def one_hot(self) -> list[bool]:
        return [False] * len(self.parts) + [True] * self.has_indicator

    def encode(self, column: TypedColumn) -> FloatArray:
        missing = column.missing
        dates = np.where(missing, np.datetime64(self.fill, "us"), column.values).astype(DATE)
        out = [PARTS[part](dates) for part in self.parts]
        return np.column_stack(out + [missing.astype(np.float64)] * self.has_indicator)


def fit_date(column: TypedColumn, weight: FloatArray, written: str = "") -> DateEncoding:
    """The encoding of a column with dates; without parts if they are all the same."""
    missing = column.missing
    present = column.values[~missing]
    parts = [part for part in PARTS if _varies(part, present)]
    day = weighted_median(present.astype(np.int64) / _DAY, weight[~missing])
    return DateEncoding(parts, round(day * _DAY), bool(missing.any()), written)


def span(dates: Any) -> str:
    """The first and the last date."""
    first, last = dates.min(), dates.max()
    unit: Any = "D" if first.astype("datetime64[D]") != last.astype("datetime64[D]") else "m"
    return " to ".join(str(np.datetime_as_string(date, unit=unit)) for date in (first, last))


def _varies(part: str, dates: Any) -> bool:
    values = PARTS[part](dates)
    if part == "days":
        values = np.floor(values)  # within one day only the hour differs
    if part == "weekday":
        day = dates.astype("datetime64[D]")
        month = day.astype("datetime64[M]")
        in_month = (day - month).astype(np.int64)
        to_end = ((month + 1).astype("datetime64[D]") - day).astype(np.int64)
        if (in_month == in_month[0]).all() or (to_end == to_end[0]).all():
            return False
    return bool((values != values[0]).any())


def _days(dates: Any) -> FloatArray:
    days: FloatArray = dates.astype(np.int64) / _DAY
    return days


def _month(dates: Any) -> FloatArray:
    months: FloatArray = (dates.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(float)
    return months


def _weekday(dates: Any) -> FloatArray:  # 1970-01-01 was a Thursday; Monday is 0
    days: FloatArray = ((dates.astype("datetime64[D]").astype(np.int64) + 3) % 7).astype(float)
    return days


def _hour(dates: Any) -> FloatArray:
    hours: FloatArray = dates.astype(np.int64) % _DAY / (_DAY / 24)
    return hours


PARTS = {"days": _days, "month": _month, "weekday": _weekday, "hour": _hour}
