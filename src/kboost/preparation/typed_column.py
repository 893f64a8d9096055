"""A column as one of four kinds of arrays, whatever it was before.

kind       values                                        missing value
number     float64                                       NaN
boolean    float64, 0 or 1                               NaN
date       datetime64[us], without a time zone           NaT
strings    index in the sorted list of distinct levels   -1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray

DATE = "datetime64[us]"
_WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}
_GAP_WORDS = {"", "nan", "na", "n/a", "#n/a", "<na>", "none", "null"}
_EXACT = 2.0**53


@dataclass(frozen=True)
class TypedColumn:
    """A column with its kind."""

    name: str
    kind: str
    values: Any  # (n,), see above
    levels: Sequence[str] = field(default_factory=list)  # of strings
    note: str = ""
    declared: bool = False  # whether the frame declares strings as a category

    @property
    def missing(self) -> BoolArray:
        """Which values are missing."""
        if self.kind == "strings":
            missing: BoolArray = self.values < 0
        elif self.kind == "date":
            missing = np.isnat(self.values)
        else:
            missing = np.isnan(self.values)
        return missing

    def take(self, rows: Any) -> TypedColumn:
        """Some of the rows, with the levels that they have."""
        values = self.values[rows]
        if self.kind != "strings":
            return replace(self, values=values)
        used, codes = np.unique(values, return_inverse=True)
        n_missing = int(len(used) > 0 and used[0] < 0)
        levels = [self.levels[code] for code in used[n_missing:]]
        return replace(self, values=codes.reshape(-1) - n_missing, levels=levels)

    def as_kind(self, kind: str) -> TypedColumn:
        """The same values as another kind; raises for values that are not of the kind."""
        if kind == self.kind:
            return self
        if self.missing.all():
            return _nothing(self.name, kind, len(self.values))
        made: TypedColumn | None = _CONVERSIONS[kind](self)
        if made is None:
            words = {"number": "numbers", "boolean": "true or false", "date": "dates"}[kind]
            raise ValueError(
                f"column {self.name!r} must hold {words}, as in fit; got {self._odd(kind)!r}."
            )
        return made

    def _odd(self, kind: str) -> str:
        """The first value that is not of a kind."""
        if self.kind == "strings":
            return next(t for t in self.levels if _CONVERSIONS[kind](strings("", [t])) is None)
        distinct = np.unique(self.values[~self.missing])
        each = (replace(self, values=distinct[i : i + 1]) for i in range(len(distinct)))
        return str(next(one.values[0] for one in each if _CONVERSIONS[kind](one) is None))


def strings(name: str, values: Iterable[str | None]) -> TypedColumn:
    """A column of strings; None is a missing value."""
    values = list(values)
    levels: Any = set(values)
    levels.discard(None)
    levels = sorted(levels)
    index: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
    index[None] = -1
    codes = np.fromiter(map(index.__getitem__, values), dtype=np.intp, count=len(values))
    return TypedColumn(name, "strings", codes, levels)


def relabelled(column: TypedColumn, texts: Sequence[str | None], codes: IntArray) -> TypedColumn:
    """A column of strings from distinct texts and their indices; -1 is a missing value."""
    column_of_texts = strings(column.name, texts)
    values = np.append(column_of_texts.values, -1)[codes]
    return TypedColumn(column.name, "strings", values, column_of_texts.levels)


def text_of(value: Any) -> str:
    """A value as the name of a category: 3.0 is "3"."""
    if isinstance(value, float | np.floating) and abs(float(value)) < _EXACT:
        whole = int(value)
        return str(whole) if whole == value else str(value)
    return str(value)


def as_floats(texts: Sequence[str]) -> FloatArray | None:
    """The numbers that texts stand for, NaN for a missing value; None if one of them is neither."""
    try:
        numbers: FloatArray = np.array([_number_of(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
    return numbers


def is_code(text: str) -> bool:
    """Whether it is a number that starts with 0, such as 007."""
    text = text.strip()
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _number_of(text: str) -> float:
    if text.strip().lower() in _GAP_WORDS:
        return np.nan
    return float(text if "_" not in text else "no number")  # Python reads 1_000


def _nothing(name: str, kind: str, n: int) -> TypedColumn:
    if kind == "strings":
        return TypedColumn(name, kind, np.full(n, -1))
    if kind == "date":
        return TypedColumn(name, kind, np.full(n, np.datetime64("NaT"), dtype=DATE))
    return TypedColumn(name, kind, np.full(n, np.nan))


def _as_number(column: TypedColumn) -> TypedColumn | None:
    if column.kind == "boolean":
        return replace(column, kind="number")
    if column.kind == "date":
        return None
    numbers = as_floats(column.levels)
    if numbers is None:
        return None
    return TypedColumn(column.name, "number", np.append(numbers, np.nan)[column.values])


def _as_boolean(column: TypedColumn) -> TypedColumn | None:
    if column.kind == "number":
        present = column.values[~column.missing]
        return replace(column, kind="boolean") if np.isin(present, (0, 1)).all() else None
    words = [_WORDS.get(level.strip().lower()) for level in column.levels]
    if column.kind == "date" or None in words:
        return None
    flags = np.append(np.array(words, dtype=np.float64), np.nan)
    return TypedColumn(column.name, "boolean", flags[column.values])


def _as_strings(column: TypedColumn) -> TypedColumn:
    missing = column.missing
    codes = np.full(len(missing), -1)
    distinct, codes[~missing] = np.unique(column.values[~missing], return_inverse=True)
    if column.kind == "boolean":
        distinct = distinct.astype(bool)
    return relabelled(column, [text_of(value) for value in distinct.tolist()], codes)


_CONVERSIONS: dict[str, Any] = {
    "number": _as_number,
    "boolean": _as_boolean,
    "date": lambda column: None,  # of strings, see date_texts.py
    "strings": _as_strings,
}
