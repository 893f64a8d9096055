"""Any table as typed columns: NumPy arrays, structured arrays, lists, and frames by narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from kboost._typing import FloatArray
from kboost.kernels.rows import as_rows
from kboost.preparation.objects import SECOND, is_missing, objects_column
from kboost.preparation.typed_column import DATE, TypedColumn, as_floats, is_code, strings, text_of


def as_frame(X: Any) -> Any:
    """A frame of narwhals, or None if X is not a frame."""
    _check_distinct(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _check_distinct(X: Any) -> None:
    index: Any = getattr(X, "columns", None)
    if getattr(index, "is_unique", True) is False:  # of pandas; others have distinct names
        names = list(index)
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"X must have distinct column names; got {repeated!r} twice.")


def column_names(X: Any) -> list[str] | None:
    """The names of the columns; None if there are none, or not all are strings."""
    if isinstance(X, np.ndarray) and X.dtype.names:
        return list(X.dtype.names)
    names = getattr(X, "columns", None) if as_frame(X) is not None else None
    if hasattr(X, "column_names"):
        names = X.column_names  # of a pyarrow table
    if names is None:
        return None
    names = list(names)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return [str(name) for name in names]


def as_table(X: Any) -> Any:
    """A frame, a CSR matrix, a matrix of any dtype or a structured array; not empty."""
    if sparse.issparse(X):
        table = as_rows(X)
        if table.dtype != np.float64:
            table = table.astype(np.float64)
    else:
        table = X if as_frame(X) is not None else _array(X)
    n, d = len_of(table)
    if not n:
        raise ValueError(f"X must have rows; got 0 sample(s) (shape=({n}, {d})).")
    if not d:
        raise ValueError(
            f"X must have columns; got 0 feature(s) (shape=({n}, 0)) while a minimum of 1 is "
            "required."
        )
    return table


def len_of(X: Any) -> tuple[int, int]:
    """Numbers of rows and columns."""
    if isinstance(X, np.ndarray) and X.dtype.names:
        return len(X), len(X.dtype.names)
    return int(X.shape[0]), int(X.shape[1])


def _array(X: Any) -> Any:
    array = np.asarray(X)
    if array.dtype.names and array.ndim == 1:
        return array
    if array.dtype.kind == "c":
        raise ValueError("X must be real: Complex data not supported; got complex numbers.")
    if array.ndim != 2:
        hint = ": Reshape your data, for example with X.reshape(-1, 1)" * (array.ndim == 1)
        raise ValueError(
            f"X must be two-dimensional (rows, columns); got shape {array.shape}{hint}."
        )
    return array


def typed_columns(X: Any, places: Sequence[int] | None = None) -> list[TypedColumn]:
    """Columns of a frame or an array, by default all; those without a name are x0, x1, ..."""
    names = column_names(X)
    frame = as_frame(X)
    places = range(len_of(X)[1]) if places is None else places
    if frame is not None:
        series = list(frame.iter_columns())
        return [_of_series(names[j] if names else f"x{j}", series[j]) for j in places]
    if names is not None:
        return [_of_array(names[j], X[names[j]]) for j in places]
    return [_of_array(f"x{j}", X[:, j]) for j in places]


def _of_series(name: str, series: Any) -> TypedColumn:
    dtype = series.dtype
    if dtype.is_numeric():
        return TypedColumn(name, "number", _floats(series))
    if dtype == nw.Boolean:
        return TypedColumn(name, "boolean", _floats(series))
    if dtype in (nw.Datetime, nw.Date):
        if dtype == nw.Date:
            series = series.cast(nw.Datetime("us"))
        elif dtype.time_zone is not None:
            series = series.dt.replace_time_zone(None)  # the time that the clock showed
        return TypedColumn(name, "date", np.asarray(series.to_numpy()).astype(DATE))
    if dtype == nw.Duration:
        return _of_array(name, np.asarray(series.to_numpy()))
    if dtype in (nw.Categorical, nw.Enum):  # also of numbers
        texts = (None if is_missing(value) else text_of(value) for value in series.to_list())
        return replace(strings(name, texts), declared=True)
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary):
        raise TypeError(
            f"column {name!r} must hold numbers, booleans, dates or strings; got {dtype}."
        )
    return objects_column(name, series.to_list())


def _floats(series: Any) -> FloatArray:
    values = series.cast(nw.Float64).to_numpy()
    numbers: FloatArray = np.asarray(values, dtype=np.float64)
    return numbers


def _of_array(name: str, values: Any) -> TypedColumn:
    kind = values.dtype.kind
    if kind == "b":
        return TypedColumn(name, "boolean", values.astype(np.float64, copy=False))
    if kind in "iuf":
        return TypedColumn(name, "number", values.astype(np.float64, copy=False))
    if kind == "M":
        return TypedColumn(name, "date", values.astype(DATE))
    if kind == "m":
        return TypedColumn(name, "number", values / SECOND, note="a duration, in seconds")
    if kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if kind in "US":
        return _of_texts(name, values)
    return objects_column(name, values.tolist())


def _of_texts(name: str, values: Any) -> TypedColumn:
    """NumPy turns a list of numbers and words into strings; numbers are converted back."""
    column = strings(name, values.tolist())
    missing = [level in ("nan", "None", "") for level in column.levels]
    numbers = as_floats(["nan" if g else v for g, v in zip(missing, column.levels, strict=True)])
    if numbers is not None and not all(missing) and not any(map(is_code, column.levels)):
        return TypedColumn(name, "number", numbers[column.values])
    if any(missing):
        levels = [None if g else v for g, v in zip(missing, column.levels, strict=True)]
        return replace(strings(name, (levels[code] for code in column.values)), name=name)
    return column
