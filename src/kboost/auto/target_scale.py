"""Transforms of a target with heavy tails, and the mean on the original scale.

    log      g(y) = log(y + shift),  for targets of zero or more
    asinh    g(y) = asinh((y - middle) / spread),  for targets of both signs

A fit of g(y) estimates a mean on the wrong scale. With the residuals r_k of rows left out,

    E[y | x] = mean_k g^-1(f(x) + r_k)        (smearing)

over a few of their quantiles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray

_HEAVY = 1.0  # skewness, or kurtosis beyond the normal / 3, from which transforms compete
_QUANTILES = 33
_ROWS = 1 << 16  # inverted at a time
REACH = 50.0  # of g: beyond, the inverse would overflow


@dataclass(frozen=True)
class TargetScale:
    """A monotone transform of the target with the residuals for its inverse."""

    kind: str  # "identity", "log" or "asinh"
    shift: float = 0.0
    spread: float = 1.0
    residuals: tuple[float, ...] = (0.0,)
    bounds: tuple[float, float] = (-np.inf, np.inf)  # of predictions: a margin around the targets

    def apply(self, y: FloatArray) -> FloatArray:
        """Transform targets."""
        if self.kind == "log":
            return np.asarray(np.log((y + self.shift) / self.spread))
        if self.kind == "asinh":
            return np.asarray(np.arcsinh((y - self.shift) / self.spread))
        return y

    def invert(self, values: FloatArray) -> FloatArray:
        """The means on the original scale."""
        if self.kind == "identity":
            return values
        shifts = np.reshape(self.residuals, (-1, *[1] * values.ndim))
        blocks = []
        with np.errstate(over="ignore"):
            for start in range(0, len(values), _ROWS):
                block = self._plain(values[start : start + _ROWS] + shifts)
                blocks.append(np.mean(block, axis=0))
        return np.asarray(np.clip(np.concatenate(blocks), *self.bounds))

    def with_residuals(
        self, values: FloatArray, y: FloatArray, weight: FloatArray | None = None
    ) -> TargetScale:
        """The transform with the residuals of rows left out; values and y on its own scale."""
        if self.kind == "identity":
            return self
        levels = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
        quantiles = _quantiles((y - values)[:, 0], levels, weight)
        return replace(self, residuals=tuple(quantiles.tolist()))

    def invert_exactly(self, values: FloatArray) -> FloatArray:
        """The targets whose transform has these values; infinite ones stay so."""
        if self.kind == "identity":
            return values
        finite = np.isfinite(values)
        return np.where(finite, self._plain(np.where(finite, values, 0.0)), values)

    def _plain(self, values: FloatArray) -> FloatArray:
        values = np.clip(values, -REACH, REACH)
        if self.kind == "log":
            return np.asarray(np.exp(values) * self.spread - self.shift)
        return np.asarray(np.sinh(values) * self.spread + self.shift)


def weighted_quantiles(values: FloatArray, levels: FloatArray, weight: FloatArray) -> FloatArray:
    """The smallest values that shares `levels` of the weight do not exceed."""
    order = np.argsort(values, kind="stable")
    share = np.cumsum(weight[order]) / weight.sum()
    position = np.searchsorted(share, levels - 1e-12)  # sums of equal weights are rounded
    return np.asarray(values[order][np.minimum(position, len(order) - 1)])


def _quantiles(values: FloatArray, levels: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Quantiles; interpolated where weights are equal."""
    if weight is None or np.all(weight == weight[0]):
        return np.asarray(np.quantile(values, levels))
    return weighted_quantiles(values, levels, weight)


IDENTITY = TargetScale("identity")


def heavy_tailed(y: FloatArray, weight: FloatArray) -> list[TargetScale]:
    """The transforms that may help; none for targets without heavy tails."""
    share = weight / weight.sum()
    mean = share @ y
    variance = share @ (y - mean) ** 2
    if variance <= 0 or not np.isfinite(variance):
        return []
    z = (y - mean) / np.sqrt(variance)
    skewness, kurtosis = share @ z**3, share @ z**4 - 3.0
    if max(abs(skewness), kurtosis / 3) < _HEAVY:
        return []
    low, high = float(y.min()), float(y.max())
    bounds = (low - (high - low), high + (high - low))
    if low >= 0:
        positive = y[y > 0]
        shift = 0.0 if low > 0 else float(np.quantile(positive, 0.05))
        middle = float(np.median(positive))
        return [TargetScale("log", shift, middle, bounds=(max(bounds[0], 0.0), bounds[1]))]
    quarter = np.quantile(y, [0.25, 0.5, 0.75])
    spread = float(quarter[2] - quarter[0])
    return [TargetScale("asinh", float(quarter[1]), spread, bounds=bounds)] if spread > 0 else []
