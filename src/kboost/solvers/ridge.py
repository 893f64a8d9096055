"""Kernel ridge regression by one Cholesky factorisation, and ridge regression on a basis.

    minimise  1/2 sum_i w_i (y_i - (K a)_i)^2 + ridge/2 a' K a:    (K + ridge W^-1) a = y

in the precision of K. In float32 very small entries are set to 0: they would become denormal
numbers, on which processors are fifty times slower. The condition of the system is about
n diag / ridge; `precision` tells whether float32 with one step of refinement suffices. If the
factorisation fails, it is repeated in float64 with a larger diagonal. Leave-one-out errors come
from the same factor: without row i the error there would be `a_i / (C^-1)_ii`. For the last rows
alone the last corner of the factor is enough, and the inverse of all, twice the work of the factor,
is not needed:

    C^-1 = L^-T L^-1,    the last corner of it is (R R')^-1 with the last corner R of L

On a basis, with kernel columns F (n, m) and their inner products Q (m, m),

    minimise  1/2 sum_i w_i (y_i - b - (F a)_i)^2 + ridge/2 a' Q a

is a least-squares problem of n + m rows, the last m those of a root of `ridge Q`. It is solved as
such: normal equations would square its condition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas, eigh, lapack, lstsq

from kboost._typing import FloatArray
from kboost.exceptions import SolverError
from kboost.solvers._lapack import cholesky_in_place, invert_in_place

_LEAST_RIDGE = 1e-6  # for float32, per row, relative to the diagonal
_TRIES = 12
_STRIP = 1 << 16  # entries at a time
_NEGLIGIBLE = 1e-9  # of the diagonal: smaller entries of a float32 matrix are set to 0


def precision(n_rows: int, ridge: float, weight: FloatArray) -> type[np.floating[Any]]:
    """The precision K must have, for kernels with a diagonal of about 1."""
    least = ridge / float(weight.max(initial=1.0))
    return np.float32 if least >= _LEAST_RIDGE * n_rows else np.float64


def ridge_solve(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """The coefficients (n, q); K is overwritten."""
    coef, _ = _factored(K, y, weight, ridge)
    return coef.astype(np.float64)


def basis_solve(
    F: FloatArray,
    Q: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    ridge: float,
    *,
    bias: bool = False,
) -> FloatArray:
    """The coefficients (m, q) of a basis, below the bias (1, q) if there is one."""
    root = np.sqrt(weight)[:, None]
    values, vectors = eigh(Q)
    norm = np.sqrt(ridge * np.maximum(values, 0.0))[:, None] * vectors.T
    above = root * F
    if bias:
        above = np.hstack([root, above])
        norm = np.hstack([np.zeros((len(norm), 1)), norm])
    target = np.vstack([root * y, np.zeros((len(norm), y.shape[1]))])
    coef: FloatArray = lstsq(np.vstack([above, norm]), target)[0]
    return coef


def ridge_left_out(
    K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float, last: int | None = None
) -> FloatArray:
    """The error (n, q) of each row in the fit without it, or of the `last` rows alone.

    K is overwritten.
    """
    coef, lower = _factored(K, y, weight, ridge)
    first = 0 if last is None else len(K) - last
    corner = lower if first == 0 else np.ascontiguousarray(lower[first:, first:])
    invert_in_place(corner)
    return coef[first:] / np.diag(corner).astype(np.float64)[:, None]


def _factored(
    K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """The coefficients, and the factor in the lower triangle; y is scaled to 1."""
    diagonal = np.diag(K).astype(np.float64)
    if K.dtype == np.float32:
        _drop(K, _NEGLIGIBLE * float(np.abs(diagonal).max(initial=0.0)))
    diagonal += ridge / weight
    np.fill_diagonal(K, diagonal)
    try:
        cholesky_in_place(K)
    except np.linalg.LinAlgError:
        K = _factored_again(K, diagonal)
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    y = y / unit
    if K.dtype == np.float64:
        return unit * lapack.dpotrs(K.T, y, lower=False)[0], K
    coef = lapack.spotrs(K.T, y.astype(np.float32), lower=False)[0].astype(np.float64)
    # one step of refinement: the upper triangle of K, without the diagonal, is unchanged
    product = _symmetric_times(K, coef.astype(np.float32)).astype(np.float64)
    residual = y - product - (diagonal - np.diag(K))[:, None] * coef
    return unit * (coef + lapack.spotrs(K.T, residual.astype(np.float32), lower=False)[0]), K


def _drop(K: FloatArray, least: float) -> None:
    """Set entries below `least` to 0, a few rows at a time to save memory."""
    step = max(1, _STRIP // max(1, K.shape[1]))
    size = np.empty((step, K.shape[1]), dtype=K.dtype)
    small = np.empty(size.shape, dtype=bool)
    for start in range(0, len(K), step):
        rows = K[start : start + step]
        np.abs(rows, out=size[: len(rows)])
        np.less(size[: len(rows)], least, out=small[: len(rows)])
        np.copyto(rows, 0.0, where=small[: len(rows)])


def _symmetric_times(K: FloatArray, right: FloatArray) -> FloatArray:
    """The symmetric matrix with the upper triangle of K, times (n, q)."""
    if right.shape[1] == 1:
        return np.asarray(blas.ssymv(1.0, K.T, right[:, 0], lower=1))[:, None]
    return np.asarray(blas.ssymm(1.0, K.T, right, lower=True))


def _factored_again(K: FloatArray, diagonal: FloatArray) -> FloatArray:
    """The factor in float64, with as much added to the diagonal as rounding requires."""
    symmetric = np.triu(K, 1).astype(np.float64)  # the upper triangle is unchanged
    symmetric += symmetric.T
    first = np.finfo(K.dtype).eps * float(np.abs(diagonal).max())
    for more in first * 10.0 ** np.arange(1, _TRIES):
        factor = symmetric.copy()
        np.fill_diagonal(factor, diagonal + more)
        try:
            cholesky_in_place(factor)
        except np.linalg.LinAlgError:
            continue
        return factor
    raise SolverError("a kernel matrix is far from positive definite, or not finite.")
