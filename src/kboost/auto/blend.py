"""Weights of several models, from their values at rows left out.

    minimise  sum_i w_i |y_i - sum_m a_m f_m(x_i)|^2     subject to  a >= 0,  sum_m a_m = 1

as nonnegative least squares with one row of large weight for the sum. Small weights are set to 0
and the rest is solved again. The best single model stands unless the blend lowers its error by a
margin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from kboost._typing import FloatArray

_HEAVY = 1e3  # of the row for the sum
_LEAST = 0.05  # weight of a member
_EXACT = 1e-24  # squared error of the best member, relative to its values, that counts as 0
_GAIN = 0.003  # part of the error of the best member that a blend must save


def blend_weights(
    values: Sequence[FloatArray], targets: FloatArray, weight: FloatArray
) -> FloatArray:
    """One weight per model; `values` and `targets` are (n, q)."""
    root = np.sqrt(weight / weight.sum())[:, None]
    columns = np.column_stack([(root * each).ravel() for each in values])
    target = (root * targets).ravel()
    errors = np.sum((columns - target[:, None]) ** 2, axis=0)
    best = int(errors.argmin())
    single = np.zeros(len(values))
    single[best] = 1.0
    if errors[best] <= _EXACT * float(np.sum(columns[:, best] ** 2)):  # exact already
        return single
    unit = np.sqrt(float(errors[best]))
    kept = np.arange(len(values))
    while True:
        share = _simplex(columns[:, kept] / unit, target / unit)
        large = share >= min(_LEAST, share.max())
        if large.all():
            break
        kept = kept[large]
    out = np.zeros(len(values))
    out[kept] = share
    error = float(np.sum((columns @ out - target) ** 2))
    return out if error < (1 - _GAIN) * errors[best] else single


def _simplex(columns: FloatArray, target: FloatArray) -> FloatArray:
    heavy = _HEAVY * (float(np.linalg.norm(columns)) or 1.0)
    A = np.vstack([columns, np.full((1, columns.shape[1]), heavy)])
    share = nnls(A, np.append(target, heavy))[0]
    return np.asarray(share / share.sum())
