"""A column as the kind that an encoding reads."""

from __future__ import annotations

from typing import Any

from kboost.preparation.date_texts import ISO, as_dates
from kboost.preparation.dates import DateEncoding
from kboost.preparation.typed_column import TypedColumn


def readable(column: TypedColumn, encoding: Any) -> TypedColumn:
    """The same values as the kind that the encoding reads; raises if they are not of the kind."""
    if isinstance(encoding, DateEncoding) and column.kind == "strings":
        return as_dates(column, encoding.written or ISO)
    return column.as_kind(encoding.reads)
