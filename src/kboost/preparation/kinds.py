"""Whether numbers are ids, and strings categories, text or ids.

The rows are distinct ones: a row that is given twice must not look like a repeated value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from kboost.preparation.typed_column import TypedColumn

_LOOKED_AT = 2000  # values
FEW = 20  # rows below which ids are not recognised
_TEXT_SHARE = 0.5  # of the values that are different, and of those with several words
_ID = re.compile(
    r"(^|[_\W])(id|ids|uuid|guid|key|index|idx|nr|no|row|rownum|rownames)$"
    r"|[a-z]I[dD]$|^unnamed: 0$",
    re.I,
)
_NO_BLANKS = 0x2E80  # first character of Chinese and Japanese
_DIGITS = re.compile(r"\d+")


def has_id_name(name: str) -> bool:
    """Whether a name is that of an id."""
    return _ID.search(name) is not None


def number_is_id(column: TypedColumn) -> bool:
    """Whether a number is whole, different in each row, and named like an id."""
    values = column.values[~column.missing]
    n = len(values)
    if n < FEW or (values != np.floor(values)).any() or len(np.unique(values)) < n:
        return False
    return has_id_name(column.name)


def kind_of_strings(name: str, levels: Sequence[str], n_rows: int, max_levels: int) -> str:
    """The kind of a column with these distinct values: "category", "text" or "id".

    `n_rows` is the number of distinct rows that have a value.
    """
    n = len(levels)
    sample = levels[:: 1 + n // _LOOKED_AT]
    if n <= max_levels and (n < n_rows or n < FEW):
        return "category"
    words = np.mean([_has_words(level) for level in sample]) >= _TEXT_SHARE
    if n == n_rows:
        patterns = len({_DIGITS.sub("0", level) for level in sample})
        if has_id_name(name) or not words or patterns == 1:
            return "id"
    return "text" if words and n > _TEXT_SHARE * n_rows else "category"


def _has_words(text: str) -> bool:
    """Whether a value has several words, or several characters of a script without blanks."""
    return len(text.split()) > 1 or (len(text) > 3 and ord(max(text)) >= _NO_BLANKS)
