"""A unit for targets so large or small that their powers would leave the range of float64."""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray


def safe_unit(targets: FloatArray, safe: float) -> float:
    """A power of 2 near the size of targets beyond `safe` or below its inverse; 1 for all others.

    Division by a power of 2 is exact.
    """
    size = float(np.abs(targets).max(initial=0.0))
    if size == 0.0 or not np.isfinite(size) or 1 / safe <= size <= safe:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1))
