"""Leave-one-out errors of kernel ridge regression, for many ridges from one eigendecomposition.

With `C = W^1/2 K W^1/2 + ridge I` and `t = W^1/2 y`, the weighted error of row i in the fit without
it is `(C^-1 t)_i / (C^-1)_ii`; the eigenvectors of the first term serve every ridge.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from kboost._typing import FloatArray


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
