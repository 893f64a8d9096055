"""The normal matrix of a ridge problem on a sample of its rows, as a preconditioner that grows.

    P = bound (W / W_r) [1 F]_r' W_r [1 F]_r + ridge diag(0, Q) = L L'

The sample are the first r rows of F. Products are of float32 as long as F is and the pivots of P
lie above what rounding makes of them; then all of it is formed again in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.solvers.growing_cholesky import GrowingCholesky

_SOUND = 2e-7  # least pivot, over its diagonal, of products in float32
_SAMPLE = 2  # rows a column
_FEW = 2000  # rows that always take part


class SampledNormal:
    """P, for `capacity` columns; `weight` are those of all rows."""

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
        inside = weight[: max(_SAMPLE * capacity, _FEW)]
        self._weight = bound * inside * (weight.sum() / inside.sum())
        self._factor = GrowingCholesky(capacity + 1)
        self.rough = bool(design.is_float32)  # of float32 products
        self.least = 1.0  # pivot, over its diagonal
        if fit_intercept:
            self._factor.append(np.zeros((0, 1)), np.array([[self._weight.sum()]]))

    @property
    def size(self) -> int:
        """Columns, the bias among them."""
        return self._factor.size

    def solve(self, right: FloatArray) -> FloatArray:
        return self._factor.solve(right)

    def grow(self, size: int, inner: FloatArray) -> bool:
        """The design's columns after the first `size`; `inner` is their Q with all, (all, new).

        False where their float32 products are not sound: then `start_again`.
        """
        dtype = np.float32 if self.rough else np.float64
        unit = float(self._weight.max())
        gram, total = np.zeros(inner.shape), np.zeros((1, inner.shape[1]))
        product = np.empty((size, inner.shape[1]), dtype=dtype)  # memory that is handed out once
        for rows, columns in self._design.first_rows(len(self._weight), dtype):
            root = np.sqrt(self._weight[rows, None] / unit).astype(dtype)
            half = root * columns[:, size:]
            whole = root * half
            gram[:size] += np.matmul(columns[:, :size].T, whole, out=product)
            gram[size:] += half.T @ half  # a square: NumPy forms one triangle of it
            total += whole.sum(axis=0)
        gram *= unit
        gram += self._ridge * inner
        cross = np.vstack([unit * total, gram[:size]]) if self._first else gram[:size]
        least = self._factor.append(cross, gram[size:])
        self.least = min(self.least, least)
        return not self.rough or least >= _SOUND

    def start_again(self, inner: FloatArray) -> None:
        """In float64: what is rounded would spoil what comes later. `inner` is all of Q."""
        self.rough = False
        self._factor.truncate(self._first)
        self.grow(0, inner)
