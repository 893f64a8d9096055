"""Sparse rows: unchanged without missing values; else filled, with columns that mark them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from kboost._typing import CSRMatrix, FloatArray, IntArray
from kboost.preparation.fitting import FittedColumn
from kboost.preparation.merging import weighted_median
from kboost.preparation.numbers import NumberEncoding, check_finite


def fit_sparse(X: CSRMatrix, weight: FloatArray) -> list[FittedColumn]:
    """Fit each column."""
    n, d = X.shape
    check_finite_entries(X)
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    used = weight[rows] > 0
    missing = np.isnan(X.data) & used
    n_missing = np.bincount(X.indices[missing], minlength=d)
    other = used & ~missing & (X.data != 0) & (X.data != 1)
    zero_one = np.bincount(X.indices[other], minlength=d) == 0
    stored = np.bincount(X.indices, weights=weight[rows] * (X.data != 0), minlength=d)
    fill = np.zeros(d)
    columns = X.tocsc()
    for j in np.flatnonzero(2 * stored >= weight.sum()):  # else the median is 0
        values = columns[:, [j]].toarray()[:, 0]
        present = ~np.isnan(values) & (weight > 0)
        if present.any():
            fill[j] = weighted_median(values[present], weight[present])
    encodings = [
        NumberEncoding("number", float(fill[j]), True, bool(n_missing[j]), bool(zero_one[j]))
        for j in range(d)
    ]
    return [
        FittedColumn(f"x{j}", "number", int(n_missing[j]), "", encoding)
        for j, encoding in enumerate(encodings)
    ]


def encode_sparse(X: CSRMatrix, encodings: Sequence[NumberEncoding], starts: IntArray) -> CSRMatrix:
    """Fill and mark missing values; `starts` are the first output columns, and their number."""
    check_finite_entries(X)
    missing = np.isnan(X.data)
    widened = starts[-1] > len(encodings)
    if not missing.any() and not widened:
        return X
    fill = np.array([encoding.fill for encoding in encodings])
    data = np.where(missing, fill[X.indices], X.data)
    if not widened:
        return type(X)((data, X.indices, X.indptr), shape=X.shape)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    has_indicator = np.array([encoding.has_indicator for encoding in encodings])
    marked = missing & has_indicator[X.indices]
    out = sparse.coo_matrix(
        (
            np.append(data, np.ones(marked.sum())),
            (
                np.append(rows, rows[marked]),
                np.append(starts[X.indices], starts[X.indices[marked]] + 1),
            ),
        ),
        shape=(X.shape[0], int(starts[-1])),
    )
    encoded: CSRMatrix = type(X)(out)
    return encoded


def check_finite_entries(X: CSRMatrix) -> None:
    """Raise if an entry is infinite."""
    infinite = np.isinf(X.data)
    if infinite.any():
        check_finite(f"x{X.indices[infinite][0]}", X.data)
