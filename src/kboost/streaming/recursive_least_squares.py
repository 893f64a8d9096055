"""Least squares on a growing basis when rows come in batches and are not kept (kernel RLS).

    minimise  1/2 sum_i w_i |y_i - bias - k(x_i)' z|^2 + ridge/2 z' Q z     over all rows seen

Only sums over the rows are kept: `G = K'WK`, `b = K'Wy`, `s = K'W1`, with a column per basis
vector, and the sums of w and wy. The rows of a batch are first tested for the basis, in their
order:

    ald   novelty(x) = k(x, x) - k_M(x)' Q_M^-1 k_M(x) > threshold
    ran   novelty(x) * w |y - f(x)|^2 / 2 > threshold, in variances of the targets seen

The column of a new basis vector at earlier rows is not available, but those rows are near the span
of the basis (ALD ensures that), so the column is projected: with `A = Q_M^-1 Q_M,new`

    G <- [ G     G A   ]      b <- [ b   ]      s <- [ s   ]
         [ A'G   A'G A ]           [ A'b ]           [ A's ]

Then the batch is added to the sums exactly, and the coefficients are solved for. Q is block
diagonal, one block per kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kboost._typing import FloatArray
from kboost.columns.hypothesis import stack_rows
from kboost.data.kernel_checks import check_psd
from kboost.kernels.base import Kernel
from kboost.solvers.growing_cholesky import GrowingCholesky

_JITTER = 1e-10
_LEAST = 1e-8  # of k(x, x): least novelty of a basis vector
_ROWS = 4096  # added to the sums at a time


class RecursiveLeastSquares:
    """The basis of each kernel, the sums over the rows, and the model."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        ridge: float,
        n_outputs: int,
        *,
        intercept: bool,
        useful: bool,
        threshold: float,
        max_columns: int,
        is_sparse: bool = False,
    ) -> None:
        check_psd(kernels)
        self.kernels, self.ridge = tuple(kernels), ridge
        self._intercept, self._useful, self.is_sparse = intercept, useful, is_sparse
        self._threshold, self._max_columns = threshold, max_columns
        self.centers: list[Any] = [None for _ in kernels]  # (m_p, d) per kernel
        self._factors = [GrowingCholesky() for _ in kernels]
        self._kinds = np.zeros(0, dtype=np.intp)
        self._G, self._b, self._s = np.zeros((0, 0)), np.zeros((0, n_outputs)), np.zeros(0)
        self._weight, self._sum, self._square = 0.0, np.zeros(n_outputs), 0.0
        self.n_batches = 0
        self.coef, self.bias = np.zeros((0, n_outputs)), np.zeros(n_outputs)

    @property
    def size(self) -> int:
        """Number of basis vectors."""
        return len(self._kinds)

    def add(self, X: Any, targets: FloatArray, weight: FloatArray) -> None:
        """Add a batch of rows."""
        self.n_batches += 1
        self._weight += float(weight.sum())
        self._sum = self._sum + weight @ targets
        self._square += float(weight @ np.sum(targets**2, axis=1))
        use = self._use(X, targets, weight)
        for p in range(len(self.kernels)):
            self._extend(p, X, use)
        for start in range(0, X.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            K, w = self._columns(X[rows]), weight[rows]
            self._G += K.T @ (w[:, None] * K)
            self._b += K.T @ (w[:, None] * targets[rows])
            self._s += w @ K
        self._solve()

    def copy(self) -> RecursiveLeastSquares:
        """An independent copy."""
        return deepcopy(self)

    def decision(self, X: Any) -> FloatArray:
        """The model at rows, (n, q)."""
        return self._columns(X) @ self.coef + self.bias

    def part(self, p: int) -> tuple[Any, FloatArray]:
        """Centres and coefficients of one kernel."""
        return self.centers[p], self.coef[self._kinds == p]

    def _columns(self, X: Any) -> FloatArray:
        out = np.empty((X.shape[0], self.size))
        for p, kernel in enumerate(self.kernels):
            if self.centers[p] is not None:
                out[:, self._kinds == p] = kernel(X, self.centers[p])
        return out

    def _use(self, X: Any, targets: FloatArray, weight: FloatArray) -> FloatArray:
        """The factor of the novelty: half the squared error of each row, or 1."""
        if not self._useful:
            return np.ones(X.shape[0])
        away = targets - self.decision(X)
        use: FloatArray = 0.5 * weight * np.sum(away**2, axis=1) / self._variance()
        return use

    def _extend(self, p: int, X: Any, use: FloatArray) -> None:
        """Add the rows that pass the test to the basis."""
        kernel, factor, centers = self.kernels[p], self._factors[p], self.centers[p]
        norm = kernel.diag(X)
        cross = np.zeros((0, X.shape[0])) if centers is None else kernel(centers, X)
        half = factor.half_solve(cross) if factor.size else cross
        novelty = norm - np.einsum("ij,ij->j", half, half)
        accepted: list[int] = []
        for i in range(X.shape[0]):
            if self.size + len(accepted) >= self._max_columns:
                break
            if novelty[i] <= _LEAST * norm[i] or novelty[i] * use[i] <= self._threshold:
                continue
            row = (kernel(X[[i]], X)[0] - half[:, i] @ half) / np.sqrt(novelty[i])
            half = np.vstack([half, row])
            novelty = novelty - row**2
            accepted.append(i)
        if accepted:
            self._grow(p, X[accepted], cross[:, accepted])

    def _grow(self, p: int, centers: Any, cross: FloatArray) -> None:
        """Extend the sums to new columns, by projection."""
        kernel, factor, known = self.kernels[p], self._factors[p], self.centers[p]
        old, count = np.flatnonzero(self._kinds == p), centers.shape[0]
        A = factor.solve(cross) if factor.size else np.zeros((0, count))
        beside = self._G[:, old] @ A
        corner = A.T @ self._G[np.ix_(old, old)] @ A
        self._G = np.block([[self._G, beside], [beside.T, corner]])
        self._b = np.vstack([self._b, A.T @ self._b[old]])
        self._s = np.concatenate([self._s, A.T @ self._s[old]])
        factor.append(cross, kernel(centers))
        self.centers[p] = centers if known is None else stack_rows([known, centers])
        self._kinds = np.concatenate([self._kinds, np.full(count, p)])

    def _solve(self) -> None:
        Q = np.zeros_like(self._G)
        for p, kernel in enumerate(self.kernels):
            block = np.flatnonzero(self._kinds == p)
            if len(block):
                Q[np.ix_(block, block)] = kernel(self.centers[p])
        mean = self._sum / self._weight if self._intercept else np.zeros_like(self._sum)
        average = self._s / self._weight if self._intercept else np.zeros_like(self._s)
        # the bias is eliminated by centring columns and targets
        G = self._G - self._weight * np.outer(average, average) + self.ridge * Q
        right = self._b - self._weight * np.outer(average, mean)
        G[np.diag_indices(len(G))] += _JITTER * np.trace(G) / max(1, len(G))
        if len(G):
            self.coef = cho_solve(cho_factor((G + G.T) / 2, lower=True), right)
        self.bias = mean - average @ self.coef if len(G) else mean

    def _variance(self) -> float:
        mean = self._sum / self._weight
        variance = self._square / self._weight - float(mean @ mean)
        return variance if variance > 0 else 1.0
