"""L-BFGS with a time limit: when it ends early, the best point seen is returned."""

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
    """The point, its value, and whether it finished in time.

    `over` is called before every evaluation; if it is true before the first, the value is NaN.
    """
    best, lowest = start, np.nan

    def limited(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal best, lowest
        if over():
            raise OutOfTimeError("the time limit is reached")
        value, slope = function(point)
        if np.isnan(lowest) or value < lowest:
            best, lowest = point.copy(), value
        return value, slope

    try:
        result = minimize(
            limited, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
    except OutOfTimeError:
        return best, lowest, False
    return result.x, float(result.fun), True
