"""The notes in a model file on its origin: target, rows, columns, scores, and hashes of rows.

The rows are known by the smallest of their hashes: of new rows with hashes as small, those that
were rows of the fit are among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._optional import require
from kboost.cli._data import Data
from kboost.cli._learn import FitResult
from kboost.cli._results import plain
from kboost.tables.preparing import prepared_name

HASHES = 256
_HEX = 16  # digits of a hash


def notes_of(result: FitResult, na: Sequence[str] | None = None) -> dict[str, Any]:
    """The notes to save with a model, as values of JSON; `na` are words for missing values."""
    data = result.data
    notes: dict[str, Any] = {
        "target": data.target,
        "task": data.task,
        "rows": len(data.y),
        "na": na,
        "reason": result.reason,
        "scores": {score.name: score.value for score in result.scores},
        "scored": result.where,
        "columns": [{**vars(column), **_range(data, column)} for column in data.columns],
        "hashes": [f"{value:0{_HEX}x}" for value in np.sort(row_hashes(data.X))[:HASHES].tolist()],
    }
    plain_notes: dict[str, Any] = plain(notes)
    return plain_notes


def row_hashes(X: Any) -> Any:
    """A number per row, the same for equal rows; none for sparse rows."""
    pd = require("pandas", extra="cli", what="kboost")
    if not isinstance(X, np.ndarray | pd.DataFrame):
        return np.empty(0, dtype=np.uint64)
    frame = pd.DataFrame(X)
    hashes = pd.util.hash_pandas_object(frame, index=False)
    return np.unique(hashes.to_numpy(dtype=np.uint64))


def share_of_training_rows(notes: dict[str, Any], X: Any) -> float:
    """An estimate of the share of rows that the model was fitted to; 0 if nothing is known."""
    try:
        hashes = np.array([int(word, 16) for word in notes.get("hashes", [])], dtype=np.uint64)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    new = row_hashes(X)
    if not len(hashes) or not len(new):
        return 0.0
    all_known = len(hashes) < HASHES
    comparable = new if all_known else new[new <= hashes.max()]
    return float(np.isin(comparable, hashes).mean()) if len(comparable) else 0.0


def text(notes: dict[str, Any], name: str) -> str | None:
    """A note that should be a string; None if it is not."""
    value = notes.get(name)
    return value if isinstance(value, str) else None


def na_words(notes: dict[str, Any]) -> list[str] | None:
    """The words for missing values of the fit; None if they are those by default."""
    words = notes.get("na")
    return [str(word) for word in words] if isinstance(words, list) else None


def ranges(notes: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """The smallest and largest number of each column, dates in days since 1970."""
    out = {}
    for column in notes.get("columns") or ():
        if isinstance(column, dict) and isinstance(column.get("range"), list):
            low, high = (*column["range"], None, None)[:2]
            if all(isinstance(v, int | float) and math.isfinite(v) for v in (low, high)):
                out[str(column.get("name"))] = (float(low), float(high))
    return out


def as_days(values: Any) -> Any:
    """Numbers unchanged, dates in days since 1970, without missing values."""
    values = values.dropna()
    if values.dtype.kind == "M":
        return values.to_numpy().astype("datetime64[us]").astype(np.int64) / 86_400e6
    return values.to_numpy(dtype=np.float64)


def _range(data: Data, column: Any) -> dict[str, Any]:
    if column.kind not in ("number", "date") or not data.is_table:
        return {}
    values = as_days(data.X[prepared_name(data.X.columns, column.name)])
    return {"range": [float(values.min()), float(values.max())]} if len(values) else {}
