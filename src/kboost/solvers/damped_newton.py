"""SmoothFunction convex minimisation by damped Newton steps on a factor that grows.

    direction = -H^-1 gradient,      x <- x + t direction,

with t at most what keeps x inside the domain, halved until the function falls enough for the
distance moved. The factor of H keeps the second derivatives of where it was made: new variables are
appended to it, and it is made anew only when a step with it does not pay. So a few columns more
cost a few rows more of the factor and not another one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.solvers.growing_cholesky import GrowingCholesky

_ENOUGH = 1e-4  # of the fall that the gradient promises
_HALVINGS = 60
_PAYING = 0.1  # a step with an old factor must leave no more of the gradient than this
_ROUNDING = 1e-15  # of a value: what two evaluations may differ by


class SmoothFunction(Protocol):
    """A smooth strictly convex function of k variables."""

    def value(self, x: FloatArray) -> float:
        """The function itself."""

    def gradient(self, x: FloatArray) -> FloatArray:
        """Its first derivatives, (k,)."""

    def reach(self, x: FloatArray, direction: FloatArray) -> float:
        """The longest step along a direction inside the domain."""

    def curvature(self, x: FloatArray) -> Any:
        """What blocks of second derivatives at x are made from."""

    def block(self, curvature: Any, rows: IntArray, columns: IntArray) -> FloatArray:
        """Second derivatives, (len(rows), len(columns)), of the x that made the curvature."""


class DampedNewton:
    """A factor that stays warm while the function only gains variables."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Make the factor anew next time: the function is another one."""
        self._factor = GrowingCholesky()
        self._curvature: Any = None

    def minimise(
        self, g: SmoothFunction, x: FloatArray, *, tol: float, max_steps: int
    ) -> tuple[FloatArray, float]:
        """A point where no derivative is above `tol`, and the largest that is left.

        0 stands for it where values are too coarse to come any closer.
        """
        value, gradient = g.value(x), g.gradient(x)
        left = float(np.abs(gradient).max(initial=0.0))
        for _ in range(max_steps):
            if left <= tol:
                break
            fresh = self._grow(g, x)
            moved = _step(g, x, value, gradient, -self._factor.solve(gradient))
            if moved is None:
                self.forget()
                if fresh:
                    return x, 0.0
                continue
            fall = value - moved[1]
            x, value = moved
            gradient, before = g.gradient(x), left
            left = float(np.abs(gradient).max(initial=0.0))
            if left > _PAYING * before:
                self.forget()
                if fresh and fall <= _ROUNDING * abs(value):
                    return x, 0.0
        return x, left

    def _grow(self, g: SmoothFunction, x: FloatArray) -> bool:
        """Bring the factor up to the variables of now; says whether it is all new."""
        fresh = self._curvature is None
        if fresh:
            self._curvature = g.curvature(x)
        old, new = np.arange(self._factor.size), np.arange(self._factor.size, len(x))
        if len(new):
            cross = g.block(self._curvature, old, new)
            self._factor.append(cross, g.block(self._curvature, new, new))
        return fresh


def _step(
    g: SmoothFunction, x: FloatArray, value: float, gradient: FloatArray, direction: FloatArray
) -> tuple[FloatArray, float] | None:
    """A point further on and its value; None if the function does not fall."""
    slope = float(gradient @ direction)
    t = min(1.0, 0.99 * g.reach(x, direction))
    for _ in range(_HALVINGS if slope < 0 else 0):
        trial = x + t * direction
        found = g.value(trial)
        if found <= value + _ENOUGH * t * slope + _ROUNDING * abs(value):
            return trial, found
        t /= 2
    return None
