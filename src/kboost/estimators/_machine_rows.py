"""What every machine of two sides asks of its rows and kernels before a duel begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost.estimators._rows import MergedRows
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel

_SAMPLE = 200  # rows that a claim is checked on
_ROUNDING = 1e-5  # of the largest value: matrices in float32 are good


def check_two_classes(classes: Any, rows: MergedRows) -> None:
    """Refuse rows that have nobody to fight."""
    if len(np.unique(rows.codes)) < 2:
        raise ValueError(
            "y must have at least two classes with a positive weight; got one class, "
            f"{classes[rows.codes[0]]}."
        )


def machine_kernels(
    estimator: Any, rows: MergedRows, centers: Any, n_input_rows: int
) -> Sequence[Kernel]:
    """The kernels of an estimator, resolved on its rows; each must be positive semidefinite.

    `centers` are the rows as the second argument of a kernel.
    """
    names = getattr(estimator, "feature_names_in_", None)
    kernels = as_kernels(estimator.kernels, rows.X, rows.weight, names, n_input_rows)
    if not all(kernel.is_psd for kernel in kernels):
        raise ValueError(
            "kernels must be positive semidefinite for a support vector machine; "
            f"got kernels={estimator.kernels!r}."
        )
    for kernel in kernels:
        if any(callable(pairing.kind) for pairing in kernel.pairings):
            _check_claim(kernel, rows, centers)
    return kernels


def _check_claim(kernel: Kernel, rows: MergedRows, centers: Any) -> None:
    """Refuse a function or matrix of the user's that is not what it must be, on some of the rows.

    The signed duals v of a machine sum to 0, so it is enough that v'Kv is never negative for such
    v: an offset may be missing.
    """
    n = len(rows.weight)
    some = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    K = kernel(rows.X[some], centers[some])
    most = float(np.abs(K).max())
    apart = np.abs(K - K.T)
    if apart.max() > _ROUNDING * most:
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        raise ValueError(
            f"kernels must be symmetric; got {kernel!r} with k(x, z) = {K[i, j]:g} and "
            f"k(z, x) = {K[j, i]:g} at training rows."
        )
    centred = K - K.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    values = np.linalg.eigvalsh((centred + centred.T) / 2)
    if values[0] < -_ROUNDING * most:
        raise ValueError(
            f"kernels must be positive semidefinite for a support vector machine; got {kernel!r} "
            f"with eigenvalues from {values[0]:.3g} to {values[-1]:.3g} at training rows (centred)."
        )
