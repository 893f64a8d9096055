"""Cholesky factors of small matrices, without the checks of SciPy's functions.

Solvers factor a matrix of some dozens of rows at each of their steps, and the checks would take
longer than LAPACK does. Larger matrices: _lapack.py.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from kboost._typing import FloatArray


def factor_lower(matrix: FloatArray) -> FloatArray:
    """The factor in the lower half, of which `matrix` has the lower half; it is overwritten."""
    if not matrix.size:
        return matrix
    factor, info = lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
    if info > 0:
        raise np.linalg.LinAlgError(f"not positive definite at row {info}.")
    result: FloatArray = factor
    return result


def solve_factored(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with the factored matrix; `right` is (k,) or (k, q)."""
    if not right.size:  # LAPACK rejects it
        return right
    result: FloatArray = lapack.dpotrs(factor, right, lower=1)[0]
    return result
