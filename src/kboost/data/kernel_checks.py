"""Checks on a sample of rows that user-defined kernels are symmetric and positive semidefinite.

Rounding is tolerated: a matrix in float32 may have slightly negative eigenvalues. A penalty `z'Qz`
in its RKHS could then be negative, whatever the ridge. So a nugget is added to Q, `Q + nugget I`,
which makes all eigenvalues positive: about the rounding error of the largest entry times the square
root of the number of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.kernels.base import Kernel

_SAMPLE = 200  # rows on which a kernel is checked
_ROUNDING = 1e-5  # tolerance relative to the largest value, which admits float32 matrices
_EXACT = 1e-10  # relative rounding error of float64
_MARGIN = 1.2  # safety factor on the norm of a matrix of rounding errors


def is_user_kernel(kernel: Kernel) -> bool:
    """Whether a kernel contains a function or precomputed matrix of the user."""
    return any(callable(pairing.kind) for pairing in kernel.pairings)


def check_symmetric_psd(
    kernel: Kernel, X: Any, centers: Any, purpose: str, *, centred: bool
) -> None:
    """Raise if a kernel is not symmetric or not positive semidefinite on a sample of the rows.

    `centers` are the rows as the second argument of the kernel. If `centred`, v'Kv must be
    nonnegative only for v that sum to 0 (conditionally positive definite).
    """
    K = _sample_matrix(kernel, X, centers)
    largest = float(np.abs(K).max(initial=0.0))
    asymmetry = np.abs(K - K.T)
    if asymmetry.max(initial=0.0) > _ROUNDING * largest:
        i, j = np.unravel_index(int(asymmetry.argmax()), asymmetry.shape)
        raise ValueError(
            f"kernels must be symmetric; got {kernel!r} with k(x, z) = {K[i, j]:g} and "
            f"k(z, x) = {K[j, i]:g} at training rows."
        )
    if centred:
        K = K - K.mean(axis=0)
        K = K - K.mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    if values[0] < -_ROUNDING * largest:
        what = "centred training rows" if centred else "training rows"
        raise ValueError(
            f"kernels must be positive semidefinite for {purpose}; got {kernel!r} "
            f"with eigenvalues from {values[0]:.3g} to {values[-1]:.3g} at {what}."
        )


def nugget_of(kernel: Kernel, X: Any, centers: Any, n_columns: int, *, single: bool) -> float:
    """What to add to the diagonal of Q for a rounded matrix; 0 if it is not rounded.

    A matrix is rounded if its entries are float32 (`single`) or its negative eigenvalues show it.
    """
    K = _sample_matrix(kernel, X, centers)
    largest = float(np.abs(K).max(initial=0.0))
    below = -float(np.linalg.eigvalsh((K + K.T) / 2)[0] / np.sqrt(len(K)))
    if not single and below <= _EXACT * largest:
        return 0.0
    entry = max(below, float(np.finfo(np.float32).eps) / 2 * largest if single else 0.0)
    return _MARGIN * entry * float(np.sqrt(n_columns))


def sample_rows(n: int) -> IntArray:
    """Evenly spaced indices below n, of the rows on which a kernel is checked."""
    return np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)


def _sample_matrix(kernel: Kernel, X: Any, centers: Any) -> FloatArray:
    rows = sample_rows(X.shape[0])
    return kernel(X[rows], centers[rows])


def check_psd(kernels: Sequence[Any]) -> None:
    """Raise if a kernel is not positive semidefinite and so has no RKHS."""
    for kernel in kernels:
        if not kernel.is_psd:
            raise ValueError(
                "kernels must be positive semidefinite for a penalty in their RKHS; "
                f"got {kernel!r}."
            )
