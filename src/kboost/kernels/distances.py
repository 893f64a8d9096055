"""The three elementary blocks: dot products, squared Euclidean and city-block distances.

Squared distances are |x|^2 + |z|^2 - 2 x.z on centred rows, one matrix product. Where the result
is small compared with |x|^2 that formula loses its digits; those few pairs are computed again
from differences, so that the distance of equal rows is exactly 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from kboost._typing import FloatArray, IntArray, Matrix

NEAR = {np.dtype(np.float64): 4e-4, np.dtype(np.float32): 4e-2}
FEW_FEATURES = 4
REPAIR_ENTRIES = 2**20


def dot(X: Matrix, Z: Matrix) -> FloatArray:
    """Return ``x.z`` of all pairs, dense."""
    product: Any = X @ Z.T
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def sqeuclidean(X: Matrix, Z: Matrix) -> FloatArray:
    """Return ``|x - z|^2`` of all pairs, exactly 0 for equal rows."""
    dtype = np.result_type(X.dtype, Z.dtype)
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        if X.shape[1] <= FEW_FEATURES:
            return np.asarray(cdist(X, Z, "sqeuclidean").astype(dtype, copy=False))
        middle = Z.mean(axis=0)
        X, Z = X - middle, (X - middle if Z is X else Z - middle)
    norms = row_dots(X)
    out: FloatArray = dot(X, Z)
    out *= -2
    out += norms[:, None]
    out += row_dots(Z)
    near = np.flatnonzero(out < (NEAR[dtype] * norms)[:, None])
    if len(near) > out.size // 20 and isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        return np.asarray(cdist(X, Z, "sqeuclidean").astype(dtype, copy=False))
    _repair(out, near, X, Z)
    return out


def cityblock(X: Matrix, Z: Matrix) -> FloatArray:
    """Return ``|x - z|_1`` of all pairs."""
    dtype = np.result_type(X.dtype, Z.dtype)
    if isinstance(X, np.ndarray) and isinstance(Z, np.ndarray):
        return np.asarray(cdist(X, Z, "cityblock").astype(dtype, copy=False))
    return np.asarray(manhattan_distances(_narrow(X), _narrow(Z))).astype(dtype, copy=False)


def row_dots(X: Matrix) -> FloatArray:
    """Return ``x.x`` of every row."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X))
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _narrow(X: Matrix) -> sparse.csr_matrix:
    """Return CSR with the 32-bit indices that scikit-learn's loop requires."""
    X = sparse.csr_matrix(X)
    indices, bounds = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_matrix((X.data.copy(), indices, bounds), shape=X.shape)


def _repair(out: FloatArray, near: IntArray, X: Matrix, Z: Matrix) -> None:
    """Overwrite the pairs ``near`` (flat indices) of ``out`` by sums of squared differences."""
    step = max(1, REPAIR_ENTRIES // max(1, X.shape[1]))
    for start in range(0, len(near), step):
        i, j = np.unravel_index(near[start : start + step], out.shape)
        x, z = X[i], Z[j]
        if sparse.issparse(x) != sparse.issparse(z):
            x, z = sparse.csr_matrix(x), sparse.csr_matrix(z)
        out[i, j] = row_dots(x - z)
