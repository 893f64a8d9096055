"""A preconditioner for ridge problems: the normal matrix on a sample of rows, growing by columns.

    P = bound (W / W_r) [1 F]_r' W_r [1 F]_r + ridge diag(0, Q) = L L'

The sample is the first r rows of F. Products are float32 as long as F is and the pivots of P exceed
the rounding of such products; otherwise all of P is formed again in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.solvers.growing_cholesky import GrowingCholesky

_LEAST_PIVOT = 2e-7  # over its diagonal, of products in float32
_ROWS_PER_COLUMN = 2
_LEAST_ROWS = 2000


class SampledPreconditioner:
    """P for `capacity` columns; `weight` is that of all rows."""

    def __init__(
        self,
        design: Any,
        weight: FloatArray,
        capacity: int,
        *,
        bound: float,
        ridge: float,
        fit_intercept: bool,
    ) -> None:
        self._design, self._ridge, self._first = design, ridge, int(fit_intercept)
        sampled = weight[: max(_ROWS_PER_COLUMN * capacity, _LEAST_ROWS)]
        self._weight = bound * sampled * (weight.sum() / sampled.sum())
        self._factor = GrowingCholesky(capacity + 1)
        self.rough = bool(design.is_float32)  # whether products are float32
        self.least = 1.0  # least pivot over its diagonal
        if fit_intercept:
            self._factor.append(np.zeros((0, 1)), np.array([[self._weight.sum()]]))

    @property
    def size(self) -> int:
        """The number of columns with the bias."""
        return self._factor.size

    def solve(self, right: FloatArray) -> FloatArray:
        return self._factor.solve(right)

    def grow(self, size: int, inner: FloatArray) -> bool:
        """Add the columns of the design after the first `size`; `inner` is their Q, (all, new).

        Returns False if float32 products are not accurate enough: then call `restart`.
        """
        dtype = np.float32 if self.rough else np.float64
        unit = float(self._weight.max())
        gram, total = np.zeros(inner.shape), np.zeros((1, inner.shape[1]))
        product = np.empty((size, inner.shape[1]), dtype=dtype)  # allocated once
        for rows, columns in self._design.first_rows(len(self._weight), dtype):
            root = np.sqrt(self._weight[rows, None] / unit).astype(dtype)
            half = root * columns[:, size:]
            whole = root * half
            gram[:size] += np.matmul(columns[:, :size].T, whole, out=product)
            gram[size:] += half.T @ half  # symmetric: NumPy computes one triangle
            total += whole.sum(axis=0)
        gram *= unit
        gram += self._ridge * inner
        cross = np.vstack([unit * total, gram[:size]]) if self._first else gram[:size]
        least = self._factor.append(cross, gram[size:])
        self.least = min(self.least, least)
        return not self.rough or least >= _LEAST_PIVOT

    def restart(self, inner: FloatArray) -> None:
        """Form P again in float64; `inner` is all of Q."""
        self.rough = False
        self._factor.truncate(self._first)
        self.grow(0, inner)
