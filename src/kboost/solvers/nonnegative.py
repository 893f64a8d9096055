"""Least squares with nonnegative coefficients, for any shape.

    minimise |A x - b|^2   subject to  x >= 0

SciPy's `nnls` writes outside its memory if A has fewer rows than columns (seen with 1.17: the
process aborts). Rows of zeros change nothing, and make A high enough.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from kboost._typing import FloatArray


def nonnegative_least_squares(
    A: FloatArray, b: FloatArray, max_steps: int | None = None
) -> FloatArray:
    """The coefficients."""
    missing = max(0, A.shape[1] - A.shape[0])
    A = np.vstack([A, np.zeros((missing, A.shape[1]))])
    coef: FloatArray = nnls(A, np.append(b, np.zeros(missing)), maxiter=max_steps)[0]
    return coef
