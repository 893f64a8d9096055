"""What each column of a table is: a number, a category, a date, or nothing to learn from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._optional import require

MISSING = ("", "na", "n/a", "nan", "null", "none", "nil", "?", "-", "--", ".", "nat", "#n/a")
MOST = 0.9  # of the values have to look like it
CATEGORIES = 50  # different values that always make categories
OFTEN = 0.2  # of the rows, the different values of what is not text
_FEW = 20  # rows that say nothing about ids
_ID = re.compile(r"(^|[_\W])(id|ids|uuid|guid|key|index|idx|nr|no)$|[a-z]I[dD]$|^unnamed: 0$", re.I)
_CODE = r"^0\d+$"  # 007 is not a number
_THOUSANDS = r"^([-+]?\d{1,3}(?:,\d{3})+)(\.\d+)?$"
_DECIMAL_COMMA = r"^[-+]?\d*,\d+$"
_DATE_LIKE = re.compile(
    r"\d[-/.:]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.I
)
DATE_PARTS = ("days", "month", "weekday", "hour")


@dataclass(frozen=True)
class Column:
    """One column: its kind ("number", "category", "date" or "left out"), and what was seen.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        What it is taken for.
    n_missing : int
        Values that are missing, or cannot be what the column is.
    note : str
        What a person should know.
    """

    name: str
    kind: str
    n_missing: int
    note: str = ""


def describe(frame: Any) -> list[Column]:
    """Say what each column of a data frame is.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns as read.

    Returns
    -------
    list of Column
        In the order of the frame.
    """
    return [_describe(name, frame[name]) for name in frame.columns]


def _describe(name: str, column: Any) -> Column:
    pd = require("pandas", extra="cli", what="kboost.tables")
    n = len(column)
    if pd.api.types.is_datetime64_any_dtype(column):
        return _date(name, as_dates(column), "")
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        return _number(name, as_numbers(column), "")
    text = as_text(column)
    present = text.dropna()
    if present.empty:
        return Column(name, "left out", n, "no values")
    if not present.str.match(_CODE).any():
        numbers = as_numbers(present)
        odd = int(numbers.isna().sum())
        if odd <= (1 - MOST) * len(present):
            note = f"{odd} values are not numbers, e.g. {_example(present[numbers.isna()])}"
            return _number(name, as_numbers(text), note if odd else "")
    if present.head(200).str.contains(_DATE_LIKE).mean() >= MOST:
        dates = as_dates(present)
        odd = int(dates.isna().sum())
        if odd <= (1 - MOST) * len(present):
            note = f"{odd} values are not dates, e.g. {_example(present[dates.isna()])}"
            return _date(name, as_dates(text), note if odd else "")
    return _category(name, text, present)


def _number(name: str, numbers: Any, note: str) -> Column:
    present, n_missing = numbers.dropna(), int(numbers.isna().sum())
    if present.nunique() < 2:
        return Column(name, "left out", n_missing, "one value only")
    whole = len(present) >= _FEW and present.nunique() == len(present) and (present % 1 == 0).all()
    if whole and (_ID.search(name) or (np.abs(present.diff().dropna()) == 1).all()):
        return Column(name, "left out", n_missing, "an id: a different number in each row")
    return Column(name, "number", n_missing, note)


def _date(name: str, dates: Any, note: str) -> Column:
    present, n_missing = dates.dropna(), int(dates.isna().sum())
    if present.nunique() < 2:
        return Column(name, "left out", n_missing, "one value only")
    span = f"{present.min():%Y-%m-%d} to {present.max():%Y-%m-%d}"
    return Column(name, "date", n_missing, f"{span}; {note}" if note else span)


def _category(name: str, text: Any, present: Any) -> Column:
    n_missing, different = int(text.isna().sum()), int(present.nunique())
    if different < 2 and not n_missing:
        return Column(name, "left out", 0, "one value only")
    if len(present) >= _FEW and different == len(present):
        return Column(name, "left out", n_missing, "an id or text: different in each row")
    if different > max(CATEGORIES, OFTEN * len(text)):
        return Column(name, "left out", n_missing, f"text: {different} different values")
    shown = ", ".join(map(str, present.value_counts().index[:3]))
    return Column(
        name, "category", n_missing, f"{different} values: {shown}{', …' * (different > 3)}"
    )


def as_text(column: Any) -> Any:
    """Text without outer blanks, missing where it says so in words."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")  # 3.0 is the category 3
    known = column.notna().to_numpy()
    words = [str(v).strip() if k else "" for v, k in zip(column, known, strict=True)]
    text = [None if word.lower() in MISSING else word for word in words]
    return pd.Series(text, index=column.index, name=column.name, dtype=object)


def as_numbers(column: Any) -> Any:
    """Numbers, NaN where there is none; takes 1,234.5 and 12,5 and $ 3 and 4 %."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if pd.api.types.is_numeric_dtype(column):
        return column.astype("float64")
    text = as_text(column).str.replace(r"[\s$€£%]", "", regex=True)
    text = text.str.replace(_THOUSANDS, lambda m: m[1].replace(",", "") + (m[2] or ""), regex=True)
    comma = text.str.match(_DECIMAL_COMMA).fillna(False).astype(bool)
    text = text.where(~comma, text.str.replace(",", "."))
    numbers = pd.to_numeric(text, errors="coerce").astype("float64")
    return numbers.where(np.isfinite(numbers))


def as_dates(column: Any) -> Any:
    """Moments without a time zone (UTC where one is given), NaT where there is none."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    if not pd.api.types.is_datetime64_any_dtype(column):
        text = as_text(column)
        different = text.dropna().unique()
        found = [
            pd.Series(
                pd.to_datetime(different, format="mixed", dayfirst=first, errors="coerce", utc=True)
            )
            for first in (False, True)
        ]
        best = max(found, key=lambda dates: (int(dates.notna().sum()), _regular(dates)))
        column = text.map(dict(zip(different, best, strict=True)))
        column = pd.to_datetime(column, errors="coerce", utc=True)
    return column.dt.tz_localize(None) if column.dt.tz is not None else column


def _regular(dates: Any) -> float:
    """Which reading of 03/04/2020 is right: the one whose dates lie closer together."""
    return -float(dates.max().timestamp() - dates.min().timestamp()) if dates.notna().any() else 0.0


def date_parts(name: str, dates: Any) -> dict[str, Any]:
    """Numbers of a date, by the name of a column each: days since 1970, month, weekday, hour."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    days = (dates - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    parts = (days, dates.dt.month, dates.dt.day_of_week, dates.dt.hour + dates.dt.minute / 60)
    return {
        f"{name}:{part}": values.astype("float64")
        for part, values in zip(DATE_PARTS, parts, strict=True)
    }


def _example(values: Any) -> str:
    return repr(str(values.iloc[0])) if len(values) else ""
