"""Rows as a dense float array or CSR matrix, with optional feature names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from kboost._typing import CSRMatrix, FloatArray, IntArray, Matrix

SMALL = 2**16  # numbers; up to here a call of scipy.sparse costs more than its work


def as_rows(X: Any, name: str = "X") -> Matrix:
    """Return ``X`` as a two-dimensional float array or CSR matrix, if possible without a copy."""
    rows: Any = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional (rows, features); got shape {rows.shape}."
        )
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()  # also sorts; the code below counts stored entries
    matrix: Matrix = rows
    return matrix


def narrow(values: FloatArray, *dtypes: Any) -> Any:
    """Return the values in the first of the dtypes (default float32) that holds them exactly."""
    for dtype in dtypes or (np.float32,):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            narrowed = values.astype(dtype, copy=False)
        if np.array_equal(narrowed, values):
            return narrowed
    return values


def as_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return one nonnegative weight per row, ones by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights: FloatArray = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one entry per row ({n_rows}); got shape {weights.shape}."
        )
    total = weights.sum()
    if not (np.isfinite(total) and weights.min() >= 0 and total > 0):
        raise ValueError(
            f"sample_weight must be finite, nonnegative and not all zero; got a sum of {total}."
        )
    return weights


def names_of(X: Any, feature_names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the feature names given, else those of a data frame, else None."""
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    return None if feature_names is None else tuple(feature_names)


def as_dense(X: Matrix) -> FloatArray:
    """Return the rows as a dense array."""
    return X if isinstance(X, np.ndarray) else np.asarray(X.toarray())


def dense_if_small(X: Any) -> Any:
    """Return few CSR numbers as a dense array, which is faster to work with; others unchanged."""
    is_small = sparse.issparse(X) and X.shape[0] * X.shape[1] <= SMALL
    return X.toarray() if is_small else X


def entry_columns(X: CSRMatrix) -> IntArray:
    """Return the column of each stored entry."""
    columns: IntArray = np.asarray(X.indices)
    return columns


def entry_weights(X: CSRMatrix, weights: FloatArray) -> FloatArray:
    """Return the row weight of each stored entry."""
    return np.repeat(weights, np.diff(X.indptr))


def absent_weights(X: CSRMatrix, weights: FloatArray) -> FloatArray:
    """Return per column the weight of the rows without an entry; exactly 0 for full columns."""
    columns, d = entry_columns(X), X.shape[1]
    rest = weights.sum() - np.bincount(columns, entry_weights(X, weights), d)
    full = np.bincount(columns, minlength=d) == X.shape[0]
    return np.where(full, 0.0, np.maximum(rest, 0.0))


def extent(X: Matrix) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest value of each feature, implicit zeros included."""
    if isinstance(X, np.ndarray):
        low, high = X.min(axis=0), X.max(axis=0)
    else:
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return low.astype(np.float64), high.astype(np.float64)


def replace_data(X: CSRMatrix, data: FloatArray) -> CSRMatrix:
    """Return ``X`` with other stored values; zeros among them are dropped."""
    # A full copy: eliminate_zeros() compacts indices and indptr in place.
    out: CSRMatrix = type(X)((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    out.eliminate_zeros()
    return out


def group_rows(X: Matrix) -> tuple[IntArray, IntArray]:
    """Return the index of the first copy of each distinct row, and the group of each row.

    Distinct rows are ordered by their bytes, so the result does not depend on the order of rows.
    """
    if isinstance(X, np.ndarray):
        plain = np.ascontiguousarray(X) + 0.0  # + 0.0 turns -0.0 into 0.0
        keys = plain.view(np.dtype((np.void, plain.itemsize * plain.shape[1]))).ravel()
    else:
        keys = np.array(_row_keys(X), dtype=object)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group.ravel()


def distinct_rows(X: Matrix, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return indices of the distinct rows, ordered by content, and their weights."""
    first, group = group_rows(X)
    return first, np.bincount(group, weights=weights).astype(np.float64)


def _row_keys(X: CSRMatrix) -> list[bytes]:
    canonical = replace_data(X, X.data + 0.0)
    canonical.sum_duplicates()  # sorts the indices too
    indices = canonical.indices.astype(np.int64)
    return [
        indices[a:b].tobytes() + canonical.data[a:b].tobytes()
        for a, b in pairwise(canonical.indptr)
    ]
