"""Leave-one-out errors and values of kernel machines in closed form.

With `C = W^1/2 K W^1/2 + ridge I` and `t = W^1/2 y`, the weighted error of row i in the fit without
it is `(C^-1 t)_i / (C^-1)_ii`; the eigenvectors of the first term serve every ridge.

The squared hinge loss is a least-squares problem on its active rows, those with y f < 1. They are
found by Newton's method. Without an active row the others are taken to stay active, which makes the
value approximate; without an inactive one nothing changes. A free offset is a constant that is
added to K, large beside its diagonal.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from kboost._typing import BoolArray, FloatArray
from kboost.solvers.ridge import ridge_left_out, ridge_solve

_OFFSET = 1e3  # the constant for a free offset, times the mean of the diagonal
_STEPS = 20  # of Newton's method


def leave_one_out(
    K: FloatArray, y: FloatArray, weight: FloatArray, ridges: FloatArray
) -> FloatArray:
    """The weighted mean squared error for each ridge, summed over the columns of y."""
    root = np.sqrt(weight)
    values, vectors = eigh(root[:, None] * K * root, check_finite=False)
    values = np.maximum(values, 0.0)
    square, turned = vectors**2, vectors.T @ (root[:, None] * y)
    out = np.empty(len(ridges))
    for i, ridge in enumerate(ridges):
        inverse = 1.0 / (values + ridge)
        left_out = (vectors @ (inverse[:, None] * turned)) / (square @ inverse)[:, None]
        out[i] = np.sum(left_out**2) / weight.sum()
    return out


def left_out_values(
    K: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    ridge: float,
    *,
    loss: str = "squared",
    offset: bool = True,
) -> FloatArray:
    """The value (n, q) of each row in the fit without it, for `1/2 (y - f)^2` or the hinge loss.

    Targets of the hinge loss are -1 and 1, or between them for rows of both labels, for which the
    loss is quadratic.
    """
    if offset:
        K = K + _OFFSET * (float(np.mean(np.diag(K))) or 1.0)
    if loss == "squared":
        return y - ridge_left_out(K.copy(), y, weight, ridge)
    columns = [_left_out_hinge(K, target[:, None], 2.0 * weight, ridge) for target in y.T]
    return np.hstack(columns)


def _left_out_hinge(K: FloatArray, y: FloatArray, weight: FloatArray, ridge: float) -> FloatArray:
    """The values (n, 1) for one output."""
    active = np.ones(len(y), dtype=bool)
    values = y
    for _ in range(_STEPS):
        coef = ridge_solve(K[np.ix_(active, active)], y[active], weight[active], ridge)
        values = K[:, active] @ coef
        now = _is_active(y, values)
        if not now.any() or np.array_equal(now, active):
            break
        active = now
    out = values.copy()
    errors = ridge_left_out(K[np.ix_(active, active)], y[active], weight[active], ridge)
    out[active] = y[active] - errors
    return out


def _is_active(y: FloatArray, values: FloatArray) -> BoolArray:
    active: BoolArray = ((y * values < 1.0) | (np.abs(y) < 1.0))[:, 0]
    return active
