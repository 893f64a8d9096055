"""Checks of kernel parameters."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from kboost.kernels.sample import Sample
from kboost.kernels.views import View
from kboost.kernels.widths import RULES


def positive(name: str, value: Any) -> float:
    """Return a positive finite float."""
    if not (_is_number(value) and value > 0):
        raise ValueError(f"{name} must be positive; got {name}={value!r}.")
    return float(value)


def finite(name: str, value: Any) -> float:
    """Return a finite float."""
    if not _is_number(value):
        raise ValueError(f"{name} must be a finite number; got {name}={value!r}.")
    return float(value)


def integer(name: str, value: Any, minimum: int) -> int:
    """Return an integer of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}; got {name}={value!r}.")
    return int(value)


def gamma(value: Any, sample: Sample, metric: str, view: View) -> float:
    """Return a positive number, computed if a rule is named."""
    if isinstance(value, str) and value in RULES:
        return sample.width(value, metric, view)
    if not (_is_number(value) and value > 0):
        raise ValueError(
            f"gamma must be positive or one of 'mean', 'median', 'scale'; got gamma={value!r}."
        )
    return float(value)


def _is_number(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)
