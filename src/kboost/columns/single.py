"""Kernel columns in float32, for prediction.

Half the memory traffic and a faster exponential, at about seven digits:

    |f32(x) - f64(x)|  <=  about 1e-5 sum_j |coef_j k(x, c_j)|     (of distances, sup |k| = 1)

Views are applied in float64 before anything is rounded, and distances, which a shift does not
change, are taken from the mean of the centres: a feature of 1e6 +- 1 keeps its digits. What is
folded stays in float64, it is cheap as it is; so do functions of the user's. Where float32
overflows, float64 is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray, Matrix
from kboost.columns.hypothesis import KernelPart
from kboost.kernels.base import Kernel
from kboost.kernels.distances import row_dots
from kboost.kernels.pairings import Pairing

_DISTANCES = ("sqeuclidean", "cityblock")


def in_single(part: Any) -> Any:
    """The part in float32 where that saves something, else itself."""
    if isinstance(part, KernelPart) and part.rest is not None:
        return SinglePart(part, part.rest)
    return part.in_single() if hasattr(part, "in_single") else part


class SinglePart:
    """A kernel part whose blocks are float32; values come back in float64."""

    def __init__(self, part: KernelPart, rest: Kernel) -> None:
        self._part, self._rest = part, rest
        self.coef = part.coef  # (m, n_outputs)
        self._sides = [Side(pairing, part.centers) for pairing in rest.pairings]
        with np.errstate(over="ignore"):
            self._coef = part.coef.astype(np.float32)

    def __call__(self, X: Any) -> FloatArray:
        try:
            blocks = {side.pairing: side.block(X) for side in self._sides}
            values = (self._rest.from_blocks(blocks) @ self._coef).astype(np.float64)
        except ValueError:  # non-finite kernel values
            return self._part(X)
        if not np.isfinite(values).all():
            return self._part(X)
        return values + self._part.fold_at(X) if self._part.folded else values


class Side:
    """The centres of a pairing, viewed, shifted and rounded once for all rows."""

    def __init__(self, pairing: Pairing, centers: Matrix, dtype: Any = np.float32) -> None:
        self.pairing, self._dtype = pairing, dtype
        viewed = pairing.view.apply(centers)
        self._shift: FloatArray | None = None
        if pairing.kind in _DISTANCES and isinstance(viewed, np.ndarray):
            self._shift = viewed.mean(axis=0)
        self._centers = self._rounded(viewed)

    def block(self, X: Matrix) -> FloatArray:
        rows = self._rounded(self.pairing.view.apply(X))
        return self.pairing.compute_viewed(rows, self._centers).astype(self._dtype, copy=False)

    def near(self, X: Matrix, allowed: float) -> FloatArray:
        """Squared distances that may be off by `allowed`: one product where that keeps it."""
        rows = self._rounded(self.pairing.view.apply(X))
        if not (isinstance(rows, np.ndarray) and isinstance(self._centers, np.ndarray)):
            return self.block(X)
        across, down = row_dots(rows), row_dots(self._centers)
        largest = float(across.max(initial=0.0)) + float(down.max(initial=0.0))
        if not 4.0 * np.finfo(self._dtype).eps * largest <= allowed:
            return self.block(X)
        out: FloatArray = rows @ (-2.0 * self._centers.T)
        out += across[:, None]
        out += down
        return np.maximum(out, 0.0, out=out)

    def _rounded(self, viewed: Matrix) -> Matrix:
        if not isinstance(self.pairing.kind, str):
            return viewed
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self._shift is not None and isinstance(viewed, np.ndarray):
                viewed = viewed - self._shift
            return viewed.astype(self._dtype)
