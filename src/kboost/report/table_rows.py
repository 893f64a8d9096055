"""The table of a report: its columns and rows, as given by the user.

Tables are pandas data frames or arrays. Sparse matrices and precomputed kernels have no columns
that a reader would know, and so no sections about columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import IntArray

LEVELS = 12  # of a column shown value by value


def has_columns(s: Any) -> bool:
    """Whether columns of the table can be shown one by one."""
    is_table = hasattr(s.X, "iloc") or isinstance(s.X, np.ndarray)
    return is_table and not getattr(s.inner, "_is_precomputed", False)


def names_of(s: Any) -> list[str]:
    """The names of the columns."""
    if hasattr(s.X, "columns"):
        return [str(name) for name in s.X.columns]
    return [str(n) for n in getattr(s.model, "feature_names_in_", _numbered(s.X.shape[1]))]


def _numbered(n: int) -> list[str]:
    return [f"x{j}" for j in range(n)]


def row_name(X: Any, i: int) -> str:
    """What a row is called: by the index of a data frame, or its position."""
    name = X.index[i] if hasattr(X, "iloc") else i
    return f"{name:,}" if isinstance(name, int | np.integer) else str(name)


def take(X: Any, rows: Any) -> Any:
    """Some rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def column(X: Any, j: int) -> Any:
    """The values of a column, as an array."""
    if not hasattr(X, "iloc"):
        return np.asarray(X)[:, j]
    values = X.iloc[:, j]
    nullable = (
        not isinstance(values.dtype, np.dtype) and getattr(values.dtype, "kind", "O") in "iuf"
    )
    return values.to_numpy(dtype=np.float64, na_value=np.nan) if nullable else values.to_numpy()


def with_column(X: Any, j: int, values: Any) -> Any:
    """The table with other values in a column, of the same type."""
    if not hasattr(X, "iloc"):
        changed = np.array(X, copy=True)
        changed[:, j] = values
        return changed
    changed = X.copy(deep=False)
    name = X.columns[j]
    kind = X.dtypes.iloc[j]
    replaced = type(X.iloc[:, j])(values, index=X.index, name=name)
    changed.isetitem(j, replaced if replaced.dtype == kind else replaced.astype(kind))
    return changed


def is_number(values: Any) -> bool:
    """Whether a column has an order: numbers or dates."""
    return np.asarray(values).dtype.kind in "iufM"


def is_missing(values: Any) -> Any:
    """Which values are missing."""
    values = np.asarray(values)
    if values.dtype.kind == "M":
        return np.isnat(values)
    if values.dtype.kind in "iub":
        return np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "f":
        return np.isnan(values)
    return np.array([_is_missing(v) for v in values.tolist()], dtype=bool)


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def codes(values: Any, levels: dict[Any, int] | None = None) -> tuple[Any, dict[Any, int]]:
    """A column as numbers: itself if it has an order, else the number of each value.

    Missing values and values that are not among the levels are -1, missing values of numbers are
    NaN.
    """
    values = np.asarray(values)
    if is_number(values):
        missing = is_missing(values)
        numbers = (
            values.astype("datetime64[s]").astype(np.int64) if values.dtype.kind == "M" else values
        )
        return np.where(missing, np.nan, numbers.astype(np.float64)), {}
    values_or_none = [
        None if missing else v
        for v, missing in zip(values.tolist(), is_missing(values), strict=True)
    ]
    if levels is None:
        levels = {
            v: k for k, v in enumerate(dict.fromkeys(v for v in values_or_none if v is not None))
        }
    return np.array(
        [float(levels.get(v, -1)) if v is not None else -1.0 for v in values_or_none]
    ), levels


def positions(n: int, most: int, seed: int = 0) -> IntArray:
    """At most so many of n rows, at random, in their order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
