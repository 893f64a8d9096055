"""Newton's method for a smooth convex function, its systems solved by conjugate gradients.

    minimise f(z),   H(z) d = -g(z) by CG, with a fixed preconditioner P close to H

Columns of z (m, q) are separate problems with one preconditioner, solved side by side. A step that
does not lower f enough is halved. If f is quadratic and H = P, one step is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray

_ARMIJO = 1e-4
_HALVINGS = 30


@dataclass(frozen=True)
class Model:
    """The function around a point: value, gradient and products with the Hessian."""

    value: float
    gradient: FloatArray
    hessian_times: Callable[[FloatArray], FloatArray]


def minimise(
    model_at: Callable[[FloatArray], Model],
    precondition: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    *,
    tol: float = 1e-6,
    max_steps: int = 50,
    max_inner: int = 20,
    inner_tol: float = 1e-4,
    before_step: Callable[[], None] = lambda: None,
) -> tuple[FloatArray, bool]:
    """The minimiser from `start`, and whether it converged.

    It converges when Newton's decrement is below `tol` times the value. CG ends when the square of
    its residual has fallen by `inner_tol`. False if the steps, or the last CG, met their limit.
    """
    z, model = start, model_at(start)
    for _ in range(max_steps):
        before_step()
        direction, decrease, solved = newton_direction(model, precondition, max_inner, inner_tol)
        if decrease <= tol * max(abs(model.value), np.finfo(float).tiny):
            return z, solved
        moved = _step(model_at, z, model, direction, decrease)
        if moved is None:
            break
        z, model = moved
    return z, False


def remaining_gain(
    model: Model,
    precondition: Callable[[FloatArray], FloatArray],
    max_inner: int,
    *,
    inner_tol: float = 1e-4,
    go_on: Callable[[], bool] = lambda: True,
) -> float:
    """Half of Newton's decrement by truncated CG: a lower estimate of the remaining gain."""
    return 0.5 * newton_direction(model, precondition, max_inner, inner_tol, go_on)[1]


def _step(
    model_at: Callable[[FloatArray], Model],
    z: FloatArray,
    model: Model,
    direction: FloatArray,
    decrease: float,
) -> tuple[FloatArray, Model] | None:
    """The first of the halved steps that lowers the value enough; None if none does."""
    size = 1.0
    for _ in range(_HALVINGS):
        trial = model_at(z + size * direction)
        if trial.value <= model.value - _ARMIJO * size * decrease:
            return z + size * direction, trial
        size /= 2
    return None


def newton_direction(
    model: Model,
    precondition: Callable[[FloatArray], FloatArray],
    max_inner: int,
    inner_tol: float,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[FloatArray, float, bool]:
    """Truncated CG on `H d = -g` per column: the direction, `-g'd`, and whether it converged."""
    residual = -model.gradient  # (m, q)
    preconditioned = precondition(residual)
    search, out = preconditioned, np.zeros_like(residual)
    power = _dots(residual, preconditioned)
    first = float(power.sum())
    if not first > 0:
        return out, 0.0, True
    solved = False
    for _ in range(max_inner):
        image = model.hessian_times(search)
        curvature = _dots(search, image)
        length = np.divide(power, curvature, out=np.zeros_like(power), where=curvature > 0)
        out = out + length * search
        residual = residual - length * image
        preconditioned = precondition(residual)
        new = _dots(residual, preconditioned)
        solved = bool(new.sum() <= inner_tol * first)
        if solved or not go_on():
            break
        ratio = np.divide(new, power, out=np.zeros_like(power), where=power > 0)
        search, power = preconditioned + ratio * search, new
    if not out.any():
        out = precondition(-model.gradient)
    return out, float(-np.vdot(model.gradient, out)), solved


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    """Inner products per column, at least 0."""
    dots: FloatArray = np.maximum(np.einsum("ij,ij->j", a, b), 0.0)
    return dots
