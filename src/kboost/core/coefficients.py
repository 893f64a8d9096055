"""Coefficients that count: an interior solution has traces of other columns."""

from __future__ import annotations

import numpy as np

from kboost._typing import BoolArray, FloatArray

_LEAST = 1e-3  # of the largest coefficient


def in_use(coef: FloatArray) -> BoolArray:
    """Which coefficients, (m,) or (m, q), are not negligible in their output."""
    size = np.abs(coef)
    used: BoolArray = size > _LEAST * size.max(axis=0, initial=0.0)
    return used
