"""`class_weight`: a factor per class on the weights of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._rules import NOT_NEGATIVE
from kboost._typing import FloatArray, IntArray


def class_factors(
    class_weight: Any, classes: Any, codes: IntArray, weight: FloatArray
) -> FloatArray:
    """One factor per class; "balanced" gives all classes the same total weight."""
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
            f"class_weight must have keys among the classes {classes.tolist()} of y; "
            f"got {unknown.pop()!r}."
        )
    weights = [class_weight.get(c, 1.0) for c in classes.tolist()]
    if not all(map(NOT_NEGATIVE.holds, weights)):
        raise ValueError(
            "class_weight must have finite values of zero or more; "
            f"got class_weight={class_weight!r}."
        )
    return np.array(weights)


def apply_class_factors(
    factors: FloatArray, codes: IntArray, weight: FloatArray, *, named: Any
) -> FloatArray:
    """Multiply the weights of the rows by the factors of their classes."""
    product: FloatArray = weight * factors[codes]
    if not product.any():
        raise ValueError(f"class_weight must be positive for some row; got class_weight={named!r}.")
    return product


def normalized_class_weights(
    class_weight: Any, classes: Any, codes: IntArray, weight: FloatArray
) -> FloatArray:
    """Apply `class_weight` and keep the total weight, so that as many rows are drawn as before."""
    if class_weight is None:
        return weight
    factors = class_factors(class_weight, classes, codes, weight)
    factors = factors / (factors.max() or 1.0)
    product = apply_class_factors(factors, codes, weight, named=class_weight)
    product *= weight.sum() / product.sum()
    return product
