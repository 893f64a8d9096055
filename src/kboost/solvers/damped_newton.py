"""Damped Newton steps for a smooth convex function, with a factor of the Hessian that grows.

    direction = -H^-1 gradient,      x <- x + t direction,

with t small enough to stay in the domain, halved until the function falls enough for the distance
moved. The factor of H keeps the second derivatives of the point where it was made: new variables
are appended, and it is recomputed only when a step with it reduces the gradient too little. So a
few new variables cost a few new rows of the factor, not a new factor.

A Hessian that is nearly singular is factored with a jitter, which would shorten the steps along its
weakest directions by orders of magnitude. The factor is then the preconditioner of conjugate
gradients, whose products with the Hessian are exact.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.solvers.growing_cholesky import GrowingCholesky
from kboost.solvers.newton_cg import Model, newton_direction

_ARMIJO = 1e-4  # share of the decrease predicted by the gradient
_HALVINGS = 60
_REDUCTION = 0.1  # of the gradient per step, else the factor is recomputed
_ROUNDING = 1e-15  # relative rounding of a value
_INNER, _INNER_TOL = 100, 1e-6  # steps of conjugate gradients, and the fall of squared residuals


class SmoothFunction(Protocol):
    """A smooth strictly convex function of k variables."""

    def value(self, x: FloatArray) -> float:
        """The value at x."""

    def gradient(self, x: FloatArray) -> FloatArray:
        """The first derivatives, (k,)."""

    def reach(self, x: FloatArray, direction: FloatArray) -> float:
        """The longest step along a direction in the domain."""

    def curvature(self, x: FloatArray) -> Any:
        """What `block` needs for second derivatives at x."""

    def block(self, curvature: Any, rows: IntArray, columns: IntArray) -> FloatArray:
        """Second derivatives at the x of `curvature`, (len(rows), len(columns))."""

    def product(self, curvature: Any, direction: FloatArray) -> FloatArray:
        """Second derivatives at the x of `curvature` times a direction, (k,)."""


class DampedNewton:
    """A factor of the Hessian, kept while the function only gains variables."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Recompute the factor in the next step: the function has changed."""
        self._factor = GrowingCholesky()
        self._curvature: Any = None
        self._jittered = False

    def minimise(
        self, g: SmoothFunction, x: FloatArray, *, tol: float, max_steps: int
    ) -> tuple[FloatArray, float]:
        """A point with no derivative above `tol`, and the largest derivative there.

        The latter is 0 if rounding of the values allows no further step.
        """
        value, gradient = g.value(x), g.gradient(x)
        gradient_size = float(np.abs(gradient).max(initial=0.0))
        for _ in range(max_steps):
            if gradient_size <= tol:
                break
            fresh = self._grow(g, x)
            moved = _step(g, x, value, gradient, self._direction(g, value, gradient))
            if moved is None:
                self.forget()
                if fresh:
                    return x, 0.0
                continue
            fall = value - moved[1]
            x, value = moved
            gradient, before = g.gradient(x), gradient_size
            gradient_size = float(np.abs(gradient).max(initial=0.0))
            if gradient_size > _REDUCTION * before:
                self.forget()
                if fresh and fall <= _ROUNDING * abs(value):
                    return x, 0.0
        return x, gradient_size

    def _direction(self, g: SmoothFunction, value: float, gradient: FloatArray) -> FloatArray:
        """The Newton step."""
        if not self._jittered:
            return -self._factor.solve(gradient)

        def times(direction: FloatArray) -> FloatArray:
            return g.product(self._curvature, direction[:, 0])[:, None]

        def precondition(residual: FloatArray) -> FloatArray:
            return self._factor.solve(residual[:, 0])[:, None]

        model = Model(value, gradient[:, None], times)
        return newton_direction(model, precondition, _INNER, _INNER_TOL)[0][:, 0]

    def _grow(self, g: SmoothFunction, x: FloatArray) -> bool:
        """Extend the factor to all variables; returns whether it is new."""
        fresh = self._curvature is None
        if fresh:
            self._curvature = g.curvature(x)
        old, new = np.arange(self._factor.size), np.arange(self._factor.size, len(x))
        if len(new):
            cross = g.block(self._curvature, old, new)
            least = self._factor.append(cross, g.block(self._curvature, new, new))
            self._jittered = self._jittered or least == 0.0
        return fresh


def _step(
    g: SmoothFunction, x: FloatArray, value: float, gradient: FloatArray, direction: FloatArray
) -> tuple[FloatArray, float] | None:
    """The next point and its value; None if the function does not fall."""
    slope = float(gradient @ direction)
    t = min(1.0, 0.99 * g.reach(x, direction))
    for _ in range(_HALVINGS if slope < 0 else 0):
        trial = x + t * direction
        trial_value = g.value(trial)
        if trial_value <= value + _ARMIJO * t * slope + _ROUNDING * abs(value):
            return trial, trial_value
        t /= 2
    return None
