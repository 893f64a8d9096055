"""The support vector machine at given kernel weights: its value, gradient and certificate.

Multiple kernel learning, with kernel matrices K_j, signs s and upper = C x row weight:

    minimise over theta >= 0, |theta|_p <= 1     J(theta) = max_u  sum u - 1/2 theta'S(u)
    S_j(u) = v'K_j v,   v = s u,                            0 <= u <= upper,   s'u = 0

J is a maximum of linear functions, so it is convex, and at the best u its gradient is -S/2. Every
SVM gives two bounds:

    above   the primal value P = 1/2 theta'S + upper'max(0, 1 - s (f + bias)), f = sum theta_j K_j v
    below   t sum u - t^2/2 |S|_q <= J*, for any u and 0 <= t <= 1; 1/p + 1/q = 1 (p = 1: max_j S_j)

The gap is therefore proven at any accuracy of the SVM; for an exact SVM it is the papers'
1/2 (|S|_q - theta'S).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.solvers.libsvm import MOST_STEPS, solve_dual
from kboost.solvers.svm_active_set import DualPoint, balanced, best_multiple, certified, from_guess

_SHARE = 0.05  # accuracy of the SVMs relative to the tolerance of the weights
_BEST = 1e-9  # best relative accuracy that is requested
_LOOSE, _TIGHT = 1e-3, 1e-8  # tolerances of libsvm
_MAX_FAILURES = 3  # of warm starts in a row, after which none is tried


@dataclass(frozen=True)
class MKLPoint:
    """Kernel weights and the SVM at them."""

    theta: FloatArray  # (P,)
    duals: FloatArray  # (n,)
    bias: float
    quadratic: FloatArray  # (P,), S
    products: FloatArray  # (P, n), K_j v
    value: float  # of the dual
    upper: float  # of the primal

    @property
    def gradient(self) -> FloatArray:
        """The gradient of J, (P,)."""
        return -self.quadratic / 2

    def lower_bound(self, p: float) -> float:
        """The lower bound of the optimum that these duals prove."""
        total = float(self.duals.sum())
        size = dual_norm(self.quadratic, p)
        t = min(1.0, total / size) if size > 0 else 1.0
        return t * total - t * t / 2 * size


def dual_norm(quadratic: FloatArray, p: float) -> float:
    """|S|_q, 1/p + 1/q = 1: the largest theta'S."""
    order: Any = np.inf if p == 1.0 else p / (p - 1.0)
    largest = float(quadratic.max(initial=0.0))
    return largest * float(np.linalg.norm(quadratic / largest, order)) if largest > 0 else 0.0


class MixtureSVM:
    """SVMs on weighted sums of the same matrices, each started from the last one."""

    def __init__(
        self,
        matrices: FloatArray,
        signs: FloatArray,
        upper: FloatArray,
        tol: float,
        deadline: Deadline = NO_LIMIT,
    ) -> None:
        """Take kernel matrices (P, n, n) and the tolerance of the kernel weights.

        The deadline is checked before every SVM.
        """
        self.matrices, self.signs, self.upper = matrices, signs, upper
        self.accuracy = max(_SHARE * tol, _BEST)
        self.n_solved = 0
        self._deadline = deadline
        self._failures = 0
        self._last: FloatArray | None = None
        self._libsvm_tol = _LOOSE

    @property
    def n_kernels(self) -> int:
        return len(self.matrices)

    def mixed(self, theta: FloatArray) -> FloatArray:
        """`sum_j theta_j K_j`, (n, n)."""
        K = np.zeros(self.matrices.shape[1:])
        for j in np.flatnonzero(theta):
            K += theta[j] * self.matrices[j]
        return K

    def at(self, theta: FloatArray) -> MKLPoint:
        """The SVM at these weights."""
        self._deadline.check()
        self.n_solved += 1
        solution = self._solve(self.mixed(theta))
        self._last = solution.duals
        P, n, _ = self.matrices.shape
        v = self.signs * solution.duals
        products = (self.matrices.reshape(P * n, n) @ v).reshape(P, n)
        quadratic = np.maximum(products @ v, 0.0)
        return MKLPoint(
            theta,
            solution.duals,
            solution.bias,
            quadratic,
            products,
            solution.value,
            solution.primal,
        )

    def _solve(self, K: FloatArray) -> DualPoint:
        if self._last is not None and self._failures < _MAX_FAILURES:
            warm = from_guess(K, self.signs, self.upper, self._last, self.accuracy)
            if warm is not None:
                self._failures = 0
                return warm
            self._failures += 1
        return self._solve_cold(K)

    def _solve_cold(self, K: FloatArray) -> DualPoint:
        """By libsvm, with tighter tolerances as needed, refined by Newton's method."""
        best: DualPoint | None = None
        while True:
            seconds_left = self._deadline.remaining
            duals, _, steps = solve_dual(K, self.signs, self.upper, self._libsvm_tol, seconds_left)
            point = certified(K, self.signs, self.upper, balanced(self.signs, self.upper, duals))
            if point.gap > self.accuracy and self._deadline.remaining:
                exact = from_guess(K, self.signs, self.upper, duals, self.accuracy)
                point = exact if exact is not None else point
            if best is None or point.gap < best.gap:
                best = point
            if best.gap <= self.accuracy:
                return best
            late = not self._deadline.remaining
            if self._libsvm_tol <= _TIGHT or steps >= MOST_STEPS or late:
                return best_multiple(K, self.signs, self.upper, best)
            self._libsvm_tol /= 10
