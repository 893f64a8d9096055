"""Rows by content, so that a row of weight 2 is the row twice and the order does not matter.

Each row has a 64-bit hash of its values. Equal rows have equal hashes; rows are merged, ordered and
divided into folds by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kboost._typing import FloatArray, IntArray
from kboost.preparation.typed_column import TypedColumn

Hashes = NDArray[np.uint64]


def row_hashes(columns: Sequence[TypedColumn], n_rows: int) -> Hashes:
    """One hash per row."""
    out = np.zeros(n_rows, dtype=np.uint64)
    for column in columns:
        out = _mixed(out ^ _value_hashes(column))
    return out


def text_hashes(texts: Sequence[str]) -> Hashes:
    """One hash per text."""
    digests = b"".join(
        blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def folds_of(hashes: Hashes, n_folds: int) -> IntArray:
    """The fold of each row."""
    folds: IntArray = (_mixed(hashes) % np.uint64(n_folds)).astype(np.intp)
    return folds


def distinct_rows(hashes: Hashes) -> IntArray:
    """One row of each content, ordered by content."""
    first: IntArray = np.unique(hashes, return_index=True)[1]
    return first


def as_repetitions(weight: FloatArray, n_distinct: int) -> FloatArray:
    """The weights, with a sum of at least the number of distinct rows."""
    total = float(weight.sum())
    return weight if total >= n_distinct else weight * (n_distinct / total)  # such as sum 1


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The median of values, each as often as its weight."""
    if (weight == weight[0]).all():
        return float(np.median(values))
    order = np.lexsort((weight, values))
    values, total = values[order], np.cumsum(weight[order])
    half = total[-1] / 2
    low, high = np.searchsorted(total, half, "left"), np.searchsorted(total, half, "right")
    return float((values[low] + values[min(high, len(values) - 1)]) / 2)


def _value_hashes(column: TypedColumn) -> Any:
    if column.kind == "strings":
        return np.append(text_hashes(column.levels), np.uint64(1))[column.values]
    values = np.ascontiguousarray(column.values)
    if column.kind != "date":
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, one zero
    return values.view(np.uint64)


def _mixed(hashes: Any) -> Hashes:
    """The finaliser of splitmix64."""
    mixed: Hashes = hashes + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
