"""Projected gradient ascent in a box, vectorised over many starts.

    maximise  value_k(theta_k)   subject to  lower_k <= theta_k <= upper_k,      k = 1 ... m

The functions are of one kind and evaluated in one call, so a step costs a few matrix products for
all m. Each start has its own step length, that of Barzilai and Borwein,

    step = -<s, s> / <s, y>,    s, y the last changes of theta and of the gradient,

which stands in for second derivatives; a step is accepted only if the value rises enough for the
distance moved, else it is quartered. So every path is monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kboost._typing import FloatArray, IntArray

# (points (m, q), the numbers of their starts (m,)) -> values (m,), gradients (m, q)
Functions: TypeAlias = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

_ARMIJO = 1e-4  # share of the rise predicted by the gradient
_FIRST_MOVE = 0.1  # length of the first step, in units of theta
_SHORTEST, _LONGEST = 1e-10, 1e10


def maximise(
    functions: Functions,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    max_steps: int,
    tol: float,
) -> tuple[FloatArray, FloatArray]:
    """The points reached, (m, q), and their values, (m,).

    A start ends when a step changes its value by less than `tol` (relative), or when no step is
    accepted.
    """
    theta = np.clip(start, lower, upper)
    active = np.arange(len(theta))
    value, gradient = functions(theta, active)
    size = np.abs(gradient).max(axis=1, initial=0.0)
    step = _FIRST_MOVE / np.where(size > 0, size, 1.0)
    for _ in range(max_steps):
        if not len(active):
            break
        old, slope = theta[active], gradient[active]
        trial = np.clip(old + step[active, None] * slope, lower[active], upper[active])
        moved = trial - old
        predicted = np.einsum("kq,kq->k", slope, moved)
        trial_value, new_slope = functions(trial, active)
        accepted = (trial_value >= value[active] + _ARMIJO * predicted) & (predicted > 0)
        step[active] = np.where(
            accepted, _spectral(moved, new_slope - slope, step[active]), step[active] / 4
        )
        rise = trial_value - value[active]
        moved_starts = active[accepted]
        theta[moved_starts], value[moved_starts] = trial[accepted], trial_value[accepted]
        gradient[moved_starts] = new_slope[accepted]
        small = tol * np.abs(value[active])
        done = np.where(accepted, rise <= small, predicted <= small)
        active = active[~done]
    return theta, value


def _spectral(moved: FloatArray, gradient_change: FloatArray, last_step: FloatArray) -> FloatArray:
    """Step lengths from the last move; doubled if the function is not concave along it."""
    curvature = -np.einsum("kq,kq->k", moved, gradient_change)
    length = np.einsum("kq,kq->k", moved, moved)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(curvature > 0, length / curvature, 2 * last_step)
    return np.clip(step, _SHORTEST, _LONGEST)
