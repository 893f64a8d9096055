"""Newton's method for a smooth convex function, its systems solved by conjugate gradients.

    minimise f(z),   H(z) d = -g(z) by CG, preconditioned by a fixed P that is like H

Columns of z (m, q) are separate problems with one preconditioner, solved side by side. A step that
does not lower f enough is halved. Where f is quadratic and H = P one step is exact.
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
    around: Callable[[FloatArray], Model],
    precondition: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    *,
    tol: float = 1e-6,
    max_steps: int = 50,
    max_inner: int = 20,
    inner_tol: float = 1e-4,
    before_step: Callable[[], None] = lambda: None,
) -> tuple[FloatArray, bool]:
    """The minimiser, from `start`; `tol` is relative to the value, in Newton's decrement.

    CG ends when it has reduced the square of its residual by `inner_tol`. False: a limit was met
    first, of the steps or of the CG that found nothing more to do.
    """
    z, here = start, around(start)
    for _ in range(max_steps):
        before_step()
        direction, promise, solved = _direction(here, precondition, max_inner, inner_tol)
        if promise <= tol * max(abs(here.value), np.finfo(float).tiny):
            return z, solved
        moved = _step(around, z, here, direction, promise)
        if moved is None:
            break
        z, here = moved
    return z, False


def left_at(
    here: Model,
    precondition: Callable[[FloatArray], FloatArray],
    max_inner: int,
    *,
    inner_tol: float = 1e-4,
    go_on: Callable[[], bool] = lambda: True,
) -> float:
    """Half of Newton's decrement: what is left to gain, as far as CG comes (it is never more)."""
    return 0.5 * _direction(here, precondition, max_inner, inner_tol, go_on)[1]


def _step(
    around: Callable[[FloatArray], Model],
    z: FloatArray,
    here: Model,
    direction: FloatArray,
    promise: float,
) -> tuple[FloatArray, Model] | None:
    """The first of the halved steps that lowers the value enough; None if none does."""
    size = 1.0
    for _ in range(_HALVINGS):
        there = around(z + size * direction)
        if there.value <= here.value - _ARMIJO * size * promise:
            return z + size * direction, there
        size /= 2
    return None


def _direction(
    here: Model,
    precondition: Callable[[FloatArray], FloatArray],
    max_inner: int,
    inner_tol: float,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[FloatArray, float, bool]:
    """Truncated CG on `H d = -g`, each column on its own; the direction, `-g'd`, and its end."""
    residual = -here.gradient  # (m, q)
    ready = precondition(residual)
    search, out = ready, np.zeros_like(residual)
    power = _dots(residual, ready)
    first = float(power.sum())
    if not first > 0:
        return out, 0.0, True
    solved = False
    for _ in range(max_inner):
        image = here.hessian_times(search)
        bend = _dots(search, image)
        length = np.divide(power, bend, out=np.zeros_like(power), where=bend > 0)
        out = out + length * search
        residual = residual - length * image
        ready = precondition(residual)
        new = _dots(residual, ready)
        solved = bool(new.sum() <= inner_tol * first)
        if solved or not go_on():
            break
        ratio = np.divide(new, power, out=np.zeros_like(power), where=power > 0)
        search, power = ready + ratio * search, new
    if not out.any():
        out = precondition(-here.gradient)
    return out, float(-np.vdot(here.gradient, out)), solved


def _dots(left: FloatArray, right: FloatArray) -> FloatArray:
    """Inner products column by column, not below 0."""
    dots: FloatArray = np.maximum(np.einsum("ij,ij->j", left, right), 0.0)
    return dots
