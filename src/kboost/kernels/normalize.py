"""Kernels in a common unit, so that one price of errors suits them all.

    "mean"    k / m,      m = sum_i w_i k(x_i, x_i) / W     the mean diagonal is 1
    "trace"   k / (W m)                                     the trace is 1

Under "trace" the diagonal shrinks with the number of rows, and with it what a given C can do.
"""

from __future__ import annotations

from collections.abc import Sequence

from kboost._typing import FloatArray
from kboost.kernels.algebra import scale
from kboost.kernels.base import Kernel


def normalized(
    kernels: Sequence[Kernel],
    diagonals: Sequence[FloatArray],
    weight: FloatArray,
    how: str | None,
) -> tuple[Kernel, ...]:
    """Return the kernels in the unit asked for; None leaves them as they are.

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
        Multiples; a kernel without a positive diagonal stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import Linear
    >>> X = np.array([[1.0], [2.0]])
    >>> normalized([Linear()], [Linear().diag(X)], np.ones(2), "mean")
    (0.4 * Linear(),)
    """
    if how is None:
        return tuple(kernels)
    total = weight.sum() if how == "mean" else 1.0
    traces = [float(weight @ diagonal) for diagonal in diagonals]
    return tuple(
        scale(float(total / trace), kernel) if trace > 0 else kernel
        for kernel, trace in zip(kernels, traces, strict=True)
    )
