"""Rules for saved sums of rows that came in batches: LAPACK adds the next batch in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.persistence.rules import POINTS, are_finite
from kboost.solvers.growing_cholesky import GrowingCholesky


def factor_fits(instance: Any) -> bool:
    """The factor is inside a square buffer of the layout passed to LAPACK."""
    buffer, size = instance._buffer, instance._size
    return (
        buffer.dtype == np.float64
        and bool(buffer.flags.c_contiguous)
        and buffer.shape[0] == buffer.shape[1]
        and 0 <= size <= len(buffer)
    )


def sums_fit(instance: Any) -> bool:
    """Each kernel has a basis and its factor, and the sums have a row per basis vector."""
    n, q, n_kernels = len(instance._kinds), len(instance.bias), len(instance.kernels)
    if not (
        len(instance.centers) == len(instance._factors) == n_kernels
        and all(isinstance(factor, GrowingCholesky) for factor in instance._factors)
        and all(center is None or POINTS.holds(center) for center in instance.centers)
        and bool((instance._kinds >= 0).all() and (instance._kinds < n_kernels).all())
        and instance._G.shape == (n, n)
        and instance._b.shape == instance.coef.shape == (n, q)
        and instance._s.shape == (n,)
        and instance._sum.shape == (q,)
    ):
        return False
    sizes = np.bincount(instance._kinds, minlength=n_kernels).tolist()
    basis = [0 if center is None else center.shape[0] for center in instance.centers]
    centers = [center for center in instance.centers if center is not None]
    return (
        sizes == basis == [factor.size for factor in instance._factors]
        and len({center.shape[1] for center in centers}) <= 1
        and are_finite(
            instance._G, instance._b, instance._s, instance.coef, instance.bias, *centers
        )
    )
