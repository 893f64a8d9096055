"""Kernel columns in float32, for prediction and for the matrices of large fits.

It halves the memory traffic and makes the exponential faster, at about seven digits:

    |f32(x) - f64(x)|  <=  about 1e-5 sum_j |coef_j k(x, c_j)|     (for distances, sup |k| = 1)

Views are applied in float64 before anything is rounded. Rows are shifted by the mean of the
centres, which does not change distances, so that a feature of 1e6 +- 1 keeps its digits. Folded
terms, which are cheap, and functions of the user stay in float64. If float32 overflows, float64 is
used.
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
_ROUGH = 1e-4  # tolerated error of an exponent
_RANGE = 1e30


def to_float32(part: Any) -> Any:
    """The part in float32 if that saves time, else the part itself."""
    if isinstance(part, KernelPart) and part.rest is not None:
        return Float32Part(part, part.rest) if fits_float32(part.rest) else part
    return part.to_float32() if hasattr(part, "to_float32") else part


def fits_float32(kernel: Kernel) -> bool:
    """Whether the distances relevant for a kernel fit the range of float32."""
    return gamma_fits_float32(getattr(kernel, "gamma", 1.0))


def gamma_fits_float32(gamma: float) -> bool:
    """Whether distances relevant for `gamma` fit the range of float32."""
    return 1 / _RANGE <= gamma <= _RANGE


def gaussian_gamma(kernel: Kernel) -> float | None:
    """`gamma` of a Gaussian, whose values depend smoothly on squared distances; else None."""
    return kernel.gamma if isinstance(kernel, Gaussian) else None


class Float32Part:
    """A kernel part computed in float32 blocks; it returns float64."""

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
    """The centres of a pairing: viewed, shifted and rounded once, for use with any rows."""

    def __init__(
        self,
        pairing: Pairing,
        centers: Matrix,
        dtype: Any = np.float32,
        shift: FloatArray | None = None,
        features: Any = slice(None),
    ) -> None:
        self.pairing, self._dtype, self._shift = pairing, dtype, shift
        self._features = features  # of the augmented rows
        viewed = pairing.view.apply(centers)
        if shift is None and pairing.kind in _DISTANCES and isinstance(viewed, np.ndarray):
            self._shift = viewed.mean(axis=0)
        self._centers = rounded(viewed, self._shift, dtype) if self._rounds else viewed

    def block(self, X: Matrix) -> FloatArray:
        return self._block(self.pairing.view.apply(X))

    def approximate(
        self, X: Matrix, gamma: float | None, out: FloatArray | None = None
    ) -> FloatArray:
        """The block, possibly in `out`; squared distances for a Gaussian may be approximate."""
        return self.approximate_viewed(self.pairing.view.apply(X), gamma, out)

    def approximate_viewed(
        self, viewed: Matrix, gamma: float | None, out: FloatArray | None = None
    ) -> FloatArray:
        """The same, for rows to which the view was already applied."""
        if gamma is None or self._augmented is None or not isinstance(viewed, np.ndarray):
            return self._block(viewed)
        rows = AugmentedRows(viewed, self._dtype, self._shift, self._features)
        block = self.augmented_product(rows, gamma, out=out)
        return self._block(viewed) if block is None else block

    def augmented_product(
        self,
        rows: AugmentedRows,
        gamma: float,
        chosen: Any = slice(None),
        out: FloatArray | None = None,
    ) -> FloatArray | None:
        """Squared distances by one matrix product; None if exponents would be off by `_ROUGH`."""
        if self._augmented is None:
            return None
        centers, largest = self._augmented
        unit = float(np.finfo(self._dtype).eps)
        if not 4.0 * unit * (largest + rows.largest) <= _ROUGH / gamma:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            out = np.matmul(rows.values[chosen], centers, out=out)
        return np.maximum(out, 0.0, out=out)

    @cached_property
    def _augmented(self) -> tuple[FloatArray, float] | None:
        """`(-2 c, 1, |c|^2)` of the centres, and their largest `|c|^2`."""
        if self.pairing.kind != "sqeuclidean" or not isinstance(self._centers, np.ndarray):
            return None
        with np.errstate(over="ignore"):
            norms = row_dots(self._centers)
        centers = self._centers[:, self._features].T
        augmented = np.vstack([-2.0 * centers, np.ones_like(norms), norms])
        return augmented, float(norms.max(initial=0.0))

    def _block(self, viewed: Matrix) -> FloatArray:
        rows = rounded(viewed, self._shift, self._dtype) if self._rounds else viewed
        return self.pairing.compute_viewed(rows, self._centers).astype(self._dtype, copy=False)

    @property
    def _rounds(self) -> bool:
        return isinstance(self.pairing.kind, str)  # functions of the user get float64


class AugmentedRows:
    """Shifted rows as `(x, |x|^2, 1)`, whose product with `(-2 c, 1, |c|^2)` is a squared distance.

    Rows shifted by their own mean omit features that are then 0 in all rows (such as the border of
    an image), because they add 0 to every product.
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
            norms = row_dots(rows)
        self.largest = float(norms.max(initial=0.0))
        if shift is None and not (used := rows.any(axis=0)).all():
            features = np.flatnonzero(used)
        self.features, rows = features, rows[:, features]
        self.values: FloatArray = np.column_stack([rows, norms, np.ones_like(norms)])


def rounded(viewed: Matrix, shift: FloatArray | None, dtype: Any) -> Any:
    """Shift the rows if a shift is given, then round; shifted sparse rows become dense."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if shift is not None:
            viewed = as_dense(viewed) - shift
        return viewed.astype(dtype)
