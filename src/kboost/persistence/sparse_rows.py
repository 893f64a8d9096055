"""Sparse rows of a file, checked before SciPy's compiled code sees them.

A CSR matrix of n rows and d columns is sound if

    indptr[0] = 0 <= indptr[1] <= ... <= indptr[n] = number of entries,
    0 <= indices < d, and they increase within each row.

SciPy checks less: with `indptr[n] = 0` it reads no other number of `indptr`, and its loops then
run to wherever these point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from kboost.persistence.errors import FormatError

Array = np.ndarray[Any, Any]

KINDS: dict[str, Any] = {"csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}
_MAX_SIDE = 1 << 31
_DATA = frozenset(np.dtype(name) for name in ("b1", "i4", "i8", "u4", "u8", "f4", "f8"))
_INDEX = frozenset(np.dtype(name) for name in ("i4", "i8"))


def canonical(matrix: Any) -> Any:
    """The matrix as files hold it: no entry twice, in order, and nothing behind the last one."""
    if matrix.has_canonical_format and len(matrix.indices) == len(matrix.data) == matrix.nnz:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.prune()
    return matrix


def sparse_rows(kind: Any, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    """The CSR matrix of these arrays, which are copied; raises a FormatError if it is not sound."""
    _expect(isinstance(kind, str) and kind in KINDS)
    _expect(isinstance(shape, list) and len(shape) == 2)
    _expect(all(type(n) is int and 0 <= n < _MAX_SIDE for n in shape))
    for part, dtypes in ((data, _DATA), (indices, _INDEX), (indptr, _INDEX)):
        _expect(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype in dtypes)
    n, d = shape
    _expect(len(indptr) == n + 1 and indptr[0] == 0 and bool((indptr[1:] >= indptr[:-1]).all()))
    _expect(indptr[-1] == len(indices) == len(data))
    _expect(bool((indices >= 0).all() and (indices < d).all()))
    _expect(_increase(indices, indptr))
    parts = (data.copy(), indices.copy(), indptr.copy())  # SciPy may change them in place
    return KINDS[kind](parts, shape=(n, d))


def _increase(indices: Array, indptr: Array) -> bool:
    """Whether indices increase within each row."""
    is_greater = np.ones(len(indices) + 1, dtype=bool)
    is_greater[1:-1] = indices[1:] > indices[:-1]
    is_greater[indptr] = True  # where rows begin
    return bool(is_greater.all())


def _expect(condition: Any) -> None:
    if not condition:
        raise FormatError("a sparse matrix points outside its entries, or is not in order")
