"""A preconditioner for ridge problems: the normal matrix on a sample of rows, growing by columns.

    P = bound (W / W_r) [1 F]_r' W_r [1 F]_r + ridge diag(0, Q) = L L'

The sample is the first r rows of F, three for two columns. If F is float32, products are float32
too, and with `single_factor` also the factor, which takes less than half the time, as long as the
pivots of P exceed the rounding of such products; otherwise all of P is formed again in float64. For
such a factor P is divided by `bound W`, which keeps it in the range of float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from kboost._typing import FloatArray
from kboost.solvers.growing_cholesky import GrowingCholesky

_LEAST_PIVOT = 2e-7  # over its diagonal, in float32; 0 after a jitter
_ROWS_PER_COLUMN = 1.5  # two: a third more time for P, and ten iterations less of 26
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
        single_factor: bool = False,
    ) -> None:
        self._design, self._first = design, int(fit_intercept)
        sampled = weight[: int(max(_ROWS_PER_COLUMN * capacity, _LEAST_ROWS))]
        self._unit = float(bound * weight.sum()) if single_factor else 1.0  # P is divided by it
        self._weight = bound * sampled * (weight.sum() / sampled.sum()) / self._unit
        self._ridge = ridge / self._unit
        self._capacity = capacity + 1
        self.rough = bool(design.is_float32)  # whether products are float32
        self._single_factor = single_factor
        self.least = 1.0  # least pivot over its diagonal
        self._factor = self._empty_factor()

    @property
    def size(self) -> int:
        """The number of columns with the bias."""
        return self._factor.size

    def solve(self, right: FloatArray) -> FloatArray:
        if not (self.rough and self._single_factor):
            return self._factor.solve(right) / self._unit
        size = np.abs(right).max(axis=0, initial=0.0)
        size[size < np.finfo(float).tiny] = 1.0
        solved: FloatArray = self._factor.solve(right / size).astype(np.float64)
        solved *= size / self._unit
        return solved

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
        try:
            least = self._factor.append(cross, gram[size:])
        except (LinAlgError, ValueError):  # indefinite or not finite
            if self.rough:
                return False
            raise
        self.least = min(self.least, least)
        return not self.rough or least >= _LEAST_PIVOT

    def restart(self, inner: FloatArray) -> None:
        """Form P again in float64; `inner` is all of Q."""
        self.rough = False
        self._factor = self._empty_factor()
        self.grow(0, inner)

    def _empty_factor(self) -> GrowingCholesky:
        """The factor of the bias alone, if there is one."""
        single = self.rough and self._single_factor
        factor = GrowingCholesky(self._capacity, np.float32 if single else np.float64)
        if self._first:
            factor.append(np.zeros((0, 1)), np.array([[self._weight.sum()]]))
        return factor
