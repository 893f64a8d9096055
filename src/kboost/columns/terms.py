"""What the columns of a part are at some rows, term by term of a sum of kernels.

    h_j(x) = sum_t h_jt(x),   each term on some of the features

so that `coef_j h_jt(x)` adds up to the prediction over columns j and terms t, whichever is summed
first. It is for explanations: n times m numbers are made, and nothing is folded.
"""

from __future__ import annotations

from dataclasses import dataclass

from kboost._typing import FloatArray
from kboost.kernels.base import Kernel

Features = tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class Term:
    """One term of every column of a part."""

    features: Features  # the term looks at, None for all
    values: FloatArray  # (n, m)


def features_of(kernel: Kernel) -> Features:
    """The features a resolved kernel looks at."""
    seen: set[int] = set()
    for pairing in kernel.pairings:
        if pairing.view.columns is None:
            return None
        seen.update(pairing.view.columns)
    return tuple(sorted(seen))
