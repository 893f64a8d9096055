"""Parse numbers and dates; ambiguous values are resolved by the rest of the column.

1,234.5    1,234,567    decimal point, commas separate thousands
1.234,5    1.234.567    decimal comma, points separate thousands
12,5       0,125        decimal comma
1,234                   decimal comma if another value certainly has one, else 1234
1.234                   1234 if points separate thousands in another value, else 1.234
3/4/2025                April or March: whichever gives more valid dates, or a shorter span
"""

from __future__ import annotations

from typing import Any

from kboost._optional import require

_BY_COMMAS = r"^[-+]?\d{1,3}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})$"
_BY_POINTS = r"^[-+]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:\.\d{3}){2,})$"
_COMMA = r"^[-+]?\d*,\d+$"
_ONE_COMMA = r"^[-+]?[1-9]\d{0,2},\d{3}$"
_TWO_FIRST = r"^(\d{1,2})[-/.](\d{1,2})[-/.]\d{2,4}\b"
_ONE_POINT = r"^[-+]?[1-9]\d{0,2}\.\d{3}$"


def with_points(text: Any) -> Any:
    """The same numbers with decimal points and without thousands separators."""

    def fits(pattern: str) -> Any:
        return text.str.match(pattern, na=False).astype(bool)

    by_commas, by_points, comma = fits(_BY_COMMAS), fits(_BY_POINTS), fits(_COMMA)
    unclear = fits(_ONE_COMMA)
    if not (by_points | comma & ~unclear).any():
        by_commas, comma = by_commas | unclear, comma & ~unclear
    if by_points.any():
        by_points |= fits(_ONE_POINT)
    swapped = text.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    text = text.where(~by_commas, text.str.replace(",", "", regex=False))
    return text.where(~(by_points | comma), swapped)


def read_dates(words: Any, *, day_first: bool) -> Any:
    """Timestamps in UTC, NaT for words that are not dates."""
    pd = require("pandas", extra="cli", what="kboost.tables")
    dates = pd.to_datetime(words, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
    return pd.Series(dates)


def days_come_first(words: Any) -> bool:
    """Whether the distinct values of a column have the day before the month.

    pandas does not check the order: it reads 13/4 in either one.
    """
    pd = require("pandas", extra="cli", what="kboost.tables")
    fields = pd.Series(words, dtype=object).str.extract(_TWO_FIRST).astype("float64")
    day, month = (int((fields[position] > 12).sum()) for position in (0, 1))
    if day != month:
        return day > month
    spans = [_span(read_dates(words, day_first=first)) for first in (True, False)]
    return spans[0] < spans[1]


def _span(dates: Any) -> float:
    present = dates.dropna()
    return float(present.max().timestamp() - present.min().timestamp()) if len(present) else 0.0
