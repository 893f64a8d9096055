"""Iteratively reweighted least squares: a convex loss on a basis with a ridge, by Newton's method.

    minimise  sum_i w_i loss(y_i, f_i) + ridge/2 z' Q z,    f = offset + b + F z,   F (n, m)

in coordinates u of an orthonormal basis, `z = V S^-1/2 u` with `Q = V S V'`, where the penalty is
`ridge/2 |u|^2` and nearly dependent columns do no harm. A step solves

    (A'A) d = -gradient,    A = [ C^1/2 [1 G] ; (0, ridge^1/2 I) ],   G = F V S^-1/2,   C = w loss''

by the R of a QR factorisation of A: no squares are formed. The step length is the minimum along d,
which costs products with n numbers only; halved steps would end far above the optimum for the
squared hinge, whose second derivative jumps (Keerthi and DeCoste: A modified finite Newton method
for fast solution of large scale linear SVMs, JMLR 6, 2005). Outputs are solved one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular
from scipy.optimize import brentq

from kboost._typing import FloatArray

_RANK = 1e-15  # of the largest eigenvalue of Q: smaller ones are rounding
_TOL = 1e-10  # decrement relative to the value
_STEPS = 500  # the squared hinge may need hundreds, each on few rows
_DOUBLINGS = 30  # of a step
_FLAT = 0.1  # of the first slope: a full step that reduces it to this is accepted
_TINY = 1e-14  # of the largest entry of A: keeps directions without curvature finite


class ResidualLoss(Protocol):
    """A convex loss of one number; `slope` is minus its derivative."""

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray: ...
    def slope(self, y: FloatArray, f: FloatArray) -> FloatArray: ...
    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class _Output:
    """One output in the coordinates u, with the bias first if there is one."""

    G: FloatArray  # (n, k), ones in front if there is a bias
    penalty: FloatArray  # (k,), ridge, 0 for the bias
    y: FloatArray
    offset: FloatArray
    weight: FloatArray
    loss: ResidualLoss

    def value(self, u: FloatArray, f: FloatArray) -> float:
        loss = float(self.weight @ self.loss.value(self.y, f))
        return loss + 0.5 * float(self.penalty @ u**2)

    def gradient(self, u: FloatArray, f: FloatArray) -> FloatArray:
        found: FloatArray = self.penalty * u - self.G.T @ (self.weight * self.loss.slope(self.y, f))
        return found

    def direction(self, f: FloatArray, gradient: FloatArray) -> FloatArray:
        root_curvature = np.sqrt(self.weight * self.loss.curvature(self.y, f))
        curved = root_curvature > 0
        above = root_curvature[curved, None] * self.G[curved]
        root = np.sqrt(self.penalty)
        largest = max(float(np.abs(above).max(initial=0.0)), float(root.max(initial=0.0)))
        A = np.vstack([above, np.diag(np.maximum(root, _TINY * largest))])
        (R,) = qr(A, mode="r", overwrite_a=True, check_finite=False)
        R = R[: A.shape[1]]
        half = solve_triangular(R, gradient, trans=1, check_finite=False)
        found: FloatArray = -solve_triangular(R, half, check_finite=False)
        return found

    def length(self, u: FloatArray, f: FloatArray, du: FloatArray) -> float:
        """The step length that minimises the value along `du`."""
        df = self.G @ du

        def slope(t: float) -> float:
            penalty_slope = self.penalty * (u + t * du)
            loss_slope = self.weight * self.loss.slope(self.y, f + t * df)
            return float(du @ penalty_slope) - float(df @ loss_slope)

        start, end = slope(0.0), 1.0
        if not start < 0:
            return 0.0
        if abs(slope(end)) <= -_FLAT * start:
            return end
        for _ in range(_DOUBLINGS):
            if slope(end) > 0:
                return float(brentq(slope, 0.0, end, rtol=1e-4, xtol=1e-12))
            end *= 2
        return end


def reweighted_solve(
    F: FloatArray,
    Q: FloatArray,
    y: FloatArray,
    offset: FloatArray,
    weight: FloatArray,
    ridge: float,
    loss: ResidualLoss,
    start: FloatArray,
    *,
    bias: bool,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[FloatArray, float]:
    """The coefficients (m, q), below the bias (1, q) if there is one, as in `start`.

    And the remaining gain by Newton's decrement, if `go_on` or a limit ended it early.
    """
    values, vectors = eigh(Q)
    kept = values > _RANK * values.max(initial=0.0)
    root, vectors = np.sqrt(values[kept]), vectors[:, kept]
    G, first = F @ (vectors / root), int(bias)
    penalty = np.full(len(root), ridge)
    if bias:
        G, penalty = np.hstack([np.ones((len(F), 1)), G]), np.concatenate([[0.0], penalty])
    found, remaining_gain = [], 0.0
    for k in range(y.shape[1]):
        output = _Output(G, penalty, y[:, k], offset[:, k], weight, loss)
        z = start[:, k]
        u = np.concatenate([z[:first], root * (vectors.T @ z[first:])])
        u, output_gain = _newton(output, u, go_on)
        found.append(np.concatenate([u[:first], vectors @ (u[first:] / root)]))
        remaining_gain += output_gain
    return np.column_stack(found), remaining_gain


def _newton(at: _Output, u: FloatArray, go_on: Callable[[], bool]) -> tuple[FloatArray, float]:
    """The minimum, and half of Newton's decrement if it was not reached."""
    f = at.offset + at.G @ u
    value, has_fallen = at.value(u, f), True
    for step in range(_STEPS + 1):
        gradient = at.gradient(u, f)
        du = at.direction(f, gradient)
        decrement = max(0.0, -float(gradient @ du))
        if decrement <= _TOL * value:
            return u, 0.0
        if not has_fallen or step == _STEPS or not go_on():
            break
        new_u = u + at.length(u, f, du) * du
        new_f = at.offset + at.G @ new_u
        new_value = at.value(new_u, new_f)
        has_fallen = new_value < value
        if has_fallen:
            u, f, value = new_u, new_f, new_value
    return u, decrement / 2
