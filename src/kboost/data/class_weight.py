"""`class_weight`: a factor on the weights of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._rules import NOT_NEGATIVE
from kboost._typing import FloatArray, IntArray


def class_factors(
    class_weight: Any, classes: Any, codes: IntArray, weight: FloatArray
) -> FloatArray:
    """One factor a class; "balanced" makes the classes weigh the same in all."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        mass = np.bincount(codes, weights=weight, minlength=len(classes))
        return float(mass.sum()) / (len(classes) * np.where(mass > 0, mass, np.inf))
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be a dict, 'balanced' or None; got class_weight={class_weight!r}."
        )
    unknown = set(class_weight) - set(classes.tolist())
    if unknown:
        raise ValueError(
            f"class_weight must name classes of y; got {unknown.pop()!r}, y has {classes.tolist()}."
        )
    weights = [class_weight.get(c, 1.0) for c in classes.tolist()]
    if not all(map(NOT_NEGATIVE.holds, weights)):
        raise ValueError(
            "class_weight must hold finite weights of zero or more; "
            f"got class_weight={class_weight!r}."
        )
    return np.array(weights)


def apply_class_factors(
    factors: FloatArray, codes: IntArray, weight: FloatArray, *, named: Any
) -> FloatArray:
    """The weights of rows, some of them positive, times the factors of their classes."""
    found: FloatArray = weight * factors[codes]
    if not found.any():
        raise ValueError(
            f"class_weight must leave a positive weight to some row; got class_weight={named!r}."
        )
    return found


def normalized_class_weights(
    class_weight: Any, classes: Any, codes: IntArray, weight: FloatArray
) -> FloatArray:
    """The same, in all as much as before: draws by weight are as many, and only ratios count."""
    if class_weight is None:
        return weight
    factors = class_factors(class_weight, classes, codes, weight)
    factors = factors / (factors.max() or 1.0)
    found = apply_class_factors(factors, codes, weight, named=class_weight)
    found *= weight.sum() / found.sum()
    return found
