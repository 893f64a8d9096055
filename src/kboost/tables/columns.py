"""Infer the type of each column of a table: number, category, date, text, or left out.

Words such as NA or None are missing values in columns of numbers and dates. Elsewhere they are
values like others: None may well be a class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._optional import require
from kboost.preparation.kinds import FEW, has_id_name, kind_of_strings
from kboost.tables.numerals import days_come_first, read_dates, with_points

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "nat", "#n/a")
MOST = 0.9  # share of the values that must have the type
MAX_LEVELS = 30  # distinct values up to which a category has a column per value
_CODE = r"^0\d+$"  # 007 is not a number
_DATE_LIKE = re.compile(
    r"\d[-/.:]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.I
)
DAY_FIRST = " (d/m)"  # suffix of the name of a column in which 3/4 is the third of April
ASKED = "used, as asked for"
USED = " (used)"  # suffix of the name of a number that looks like an id and is used nevertheless


@dataclass(frozen=True)
class Column:
    """The inferred type of a column.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "category", "date", "text", "left out"}
        Inferred type.
    n_missing : int
        Number of values that are missing or do not have the type.
    note : str
        Remark for the user.
    """

    name: str
    kind: str
    n_missing: int
    note: str = ""


def describe(frame: Any, missing: Sequence[str] = MISSING) -> list[Column]:
    """Infer the type of each column of a data frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns as read.
    missing : sequence of str, default=MISSING
        Words, in small letters, that are missing values among numbers and dates.

    Returns
    -------
    list of Column
        In the order of the frame.
    """
    return [_describe(name, frame[name], missing) for name in frame.columns]


def _describe(name: str, column: Any, missing: Sequence[str]) -> Column:
    pd = require("pandas", extra="cli", what="kboost.tables")
    n = len(column)
    if pd.api.types.is_datetime64_any_dtype(column):
        return _date(name, as_dates(column), "")
    lasts = pd.api.types.is_timedelta64_dtype(column)
    if lasts or (pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)):
        return _number(name, as_numbers(column), "a duration, in seconds" if lasts else "")
    text = as_text(column)
    not_missing = text.dropna()
    present = not_missing[~not_missing.str.lower().isin(missing)]
    if present.empty:
        return Column(name, "left out", n, "no values")
    if not present.str.match(_CODE).any():
        numbers = as_numbers(present)
        if numbers.isna().sum() <= (1 - MOST) * len(present):
            note = _odd(present[numbers.isna()], "numbers")
            return _number(name, as_numbers(text), note)
    if present.head(200).str.contains(_DATE_LIKE).mean() >= MOST:
        dates = as_dates(present)
        if dates.isna().sum() <= (1 - MOST) * len(present):
            order = "day before month" if has_day_first(present) else ""
            note = "; ".join(filter(None, (order, _odd(present[dates.isna()], "dates"))))
            return _date(name, as_dates(text), note)
    return _category(name, text, not_missing)


def _number(name: str, numbers: Any, note: str) -> Column:
    present, n_missing = numbers.dropna(), int(numbers.isna().sum())
    if present.nunique() < 2:
        return Column(name, "left out", n_missing, "one value only")
    whole = len(present) >= FEW and present.nunique() == len(present) and (present % 1 == 0).all()
    if whole and (has_id_name(name) or (np.abs(present.diff().dropna()) == 1).all()):
        return Column(name, "left out", n_missing, "an id: a different number in each row")
    return Column(name, "number", n_missing, note)


def _date(name: str, dates: Any, note: str) -> Column:
    present, n_missing = dates.dropna(), int(dates.isna().sum())
    if present.nunique() < 2:
        return Column(name, "left out", n_missing, "one value only")
    how = "%Y-%m-%d" if (present.dt.normalize() != present.iloc[0].normalize()).any() else "%H:%M"
    span = f"{present.min():{how}} to {present.max():{how}}"
    return Column(name, "date", n_missing, f"{span}; {note}" if note else span)


def _category(name: str, text: Any, present: Any) -> Column:
    n_missing, different = int(text.isna().sum()), int(present.nunique())
    if different < 2 and not n_missing:
        return Column(name, "left out", 0, "one value only")
    kind = kind_of_strings(name, present.unique().tolist(), len(present), MAX_LEVELS)
    if kind == "id":
        return Column(name, "left out", n_missing, "an id: a different value in each row")
    if kind == "text":
        return Column(name, "text", n_missing, f"{different} different texts")
    shown = ", ".join(map(str, present.value_counts().index[:3]))
    return Column(
        name, "category", n_missing, f"{different} values: {shown}{', …' * (different > 3)}"
    )


def as_text(column: Any) -> Any:
    """Stripped strings; None for missing and empty ones."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")  # 3.0 is the category 3
    present = column.notna().to_numpy()
    words = [str(v).strip() if k else "" for v, k in zip(column, present, strict=True)]
    text = [word or None for word in words]
    return pd.Series(text, index=column.index, name=column.name, dtype=object)


def as_numbers(column: Any) -> Any:
    """Numbers, NaN where there is none; accepts 1,234.5 and 1.234,5 and 12,5 and $ 3 and 4 %."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds()
    if pd.api.types.is_numeric_dtype(column):
        return column.astype("float64")
    text = as_text(column)
    numbers = pd.to_numeric(text, errors="coerce").astype("float64")
    if text[numbers.isna()].str.contains(r"\d", na=False).any():  # else all are read already
        text = with_points(text.str.replace(r"[\s$€£%]", "", regex=True))
        numbers = pd.to_numeric(text, errors="coerce").astype("float64")
    return numbers.where(np.isfinite(numbers))


def as_dates(column: Any, *, day_first: bool | None = None) -> Any:
    """Timestamps without a time zone (in UTC if one is given), NaT where there is none.

    `day_first` determines whether 3/4 is in April; by default it is inferred from the column.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    if not pd.api.types.is_datetime64_any_dtype(column):
        text = as_text(column)
        words = _without_missing(text)
        first = days_come_first(words) if day_first is None else day_first
        read = dict(zip(words, read_dates(words, day_first=first), strict=True))
        column = pd.to_datetime(text.map(read), errors="coerce", utc=True)
    return column.dt.tz_localize(None) if column.dt.tz is not None else column


def has_day_first(column: Any) -> bool:
    """Whether a column has dates with the day before the month."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if pd.api.types.is_datetime64_any_dtype(column):
        return False
    return days_come_first(_without_missing(as_text(column)))


def _without_missing(text: Any) -> Any:
    """The distinct values that are no words for missing ones."""
    words = text.dropna()
    return words[~words.str.lower().isin(MISSING)].unique()


def with_missing(frame: Any, words: Sequence[str]) -> Any:
    """The table with missing values in place of the given words, in columns of all types."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    missing_words = {word.strip() for word in words} - {""}
    numbers = as_numbers(pd.Series(sorted(missing_words), dtype=object)).dropna()
    out = {}
    for name in frame.columns:
        column = frame[name]
        is_number = pd.api.types.is_numeric_dtype(column) and column.dtype != bool
        text = None if is_number else as_text(column)
        masked = column.isin(numbers) if text is None else text.isin(missing_words)
        if text is not None and len(numbers):  # -9 is -9.0, too
            masked |= pd.to_numeric(text, errors="coerce").isin(numbers)
        out[name] = column.mask(masked) if masked.any() else column
    return pd.DataFrame(out, index=frame.index)


def _odd(values: Any, what: str) -> str:
    """A remark on values that do not have the type of the column."""
    if not len(values):
        return ""
    how_many = "1 value is" if len(values) == 1 else f"{len(values)} values are"
    return f"{how_many} not {what}, e.g. {str(values.iloc[0])!r}"
