"""Encoded rows in the words of the table, as far as the encoding allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kboost._typing import FloatArray
from kboost.preparation.dates import DateEncoding
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.levels import LevelEncoding
from kboost.preparation.numbers import NumberEncoding
from kboost.preparation.text import TextEncoding


class DatePart(str):
    """The name of a part of a date, such as seen:days; a column may have that name itself."""


def named_values(preparation: Any, rows: FloatArray) -> Iterator[tuple[str, Any]]:
    """Names and values: numbers, the labels of categories, parts of dates, means of the target.

    Of text there is only the length. Columns that mark missing values are left out.
    """
    encodings = preparation._encodings
    for column, encoding in zip(preparation.columns_, encodings, strict=True):
        if encoding is None:
            continue
        block = rows[:, column.output]
        if isinstance(encoding, LevelEncoding):
            yield column.name, encoding.decode(block)
            continue
        if isinstance(encoding, JoinedEncoding):
            n = len(encoding.one_hots.one_hot)
            yield column.name, encoding.one_hots.decode(block[:, :n])
            yield from zip(encoding.means.names(column.name), block[:, n:].T, strict=True)
            continue
        names = encoding.names(column.name)
        if isinstance(encoding, TextEncoding):
            first = encoding.directions.shape[1]
            names, block = names[first:], block[:, first:]
        only_missing = isinstance(encoding, NumberEncoding) and not encoding.has_value
        kind = DatePart if isinstance(encoding, DateEncoding) else str
        for name, values in zip(names, block.T, strict=True):
            if only_missing or name != f"{column.name}:missing":
                yield kind(name), values
