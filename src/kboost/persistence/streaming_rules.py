"""Rules for saved sums of rows that came in batches: LAPACK adds the next batch in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost.persistence.rules import POINTS, are_finite
from kboost.solvers.growing_cholesky import GrowingCholesky


def factor_fits(made: Any) -> bool:
    """The factor is inside a square buffer of the layout that LAPACK is told of."""
    buffer, size = made._buffer, made._size
    return (
        buffer.dtype == np.float64
        and bool(buffer.flags.c_contiguous)
        and buffer.shape[0] == buffer.shape[1]
        and 0 <= size <= len(buffer)
    )


def sums_fit(made: Any) -> bool:
    """Each kernel has a basis and its factor, and the sums have a row per basis vector."""
    n, q, n_kernels = len(made._kinds), len(made.bias), len(made.kernels)
    if not (
        len(made.centers) == len(made._factors) == n_kernels
        and all(isinstance(factor, GrowingCholesky) for factor in made._factors)
        and all(center is None or POINTS.holds(center) for center in made.centers)
        and bool((made._kinds >= 0).all() and (made._kinds < n_kernels).all())
        and made._G.shape == (n, n)
        and made._b.shape == made.coef.shape == (n, q)
        and made._s.shape == (n,)
        and made._sum.shape == (q,)
    ):
        return False
    sizes = np.bincount(made._kinds, minlength=n_kernels).tolist()
    basis = [0 if center is None else center.shape[0] for center in made.centers]
    known = [center for center in made.centers if center is not None]
    return (
        sizes == basis == [factor.size for factor in made._factors]
        and len({center.shape[1] for center in known}) <= 1
        and are_finite(made._G, made._b, made._s, made.coef, made.bias, *known)
    )
