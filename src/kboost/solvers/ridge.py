"""Least squares with a kernel matrix and a ridge, by one Cholesky factorisation.

    minimise  1/2 sum_i w_i (y_i - (K a)_i)^2 + ridge/2 a' K a:    (K + ridge W^-1) a = y

In the precision of K: float32 is enough while the ridge is well above 1e-7 of the diagonal, and
where the factorisation fails it is repeated in float64. Left-out errors from the same factor:
without row i it would be wrong by `a_i / (C^-1)_ii`.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from kboost._typing import FloatArray
from kboost.solvers._lapack import cholesky_in_place

_JITTER = 1e-10


def ridge_solve(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """The coefficients (n, q); K is overwritten."""
    coef, _ = _factored(K, y, weight, ridge)
    return coef.astype(np.float64)


def ridge_left_out(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """Errors (n, q) of each row by the fit without it; K is overwritten."""
    coef, lower = _factored(K, y, weight, ridge)
    invert = lapack.spotri if lower.dtype == np.float32 else lapack.dpotri
    inverse = invert(lower.T, lower=False, overwrite_c=True)[0]  # .T: LAPACK's order, no copy
    return coef.astype(np.float64) / np.diag(inverse).astype(np.float64)[:, None]


def _factored(
    K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and the factor, in the lower triangle."""
    saved = np.diag(K).astype(np.float64) + ridge / weight
    np.fill_diagonal(K, saved)
    try:
        cholesky_in_place(K)
    except np.linalg.LinAlgError:
        K = np.triu(K, 1).astype(np.float64)  # the upper triangle is as it was
        K += K.T
        np.fill_diagonal(K, saved + _JITTER * float(np.abs(saved).max()))
        cholesky_in_place(K)
    solve = lapack.spotrs if K.dtype == np.float32 else lapack.dpotrs
    return solve(K.T, y.astype(K.dtype), lower=False)[0], K
