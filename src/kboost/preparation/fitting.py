"""Fit the encoding of one column: its kind, a note for the user, and the encoding itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kboost._typing import FloatArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.preparation.categories import fit_category
from kboost.preparation.date_texts import as_dates, format_of
from kboost.preparation.dates import fit_date, span
from kboost.preparation.encoding_choice import choose_encodings
from kboost.preparation.kinds import kind_of_strings, number_is_id
from kboost.preparation.levels import counts
from kboost.preparation.numbers import fit_number
from kboost.preparation.text import fit_text
from kboost.preparation.training_rows import TrainingRows
from kboost.preparation.typed_column import TypedColumn

_REPEATED = 2.0  # rows per distinct row from which equal rows are taken for different cases
_SHOWN = 3  # values in a note
MIDDLE = 20  # values from which other encodings compete with one-hots
_RIVALS = ("mean", "frequency", "one-hot")  # of "target", for categories of many values

_Fitted = tuple[str, str, Any]  # kind, note, encoding


class FittedColumn(NamedTuple):
    """What a column is, and its encoding; None if it is left out."""

    name: str
    kind: str
    n_missing: int
    note: str
    encoding: Any
    how: str = ""  # the encoding of a category, in words


@dataclass(frozen=True)
class _Options:
    many: str
    max_levels: int
    n_text: int

    def usual(self, n_levels: int) -> str:
        """The encoding of a category, without evidence."""
        if n_levels <= self.max_levels:
            return "one-hot"
        return "target" if self.many == "auto" else self.many

    def candidates(self, n_levels: int) -> list[str]:
        """The encodings that compete for a category, the usual one first."""
        usual = self.usual(n_levels)
        if self.many != "auto" or n_levels <= MIDDLE:
            return [usual]
        return [usual, *(_RIVALS if n_levels > self.max_levels else ("both",))]


def fit_columns(
    rows: TrainingRows, many: str, max_levels: int, n_text: int, deadline: Deadline = NO_LIMIT
) -> list[FittedColumn]:
    """Fit each column; encodings are compared until the deadline."""
    if rows.target is None and many not in ("one-hot", "both"):
        many = "frequency"
    options = _Options(many, max_levels, n_text)
    fitted = [
        FittedColumn(c.name, kind, int(c.missing.sum()), note, encoding)
        for c, (kind, note, encoding) in ((c, _fit(c, rows, options)) for c in rows.ordered)
    ]
    return _with_choices(fitted, rows, options, deadline)


def _with_choices(
    fitted: list[FittedColumn], rows: TrainingRows, options: _Options, deadline: Deadline
) -> list[FittedColumn]:
    """The columns with the encodings of categories that do best on rows left out."""
    candidates = {
        j: _candidates(rows.ordered[j], rows, options)
        for j, column in enumerate(fitted)
        if column.kind == "category"
    }
    rivals = {j: names for j, names in candidates.items() if len(names) > 1}
    encodings = [column.encoding for column in fitted]
    choices = choose_encodings(rows, encodings, rivals, options.max_levels, deadline)
    for j, names in candidates.items():
        how, words = (choices[j].how, choices[j].words) if j in choices else (names[0], names[0])
        if how != names[0]:
            encoding = _category(rows.ordered[j], rows, how, options)
            fitted[j] = fitted[j]._replace(encoding=encoding)
        fitted[j] = fitted[j]._replace(how=words)
    return fitted


def _candidates(column: TypedColumn, rows: TrainingRows, options: _Options) -> list[str]:
    """The encodings that compete: one-hots only where they distinguish a level."""
    encodings = options.candidates(len(column.levels))
    if "one-hot" in encodings[1:] and _category(column, rows, "one-hot", options) is None:
        encodings.remove("one-hot")
    return encodings


def _category(column: TypedColumn, rows: TrainingRows, how: str, options: _Options) -> Any:
    return fit_category(column, rows.target, rows.weight, how, options.max_levels)


def _fit(column: TypedColumn, rows: TrainingRows, options: _Options) -> _Fitted:
    missing = column.missing
    if missing.all():
        return "left out", "no values", None
    if column.kind == "strings":
        return _fit_strings(column, rows, options)
    present = column.values[~missing]
    if not missing.any() and (present == present[0]).all():
        return "left out", "one value only", None
    if column.kind == "date":
        return "date", span(present), fit_date(column, rows.weight)
    if column.kind == "number" and number_is_id(column.take(rows.distinct)):
        return "left out", "an id: a different number in each row", None
    return column.kind, column.note, fit_number(column, rows.weight)


def _fit_strings(column: TypedColumn, rows: TrainingRows, options: _Options) -> _Fitted:
    n = len(column.levels)
    if (written := format_of(column.levels)) is not None:
        dates = as_dates(column, written)
        return "date", span(dates.values[~dates.missing]), fit_date(dates, rows.weight, written)
    n_rows = int((~column.missing[rows.distinct]).sum())
    if rows.weight.sum() >= _REPEATED * len(rows.distinct):
        n_rows = max(n_rows, n + 1)  # equal rows are different cases
    kind = kind_of_strings(column.name, column.levels, n_rows, options.max_levels)
    if kind == "id":
        return ("left out", "an id: a different value in each row", None)
    if kind == "text":
        encoding: Any = fit_text(column, rows.weight, options.n_text)
        return ("text", f"{n} different texts", encoding)
    encoding = _category(column, rows, options.usual(n), options)
    if encoding is None:
        rare = "one value only" if n == 1 else "only rare values"
        return ("left out", rare, None)
    return ("category", values_note(column, rows.weight), encoding)


def values_note(column: TypedColumn, weight: FloatArray) -> str:
    """The number of levels and the most frequent ones."""
    n = len(column.levels)
    often = np.argsort(-counts(column, weight)[:n], kind="stable")[:_SHOWN]
    shown = ", ".join(column.levels[i] for i in often)
    return f"{n} value{'s' * (n > 1)}: {shown}{', …' * (n > _SHOWN)}"
