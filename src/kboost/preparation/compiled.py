"""A fitted preparation for a row at a time: the same numbers as `transform`, with fewer checks.

An array of finite numbers is copied to its output columns. A single row (a dict, a frame of one
row, an array with missing values or objects) is encoded value by value: numbers, booleans and
strings are read here. Whatever else there is, in one value or in all, `transform` reads the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation.categories import CategoryEncoding
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.level_means import MeanEncoding
from kboost.preparation.levels import LevelEncoding
from kboost.preparation.numbers import NumberEncoding
from kboost.preparation.table_preparation import TablePreparation
from kboost.preparation.typed_column import strings

Writer = Callable[[Any, list[float]], bool]  # a value into the row of outputs; False: not read


class CompiledPreparation:
    """Rows of a table as numbers."""

    def __init__(self, preparation: TablePreparation) -> None:
        self._preparation = preparation
        self._n_columns = preparation.n_features_in_
        self._n_outputs = len(preparation.one_hot_)
        self._is_matrix = preparation._is_matrix
        self._starts = np.array([column.output.start for column in preparation.columns_])
        names = getattr(preparation, "feature_names_in_", None)
        self._names: list[str] | None = None if names is None else names.tolist()
        columns = zip(preparation.columns_, preparation._encodings, strict=True)
        self._writers = [
            None if encoding is None else _writer(encoding, column.output)
            for column, encoding in columns
        ]
        self._unread = any(writer is _nothing for writer in self._writers)

    def __call__(self, X: Any) -> Any:
        if type(X) is np.ndarray and X.ndim == 2 and X.shape[1] == self._n_columns:
            rows = self._finite(X)
            if rows is None and len(X) == 1 and X.dtype.kind in "fiubO":
                rows = self._row(X[0].tolist())
        elif isinstance(X, Mapping):
            values = self._values(X)
            rows = self._row(values)
            X = self._record(values)
        else:
            rows = self._frame_row(X) if _is_pandas(X) and len(X) == 1 else None
        return self._preparation.transform(X) if rows is None else rows

    def _finite(self, X: Any) -> FloatArray | None:
        """An array of numbers without missing values; None for other arrays."""
        if not self._is_matrix or X.dtype.kind not in "fiub" or not len(X):
            return None
        rows: FloatArray = X.astype(np.float64, copy=False)
        if not np.isfinite(rows).all():
            return None
        if self._n_outputs == self._n_columns:
            return rows
        out = np.zeros((len(rows), self._n_outputs))
        out[:, self._starts] = rows
        return out

    def _values(self, row: Mapping[str, Any]) -> list[Any]:
        """The values of a dict, in the order of the columns."""
        if self._names is None:
            raise ValueError(
                "X must be an array for a model that was fitted without column names; got a "
                f"{type(row).__name__}."
            )
        for name, writer in zip(self._names, self._writers, strict=True):
            if writer is not None and name not in row:
                raise ValueError(
                    f"X must have the columns of fit; {name!r} is missing; got "
                    f"{', '.join(map(str, row))}."
                )
        return [row.get(name) for name in self._names]

    def _record(self, values: Sequence[Any]) -> Any:
        """The values with the names of their columns, for `transform`."""
        row = np.empty(1, dtype=[(name, object) for name in self._names or ()])
        row[0] = tuple(values)
        return row

    def _frame_row(self, X: Any) -> FloatArray | None:
        """A frame of one row; None if its columns are others, or a value is not read here."""
        values = X.to_numpy()
        names = X.columns.tolist()
        if self._names is None or values.dtype.kind not in "fiubO":
            return None
        if names == self._names:
            return self._row(values[0].tolist())
        by_name = dict(zip(names, values[0].tolist(), strict=True))
        if len(by_name) < len(names) or not by_name.keys() >= set(self._names):
            return None
        return self._row([by_name[name] for name in self._names])

    def _row(self, values: Sequence[Any]) -> FloatArray | None:
        """One row, value by value; None if one of them is not read here."""
        if self._unread:
            return None
        out = [0.0] * self._n_outputs
        for value, writer in zip(values, self._writers, strict=True):
            if writer is not None and not writer(value, out):
                return None
        return np.array([out])


def _is_pandas(X: Any) -> bool:
    kind = type(X)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas"


def _writer(encoding: Any, output: slice) -> Writer:
    """How values of a column are written; `_nothing` for dates and texts."""
    if isinstance(encoding, NumberEncoding):
        return partial(_write_number, encoding, output.start)
    if isinstance(encoding, LevelEncoding | MeanEncoding | JoinedEncoding):
        return partial(_write_level, *_outputs(encoding), output)
    return _nothing


def _nothing(value: Any, out: list[float]) -> bool:
    return False


def _write_number(encoding: NumberEncoding, start: int, value: Any, out: list[float]) -> bool:
    if value is None:
        value = math.nan
    elif not isinstance(value, float | int):
        return False
    is_missing = math.isnan(value)
    if encoding.kind == "boolean" and not is_missing and value not in (0, 1):
        return False
    if encoding.has_value:
        number = float(encoding.fill if is_missing else value)
        if not math.isfinite(number):
            return False
        out[start] = number
    elif not is_missing and not math.isfinite(value):
        return False
    if encoding.has_indicator:
        out[start + encoding.has_value] = float(is_missing)
    return True


def _write_level(
    outputs: dict[Any, list[float]],
    unseen: list[float],
    output: slice,
    value: Any,
    out: list[float],
) -> bool:
    if isinstance(value, float) and math.isnan(value):
        value = None
    elif value is not None and not isinstance(value, str):
        return False
    out[output] = outputs.get(value, unseen)
    return True


def _outputs(encoding: CategoryEncoding) -> tuple[dict[Any, list[float]], list[float]]:
    """The output of each level and of a missing value (None); and that of an unseen level."""
    levels_of = encoding.means if isinstance(encoding, JoinedEncoding) else encoding
    other = "".join(levels_of.levels) + "?"  # longer than any of them
    values = [*levels_of.levels, None, other]
    rows = encoding.encode(strings("", values)).tolist()
    return dict(zip(values[:-1], rows[:-1], strict=True)), rows[-1]
