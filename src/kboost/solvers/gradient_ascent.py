"""Many small maximisations at once: projected gradient ascent in a box, vectorised over the starts.

    maximise  value_k(theta_k)   subject to  lower_k <= theta_k <= upper_k,      k = 1 ... m

The functions are of one kind and evaluated in one call, so a step costs a few matrix products
whatever m is. Each start has its own step length, the one of Barzilai and Borwein

    step = -<s, s> / <s, y>,    s, y the last changes of theta and of the gradient,

which makes up for second derivatives; a step is taken only if the value rises enough for the
distance moved, else it is quartered. So every path is monotone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from kboost._typing import FloatArray, IntArray

# (points (m, q), which of the starts they belong to (m,)) -> values (m,), gradients (m, q)
Functions: TypeAlias = Callable[[FloatArray, IntArray], tuple[FloatArray, FloatArray]]

_ENOUGH = 1e-4  # of the rise that the gradient promises
_SHORTEST, _LONGEST = 1e-10, 1e10


def ascend(
    functions: Functions,
    start: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    *,
    max_steps: int,
    tol: float,
    first_move: float = 0.1,
) -> tuple[FloatArray, FloatArray]:
    """Points (m, q) and their values (m,) that no step of this kind improves by much.

    A start is given up when a step moves its value by less than `tol` relative to its size, or
    cannot be made. `first_move` is the length of the first step in units of theta.
    """
    theta = np.clip(start, lower, upper)
    going = np.arange(len(theta))
    value, gradient = functions(theta, going)
    size = np.abs(gradient).max(axis=1, initial=0.0)
    step = first_move / np.where(size > 0, size, 1.0)
    for _ in range(max_steps):
        if not len(going):
            break
        old, slope = theta[going], gradient[going]
        trial = np.clip(old + step[going, None] * slope, lower[going], upper[going])
        moved = trial - old
        promised = np.einsum("kq,kq->k", slope, moved)
        found, new_slope = functions(trial, going)
        taken = (found >= value[going] + _ENOUGH * promised) & (promised > 0)
        step[going] = np.where(
            taken, _spectral(moved, new_slope - slope, step[going]), step[going] / 4
        )
        rise = found - value[going]
        chosen = going[taken]
        theta[chosen], value[chosen] = trial[taken], found[taken]
        gradient[chosen] = new_slope[taken]
        small = tol * np.abs(value[going])
        done = np.where(taken, rise <= small, promised <= small)
        going = going[~done]
    return theta, value


def _spectral(moved: FloatArray, turned: FloatArray, before: FloatArray) -> FloatArray:
    """Step lengths from the last move; doubled where the function is not concave along it."""
    bend = -np.einsum("kq,kq->k", moved, turned)
    length = np.einsum("kq,kq->k", moved, moved)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(bend > 0, length / bend, 2 * before)
    return np.clip(step, _SHORTEST, _LONGEST)
