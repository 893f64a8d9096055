"""L-BFGS that ends with the time: then it is at the best point it has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize

from kboost._typing import FloatArray
from kboost.exceptions import OutOfTimeError

Function = Callable[[FloatArray], tuple[float, FloatArray]]  # the value and its gradient


def minimise_until(
    over: Callable[[], bool],
    function: Function,
    start: FloatArray,
    bounds: Sequence[tuple[float, float]],
    **options: Any,
) -> tuple[FloatArray, float, bool]:
    """The point, its value, and whether there was time to finish.

    `over` is asked before every evaluation. Without any the value is NaN, at the start.
    """
    best, lowest = start, np.nan

    def watched(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, lowest
        if over():
            raise OutOfTimeError("the time is over")
        value, slope = function(point)
        if np.isnan(lowest) or value < lowest:
            best, lowest = point.copy(), value
        return value, slope

    try:
        found = minimize(
            watched, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    except OutOfTimeError:
        return best, lowest, False
    return found.x, float(found.fun), True
