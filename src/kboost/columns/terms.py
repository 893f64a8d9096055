"""Terms of a prediction: the columns of a part, split by the terms of a sum of kernels.

    h_j(x) = sum_t h_jt(x),   each term on some of the features

The prediction is the sum of `coef_j h_jt(x)` over columns j and terms t. Terms are used to explain
predictions: all n times m values are computed, and nothing is folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from kboost._typing import FloatArray
from kboost.kernels.base import Kernel

Features = tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Term:
    """One term of every column of a part."""

    features: Features  # used by the term, None for all
    values: FloatArray  # (n, m)


def features_of(kernel: Kernel) -> Features:
    """The features used by a resolved kernel; None for all."""
    features: set[int] = set()
    for pairing in kernel.pairings:
        if pairing.view.columns is None:
            return None
        features.update(pairing.view.columns)
    return tuple(sorted(features))
