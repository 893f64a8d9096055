"""Numbers that are written as strings, as in a table that was read without their types.

A column of strings is numeric if all values can be read as numbers, except words for a missing
value. Numbers that start with a zero, such as 007, are codes: their column is a category. So is a
column that its frame calls categorical.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation.typed_column import TypedColumn, as_floats, is_code


def with_numbers(column: TypedColumn, weight: FloatArray) -> TypedColumn:
    """The column as numbers, if the rows of positive weight are numbers; or unchanged."""
    if column.kind != "strings" or column.declared:
        return column
    used = column if (weight > 0).all() else column.take(weight > 0)
    numbers = as_floats(used.levels)
    if numbers is None or not np.isfinite(numbers).any() or any(map(is_code, used.levels)):
        return column
    number_of = dict(zip(used.levels, numbers.tolist(), strict=True))
    values = np.array([*(number_of.get(level, np.nan) for level in column.levels), np.nan])
    return TypedColumn(column.name, "number", values[column.values])
