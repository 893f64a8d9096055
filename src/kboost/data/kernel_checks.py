"""Functions and matrices of the user's are kernels by claim; some of the rows tell.

Rounding is no offence: a matrix in float32 has eigenvalues that are negative by what it rounds. A
penalty `z'Qz` in its RKHS would be negative there, and be lost, or worse, whatever the ridge. So
the Q of these matrices gets a nugget, `Q + nugget I`, which lifts all eigenvalues above what
rounding does to them: about its largest entry times the root of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.kernels.base import Kernel

_SAMPLE = 200  # rows that a claim is checked on
_ROUNDING = 1e-5  # of the largest value: matrices in float32 are good
_EXACT = 1e-10  # of it: what rounding in float64 explains
_MARGIN = 1.2  # over the norm of a matrix of rounding


def is_user_kernel(kernel: Kernel) -> bool:
    """Whether a kernel is, or is made of, functions or matrices of the user's."""
    return any(callable(pairing.kind) for pairing in kernel.pairings)


def check_symmetric_psd(
    kernel: Kernel, X: Any, centers: Any, purpose: str, *, centred: bool
) -> None:
    """Refuse what is not symmetric, or not positive semidefinite, on some of the rows.

    `centers` are the rows as the second argument of a kernel. `centred`: it is enough that v'Kv is
    never negative for v that sum to 0, so that an offset may be missing.
    """
    K = _some(kernel, X, centers)
    most = float(np.abs(K).max(initial=0.0))
    apart = np.abs(K - K.T)
    if apart.max(initial=0.0) > _ROUNDING * most:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ValueError(
            f"kernels must be symmetric; got {kernel!r} with k(x, z) = {K[i, j]:g} and "
            f"k(z, x) = {K[j, i]:g} at training rows."
        )
    if centred:
        K = K - K.mean(axis=0)
        K = K - K.mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh((K + K.T) / 2)
    if values[0] < -_ROUNDING * most:
        end = " (centred)." if centred else "."
        raise ValueError(
            f"kernels must be positive semidefinite for {purpose}; got {kernel!r} "
            f"with eigenvalues from {values[0]:.3g} to {values[-1]:.3g} at training rows{end}"
        )


def nugget_of(kernel: Kernel, X: Any, centers: Any, n_columns: int, *, single: bool) -> float:
    """What to add to the diagonal of Q for a matrix that is rounded, 0 for one that is not.

    `single` says that its entries are of float32; else its negative eigenvalues do.
    """
    K = _some(kernel, X, centers)
    most = float(np.abs(K).max(initial=0.0))
    below = -float(np.linalg.eigvalsh((K + K.T) / 2)[0] / np.sqrt(len(K)))
    if not single and below <= _EXACT * most:
        return 0.0
    entry = max(below, float(np.finfo(np.float32).eps) / 2 * most if single else 0.0)
    return _MARGIN * entry * float(np.sqrt(n_columns))


def sample_rows(n: int) -> IntArray:
    """Rows, of n, that a claim is checked on."""
    return np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)


def _some(kernel: Kernel, X: Any, centers: Any) -> FloatArray:
    some = sample_rows(X.shape[0])
    return kernel(X[some], centers[some])


def check_psd(kernels: Sequence[Any]) -> None:
    """Refuse kernels that have no RKHS."""
    if not all(kernel.is_psd for kernel in kernels):
        raise ValueError(
            "kernels must be positive semidefinite for a penalty in their RKHS; leave out the one "
            "that is not (Sigmoid, say)."
        )
