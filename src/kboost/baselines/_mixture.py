"""Several kernels at shared centres: `sum_p k_p(x, c) coef_p`, from blocks made once for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.kernels.base import Kernel
from kboost.kernels.shared import evaluate


class MixturePart:
    """One part of an additive model; see the head of this file."""

    def __init__(self, kernels: Sequence[Kernel], centers: Any, coef_of: FloatArray) -> None:
        """Coefficients are (P, m, n_outputs)."""
        self.kernels, self.centers, self.coef_of = kernels, centers, coef_of

    @property
    def coef(self) -> FloatArray:  # (P m, n_outputs)
        return self.coef_of.reshape(-1, self.coef_of.shape[2])

    @property
    def width(self) -> int:
        """Values at work for a row."""
        return len(self.kernels) * len(self.coef_of[0])

    def __call__(self, X: Any) -> FloatArray:
        pairings = {pairing for kernel in self.kernels for pairing in kernel.pairings}
        blocks = {pairing: pairing.compute(X, self.centers) for pairing in pairings}
        out = np.zeros((X.shape[0], self.coef_of.shape[2]))
        for j, values in evaluate(self.kernels, blocks):
            out += values @ self.coef_of[j]
        return out
