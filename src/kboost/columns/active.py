"""Gaussian columns with free centre and width: SRE's active kernels (24).

    h(x) = exp(-|x - s|^2 / (2 width^2)) / scale(s, width),     s in the box of the rows,
                                                                width in a closed interval.

The search starts from a library of Gaussians at a few widths, centred at the rows, and then moves
centre and width. The ends of the interval are among these widths, because a local search from the
inside may miss a maximum there. A point of the search is `theta = (s, log width)`, on the features
of the kernels' view. Scaling must be smooth here, or the search would stall at the kink of the
floor in scaling.py: `scale^2 = rms^2 + (floor * peak)^2` with peak 1, also for the columns of the
library. Without a floor the search would leave the rows: columns far from all of them are tiny, and
would be scaled up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.float32 import PreparedCenters, gamma_fits_float32
from kboost.columns.hypothesis import stack_rows
from kboost.columns.library import KernelLibrary
from kboost.columns.scaling import SPIKE_FLOOR, Scaling
from kboost.columns.terms import Term
from kboost.kernels.distances import sqeuclidean
from kboost.kernels.pairings import Pairing
from kboost.kernels.rows import as_dense, extent
from kboost.kernels.stationary import Gaussian
from kboost.kernels.views import View

_MIN_RATIO = 1.1  # between the gammas of two kernels
_FAR = 1e8  # squared distance to the mean, in smallest widths, above which moments are inaccurate


@dataclass(frozen=True)
class ActiveColumn:
    """One Gaussian with its own centre and width; equal by index within a search."""

    family: ActiveFamily
    center: FloatArray = field(compare=False, repr=False)  # (1, d), raw features
    width: float = field(compare=False)
    index: int
    scale: float = field(default=1.0, compare=False)


@dataclass(frozen=True)
class ActiveFamily:
    """All Gaussians on one view, of any width; they share one block of distances."""

    view: View

    def columns(self, members: Sequence[ActiveColumn], X: Any) -> FloatArray:
        """Values at the rows of X, (n, m), scaled as in training."""
        centers = stack_rows([m.center for m in members])
        values = _values(self.view, X, centers, np.array([m.width for m in members]))
        scaled: FloatArray = values / np.array([m.scale for m in members])
        return scaled

    def combine(self, members: Sequence[ActiveColumn], coef: FloatArray) -> ActivePart:
        """The sum of the members, with coefficients of the unscaled columns."""
        return ActivePart(
            self.view,
            stack_rows([m.center for m in members]),
            np.array([m.width for m in members]),
            coef / np.array([m.scale for m in members])[:, None],
        )


@dataclass(frozen=True, eq=False)
class ActivePart:
    """`sum_j coef_j exp(-|x - c_j|^2 / (2 width_j^2))`."""

    view: View
    centers: FloatArray  # (m, d)
    widths: FloatArray  # (m,)
    coef: FloatArray  # (m, n_outputs)

    def __call__(self, X: Any) -> FloatArray:
        values: FloatArray = _values(self.view, X, self.centers, self.widths) @ self.coef
        return values

    def to_float32(self) -> Float32ActivePart | ActivePart:
        """The same part in float32, if its range suffices for the widths."""
        gammas = 0.5 / self.widths**2
        return Float32ActivePart(self, gammas) if all(map(gamma_fits_float32, gammas)) else self

    def terms_at(self, X: Any) -> Iterator[Term]:
        """The columns at the rows of X, to explain predictions."""
        yield Term(self.view.columns, _values(self.view, X, self.centers, self.widths))


class Float32ActivePart:
    """An `ActivePart` with distances and exponentials in float32 (columns/float32.py)."""

    def __init__(self, part: ActivePart, gammas: FloatArray) -> None:
        self._part, self.coef = part, part.coef
        self._side = PreparedCenters(Pairing("sqeuclidean", part.view), part.centers)
        self._factor = -gammas.astype(np.float32)
        with np.errstate(over="ignore"):
            self._coef = part.coef.astype(np.float32)

    def __call__(self, X: Any) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            block = np.exp(self._side.block(X) * self._factor)
            values: FloatArray = (block @ self._coef).astype(np.float64)
        return values if np.isfinite(values).all() else self._part(X)


class ActiveLibrary(KernelLibrary):
    """Gaussians at the rows, and Gaussians at any point; see the module docstring."""

    def __init__(
        self,
        kernels: Sequence[Gaussian],
        X: Any,
        *,
        width_bounds: tuple[float, float],
        scaling: Scaling = None,
        **options: Any,
    ) -> None:
        if scaling == "unit":
            raise ValueError(
                "column_scaling must be 'floored' or None with kernels='active'; got 'unit'."
            )
        super().__init__(_with_ends(kernels, width_bounds), X, scaling=scaling, **options)
        view = kernels[0].pairing.view
        self.family = ActiveFamily(view)
        self._rows = as_dense(view.apply(X))  # (n, d)
        self._viewed_centers = as_dense(view.apply(self.centers))  # (n_centers, d)
        self._raw_extent = extent(X)
        self._mean = self._rows.mean(axis=0)
        centred = self._rows - self._mean
        square = np.square(centred).sum(axis=1)
        self._moments = np.column_stack([np.ones(len(centred)), centred, square])
        self._is_far = bool(square.max() > _FAR * width_bounds[0] ** 2)
        self._share = self.sample_weight / self.sample_weight.sum()
        self._scaled = scaling is not None
        if self._scaled:
            rms = self.rms * self.scales
            self.scales = _unit_scale(rms**2)
            self.rms = rms / self.scales
        box = extent(self._rows)
        bounds = np.log(width_bounds)
        self.lower, self.upper = (np.append(side, b) for side, b in zip(box, bounds, strict=True))

    def as_points(self, ids: IntArray) -> FloatArray:
        """Columns of the library as points theta, (len(ids), d + 1)."""
        kernel_of, center_of = np.divmod(ids, self.n_centers)
        gammas = np.array([kernel.gamma for kernel in self.kernels])  # type: ignore[attr-defined]
        log_widths = -0.5 * np.log(2 * gammas[kernel_of])
        return np.column_stack([self._viewed_centers[center_of], log_widths])

    def edges_at(
        self, theta: FloatArray, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Edges (m,), their gradients (m, d + 1), and the fixed point (25) of each centre (m, d).

        d edge / d s         = sum_n p_n k_n (x_n - s) / width^2
        d edge / d log width = sum_n p_n k_n |x_n - s|^2 / width^2        (unscaled)

        These are sums of p k times 1, x and |x|^2: one matrix product. For rows that are very many
        widths away this loses all digits; distances are then computed from differences.
        """
        centers, square = theta[:, :-1] - self._mean, np.exp(2 * theta[:, -1])
        distance = sqeuclidean(self._moments[:, 1:-1], centers) if self._is_far else None
        if distance is None:
            k = self._moments @ _exponents(centers, square)  # (n, m)
        else:
            k = distance / (-2 * square)
        np.exp(k, out=k)
        sums = self._sums(weights, k, centers, distance)
        edge, gradient = sums[0], (sums[1:] / square).T
        fixed = theta[:, :-1] + (sums[1:-1] / np.where(edge == 0.0, 1.0, edge)).T
        if not self._scaled:
            return edge, gradient, fixed
        k *= k  # the factor 2 of its derivative cancels below
        energy = self._sums(self._share, k, centers, distance)
        scale = _unit_scale(energy[0])
        log_scale = (energy[1:] / square / scale**2).T
        return edge / scale, (gradient - edge[:, None] * log_scale) / scale[:, None], fixed

    def _sums(
        self, weights: FloatArray, k: FloatArray, centers: FloatArray, distance: FloatArray | None
    ) -> FloatArray:
        """Sums of weights times k times 1, x - s and |x - s|^2, (d + 2, m)."""
        sums: FloatArray = (weights[:, None] * self._moments).T @ k
        first_moment, shift = sums[1:-1], sums[0] * centers.T
        if distance is None:
            sums[-1] += ((shift - 2 * first_moment) * centers.T).sum(axis=0)
        else:
            sums[-1] = weights @ (k * distance)
        first_moment -= shift
        return sums

    def values_at(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Scaled columns at the training rows, (n, m), and their scales (m,)."""
        widths = np.exp(theta[:, -1])
        values = np.exp(-0.5 * sqeuclidean(self._rows, theta[:, :-1]) / widths**2)
        if not self._scaled:
            return values, np.ones(len(theta))
        scales = _unit_scale(self._share @ values**2)
        return values / scales, scales

    def hypotheses_at(
        self, theta: FloatArray, scales: FloatArray, first: int
    ) -> list[ActiveColumn]:
        """Points theta as hypotheses with indices from `first` on."""
        return [
            ActiveColumn(self.family, self._raw(point[:-1]), float(np.exp(point[-1])), first + j, s)
            for j, (point, s) in enumerate(zip(theta, scales.tolist(), strict=True))
        ]

    def _raw(self, center: FloatArray) -> FloatArray:
        """A centre on the raw features; the view is affine, so it maps box to box."""
        low, high = self._raw_extent
        viewed_low, viewed_high = self.lower[:-1], self.upper[:-1]
        span = viewed_high - viewed_low
        part = np.divide(center - viewed_low, span, out=np.zeros_like(center), where=span > 0)
        raw: FloatArray = (low * (1 - part) + high * part)[None, :]
        return raw


def _with_ends(kernels: Sequence[Gaussian], bounds: tuple[float, float]) -> list[Gaussian]:
    """The kernels with widths inside the interval, and one at each end of it."""
    low, high = sorted(1 / (2 * width**2) for width in bounds)
    inside = [k for k in kernels if low * _MIN_RATIO < k.gamma < high / _MIN_RATIO]
    return [replace(kernels[0], gamma=low), *inside, replace(kernels[0], gamma=high)]


def _exponents(centers: FloatArray, square: FloatArray) -> FloatArray:
    """The coefficients of 1, x and |x|^2 in `-|x - s|^2 / (2 width^2)`, (d + 2, m)."""
    parts = [np.square(centers).sum(axis=1), *(-2 * centers.T), np.ones(len(centers))]
    return np.array(parts) / (-2 * square)


def _unit_scale(rms_square: FloatArray) -> FloatArray:
    scale: FloatArray = np.sqrt(rms_square + SPIKE_FLOOR**2)
    return scale


def _values(view: View, X: Any, centers: FloatArray, widths: FloatArray) -> FloatArray:
    distance = sqeuclidean(view.apply(X), view.apply(centers))
    values: FloatArray = np.exp(distance / (-2 * widths**2))
    return values
