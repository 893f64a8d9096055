"""Kernel columns in float32, for prediction and for the matrices of large fits.

Half the memory traffic and a faster exponential, at about seven digits:

    |f32(x) - f64(x)|  <=  about 1e-5 sum_j |coef_j k(x, c_j)|     (of distances, sup |k| = 1)

Views are applied in float64 before anything is rounded, and distances, which a shift does not
change, are taken from the mean of the centres: a feature of 1e6 +- 1 keeps its digits. What is
folded stays in float64, it is cheap as it is; so do functions of the user's. Where float32
overflows, float64 is used.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kboost._typing import FloatArray, Matrix
from kboost.columns.hypothesis import KernelPart
from kboost.kernels.base import Kernel
from kboost.kernels.distances import row_dots
from kboost.kernels.pairings import Pairing
from kboost.kernels.rows import as_dense
from kboost.kernels.stationary import Gaussian

_DISTANCES = ("sqeuclidean", "cityblock")
_ROUGH = 1e-4  # what an exponent may be off by
_RANGE = 1e30


def to_float32(part: Any) -> Any:
    """The part in float32 where that saves something, else itself."""
    if isinstance(part, KernelPart) and part.rest is not None:
        return Float32Part(part, part.rest) if fits_float32(part.rest) else part
    return part.to_float32() if hasattr(part, "to_float32") else part


def fits_float32(kernel: Kernel) -> bool:
    """Whether float32 has room for the distances that the width of a kernel is made for."""
    return gamma_fits_float32(getattr(kernel, "gamma", 1.0))


def gamma_fits_float32(gamma: float) -> bool:
    """The same of a width."""
    return 1 / _RANGE <= gamma <= _RANGE


def gaussian_gamma(kernel: Kernel) -> float | None:
    """The width of a Gaussian, which is as smooth in squared distances as in anything."""
    return kernel.gamma if isinstance(kernel, Gaussian) else None


class Float32Part:
    """A kernel part whose blocks are float32; values come back in float64."""

    def __init__(self, part: KernelPart, rest: Kernel) -> None:
        self._part, self._rest = part, rest
        self.coef = part.coef  # (m, n_outputs)
        self._sides = [PreparedCenters(pairing, part.centers) for pairing in rest.pairings]
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


class PreparedCenters:
    """The centres of a pairing, viewed, shifted and rounded once for all rows."""

    def __init__(
        self,
        pairing: Pairing,
        centers: Matrix,
        dtype: Any = np.float32,
        shift: FloatArray | None = None,
        features: Any = slice(None),
    ) -> None:
        self.pairing, self._dtype, self._shift = pairing, dtype, shift
        self._features = features  # that long rows have
        viewed = pairing.view.apply(centers)
        if shift is None and pairing.kind in _DISTANCES and isinstance(viewed, np.ndarray):
            self._shift = viewed.mean(axis=0)
        self._centers = rounded(viewed, self._shift, dtype) if self._rounds else viewed

    def block(self, X: Matrix) -> FloatArray:
        return self._block(self.pairing.view.apply(X))

    def near(self, X: Matrix, gamma: float | None, out: FloatArray | None = None) -> FloatArray:
        """The block; squared distances for a Gaussian of width `gamma` may be rough.

        They may come in `out`.
        """
        return self.near_viewed(self.pairing.view.apply(X), gamma, out)

    def near_viewed(
        self, viewed: Matrix, gamma: float | None, out: FloatArray | None = None
    ) -> FloatArray:
        """The same, of rows the view was already applied to."""
        if gamma is None or self._long is None or not isinstance(viewed, np.ndarray):
            return self._block(viewed)
        rows = AugmentedRows(viewed, self._dtype, self._shift, self._features)
        rough = self.near_long(rows, gamma, out=out)
        return self._block(viewed) if rough is None else rough

    def near_long(
        self,
        rows: AugmentedRows,
        gamma: float,
        chosen: Any = slice(None),
        out: FloatArray | None = None,
    ) -> FloatArray | None:
        """Rough squared distances in one product; None where they would be too rough.

        An exponent may be off by `_ROUGH`.
        """
        if self._long is None:
            return None
        centers, largest = self._long
        unit = float(np.finfo(self._dtype).eps)
        if not 4.0 * unit * (largest + rows.largest) <= _ROUGH / gamma:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.matmul(rows.values[chosen], centers, out=out)
        return np.maximum(out, 0.0, out=out)

    @cached_property
    def _long(self) -> tuple[FloatArray, float] | None:
        """`(-2 c, 1, |c|^2)`, and its largest `|c|^2`."""
        if self.pairing.kind != "sqeuclidean" or not isinstance(self._centers, np.ndarray):
            return None
        with np.errstate(over="ignore"):
            down = row_dots(self._centers)
        across = self._centers[:, self._features].T
        long = np.vstack([-2.0 * across, np.ones_like(down), down])
        return long, float(down.max(initial=0.0))

    def _block(self, viewed: Matrix) -> FloatArray:
        rows = rounded(viewed, self._shift, self._dtype) if self._rounds else viewed
        return self.pairing.compute_viewed(rows, self._centers).astype(self._dtype, copy=False)

    @property
    def _rounds(self) -> bool:
        return isinstance(
            self.pairing.kind, str
        )  # functions of the user's get what they are used to


class AugmentedRows:
    """Rows from a shift as `(x, |x|^2, 1)`: with `(-2 c, 1, |c|^2)` a product is a distance.

    Rows that are measured from their own mean leave out `features` that are 0 in all of them (the
    rim of an image), whose products are 0 whatever the centre.
    """

    def __init__(
        self,
        viewed: FloatArray,
        dtype: Any,
        shift: FloatArray | None,
        features: Any = slice(None),
    ) -> None:
        self.shift = viewed.mean(axis=0) if shift is None else shift
        rows = rounded(viewed, self.shift, dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            across = row_dots(rows)
        self.largest = float(across.max(initial=0.0))
        if shift is None and not (used := rows.any(axis=0)).all():
            features = np.flatnonzero(used)
        self.features, rows = features, rows[:, features]
        self.values: FloatArray = np.column_stack([rows, across, np.ones_like(across)])


def rounded(viewed: Matrix, shift: FloatArray | None, dtype: Any) -> Any:
    """Shifted, where there is a shift, then rounded; sparse rows with a shift are dense."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if shift is not None:
            viewed = as_dense(viewed) - shift
        return viewed.astype(dtype)
