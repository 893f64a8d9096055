"""Kernels scaled to a common unit, so that one C suits all of them.

    "mean"    k / m,      m = sum_i w_i k(x_i, x_i) / W     the mean diagonal is 1
    "trace"   k / (W m)                                     the trace is 1

Under "trace" the diagonal decreases with the number of rows, and so does the effect of a given C.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.algebra import scale
from kboost.kernels.base import Kernel

_ROUNDING = 1e-9  # of the largest k(x, x)


def normalized(
    kernels: Sequence[Kernel],
    diagonals: Sequence[FloatArray],
    weight: FloatArray,
    how: str | None,
) -> tuple[Kernel, ...]:
    """Return the kernels scaled to a unit; ``how=None`` leaves them unchanged.

    Parameters
    ----------
    kernels : sequence of Kernel
        Resolved kernels.
    diagonals : sequence of ndarray of shape (n,)
        ``k(x_i, x_i)`` of each kernel at the training rows.
    weight : ndarray of shape (n,)
        Weights of the rows.
    how : {"mean", "trace"} or None
        The unit.

    Returns
    -------
    tuple of Kernel
        Multiples of the kernels; a kernel whose diagonal is 0 is unchanged.

    Raises
    ------
    ValueError
        If a diagonal is negative, or too small to be scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> normalized([Linear()], [Linear().diag(X)], np.ones(2), "mean")
    (0.4 * Linear(),)
    """
    for kernel, diagonal in zip(kernels, diagonals, strict=True):
        if diagonal.min() < -_ROUNDING * np.abs(diagonal).max():
            raise ValueError(
                "kernels must be positive semidefinite for a support vector machine; got "
                f"{kernel!r} with k(x, x) = {diagonal.min():g} at a training row."
            )
    if how is None:
        return tuple(kernels)
    total = float(weight.sum()) if how == "mean" else 1.0
    pairs = zip(kernels, diagonals, strict=True)
    return tuple(_in_unit(kernel, float(weight @ diagonal), total) for kernel, diagonal in pairs)


def _in_unit(kernel: Kernel, trace: float, total: float) -> Kernel:
    if trace <= 0:
        return kernel
    factor = total / trace
    if factor == math.inf:
        raise ValueError(
            f"{kernel!r} must have larger values to be scaled; got a mean diagonal of {trace:g}; "
            "scale the features, or use on='standard'."
        )
    return scale(factor, kernel)
