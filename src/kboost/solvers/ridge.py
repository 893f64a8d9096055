"""Least squares with a kernel matrix and a ridge, by one Cholesky factorisation.

    minimise  1/2 sum_i w_i (y_i - (K a)_i)^2 + ridge/2 a' K a:    (K + ridge W^-1) a = y

In the precision of K: float32 is enough while the ridge is well above 1e-7 of the diagonal, and
where the factorisation fails it is repeated in float64 with a larger diagonal. Left-out errors are
from the same factor: without row i the fit would be wrong there by `a_i / (C^-1)_ii`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

from kboost._typing import FloatArray
from kboost.solvers._lapack import cholesky_in_place, invert_in_place


def ridge_solve(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """The coefficients (n, q); K is overwritten."""
    coef, _ = _factored(K, y, weight, ridge)
    return coef.astype(np.float64)


def ridge_left_out(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """Errors (n, q) of each row by the fit without it; K is overwritten."""
    coef, lower = _factored(K, y, weight, ridge)
    invert_in_place(lower)
    return coef / np.diag(lower).astype(np.float64)[:, None]


def _factored(
    K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and the factor, in the lower triangle."""
    diagonal = np.diag(K).astype(np.float64) + ridge / weight
    np.fill_diagonal(K, diagonal)
    try:
        cholesky_in_place(K)
    except np.linalg.LinAlgError:
        K = _factored_again(K, diagonal)
    if K.dtype == np.float64:
        return lapack.dpotrs(K.T, y, lower=False)[0], K
    coef = lapack.spotrs(K.T, y.astype(np.float32), lower=False)[0].astype(np.float64)
    # one step of refinement: above the factor K is as it was, but for its diagonal
    product = blas.ssymm(1.0, K.T, coef.astype(np.float32), lower=True).astype(np.float64)
    rest = y - product - (diagonal - np.diag(K))[:, None] * coef
    return coef + lapack.spotrs(K.T, rest.astype(np.float32), lower=False)[0], K


def _factored_again(K: FloatArray, diagonal: FloatArray) -> FloatArray:
    """In float64, with as much more on the diagonal as rounding of the entries calls for."""
    symmetric = np.triu(K, 1).astype(np.float64)  # the upper triangle is as it was
    symmetric += symmetric.T
    jitter = np.finfo(K.dtype).eps * float(np.abs(diagonal).max())
    while True:
        jitter *= 10.0
        factor = symmetric.copy()
        np.fill_diagonal(factor, diagonal + jitter)
        try:
            cholesky_in_place(factor)
        except np.linalg.LinAlgError:
            continue
        return factor
