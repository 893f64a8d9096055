"""The losses of the SYB family, for targets (n, q) and decision values (n, q), without weights.

    squared    1/2 (y - f)^2          regression, or labels -1 and 1
    log        log(1 + exp(-y f))     labels -1 and 1
    hinge      max(0, 1 - y f)^2      labels -1 and 1; the squared hinge of the papers

Each has a bound on its second derivative: the quadratic problem with that curvature lies above the
true one and is the preconditioner of Newton's method.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kboost._typing import FloatArray


class Loss(Protocol):
    """A convex loss of one number."""

    bound: float  # of the second derivative
    quadratic: bool  # the second derivative equals the bound everywhere

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray: ...

    def slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """Minus the first derivative in f."""

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """The second derivative in f."""


class Squared:
    """`1/2 (y - f)^2`."""

    bound, quadratic = 1.0, True

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return 0.5 * (y - f) ** 2

    def slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return y - f

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.ones_like(f)


class Logistic:
    """`log(1 + exp(-y f))`."""

    bound, quadratic = 0.25, False

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -y * f)

    def slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return y * _sigmoid(-y * f)

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        p = _sigmoid(f)
        return p * (1.0 - p)


class SquaredHinge:
    """`max(0, 1 - y f)^2`."""

    bound, quadratic = 2.0, False

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slope(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return 2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.where(y * f < 1.0, 2.0, 0.0)


LOSSES: dict[str, Loss] = {"squared": Squared(), "log": Logistic(), "hinge": SquaredHinge()}


def _sigmoid(x: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        out: FloatArray = 1.0 / (1.0 + np.exp(-x))
    return out
