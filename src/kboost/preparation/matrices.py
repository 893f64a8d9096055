"""Matrices of numbers: no column is an id, and none is left out but those without values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kboost._typing import FloatArray
from kboost.preparation.fitting import FittedColumn
from kboost.preparation.numbers import fit_number
from kboost.preparation.typed_column import TypedColumn


def is_matrix(X: Any) -> bool:
    """Whether X is a sparse matrix or an array of numbers."""
    is_array = isinstance(X, np.ndarray) and X.dtype.names is None and X.dtype.kind in "biuf"
    return is_array or sparse.issparse(X)


def are_numbers(columns: Sequence[TypedColumn]) -> bool:
    """Whether all columns are numbers or booleans."""
    return all(column.kind in ("number", "boolean") for column in columns)


def fit_matrix(columns: Sequence[TypedColumn], weight: FloatArray) -> list[FittedColumn]:
    """Fit each column."""
    used = weight > 0
    out = []
    for whole in columns:
        column = whole if used.all() else whole.take(used)
        missing = column.missing
        if missing.all():
            out.append(FittedColumn(column.name, "left out", len(missing), "no values", None))
            continue
        encoding = fit_number(column, weight[used], keep=True)
        out.append(FittedColumn(column.name, column.kind, int(missing.sum()), "", encoding))
    return out
