"""Monotone transforms of each feature, applied before a kernel.

Standardize   t(x) = (x 2^-e - shift) scale,  e from the largest absolute value, so that features
              of size 1e300 do not overflow and features of size 1e-300 do not underflow;
              scale = 1 / weighted standard deviation, 0 for a constant feature.
Ranks         t(x) = weighted empirical distribution function: at a distinct value v
              (weight below v + half the weight at v) / W, linear between, constant outside;
              times a scale per feature, 1 unless a metric was learned.

Transforms with equal parameters are equal, so that views can be shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, cast

import numpy as np

from kboost._typing import CSRMatrix, FloatArray, IntArray, Matrix
from kboost.kernels.rows import (
    absent_weights,
    as_dense,
    entry_columns,
    entry_weights,
    extent,
    replace_data,
)

MAX_KNOTS = 256
FEW_ROWS = 16  # up to which rows are ranked one after another


class Transform(ABC):
    """Base class of fitted transforms; ``type(t)(*t.arrays)`` makes an equal one."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features the transform was fitted on."""

    @abstractmethod
    def apply(self, X: Matrix) -> Matrix:
        """Return the transformed rows."""

    @property
    def arrays(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The fitted parameters, in constructor order."""
        return tuple(getattr(self, f.name) for f in fields(cast(Any, self)))

    @cached_property
    def _key(self) -> bytes:
        return b"|".join((a + 0).tobytes() for a in self.arrays)  # + 0 turns -0.0 into 0.0

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key == other._key

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.arrays

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.n_features} features>"


@dataclass(frozen=True, eq=False, repr=False)
class Standardize(Transform):
    """Centre and scale each feature; if fitted on CSR, only scale, so that zeros stay zeros."""

    exponent: IntArray  # (d,)
    shift: FloatArray  # (d,)
    scale: FloatArray  # (d,)

    @classmethod
    def fit(cls, X: Matrix, weights: FloatArray) -> Standardize:
        """Fit to weighted rows."""
        low, high = extent(X)
        exponent = np.frexp(np.maximum(-low, high))[1]
        if isinstance(X, np.ndarray):
            scaled = np.ldexp(X.astype(np.float64, copy=False), -exponent)
            base = np.ldexp(low, -exponent)
            shift = base + weights @ (scaled - base) / weights.sum()
            variance = weights @ (scaled - shift) ** 2 / weights.sum()
        else:
            shift = np.zeros(X.shape[1])
            variance = _csr_variance(X, weights, exponent)
        deviation = np.sqrt(variance)
        varies = (high > low) & (deviation > 0)
        scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
        return cls(exponent, shift, scale)

    @property
    def n_features(self) -> int:
        """Number of features the transform was fitted on."""
        return len(self.scale)

    def scaled(self, factor: FloatArray) -> Standardize:
        """The transform with each feature multiplied by a factor."""
        return Standardize(self.exponent, self.shift, self.scale * factor)

    def apply(self, X: Matrix) -> Matrix:
        """Return the transformed rows; CSR stays CSR unless the transform centres."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if isinstance(X, np.ndarray):
                out = np.ldexp(X.astype(np.float64, copy=False), -self.exponent)
                out -= self.shift
                out *= self.scale
                return out.astype(X.dtype, copy=False)
            if self.shift.any():
                return self.apply(X.toarray())
            columns = entry_columns(X)
            data = np.ldexp(X.data.astype(np.float64), -self.exponent[columns])
            return replace_data(X, (data * self.scale[columns]).astype(X.dtype, copy=False))


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Transform):
    """Map each feature to its weighted mid-rank times a scale; at most 256 knots per feature."""

    starts: IntArray  # (d + 1,) knots of feature j are starts[j]:starts[j + 1]
    values: FloatArray  # (knots,)
    ranks: FloatArray  # (knots,), in [0, 1]
    scale: FloatArray  # (d,)

    @classmethod
    def fit(cls, X: Matrix, weights: FloatArray) -> Ranks:
        """Fit to weighted dense rows."""
        if not isinstance(X, np.ndarray):
            raise ValueError("on='ranks' requires dense X; got a sparse matrix; use on='standard'.")
        knots = [_rank_knots(feature, weights) for feature in X.T]
        starts = np.concatenate(([0], np.cumsum([len(v) for v, _ in knots])))
        values = np.concatenate([v for v, _ in knots]).astype(np.float64)
        return cls(starts, values, np.concatenate([r for _, r in knots]), np.ones(len(knots)))

    @property
    def n_features(self) -> int:
        """Number of features the transform was fitted on."""
        return len(self.starts) - 1

    def scaled(self, factor: FloatArray) -> Ranks:
        """The transform with each feature multiplied by a factor."""
        return Ranks(self.starts, self.values, self.ranks, self.scale * factor)

    def apply(self, X: Matrix) -> Matrix:
        """Return the scaled ranks, always dense."""
        dense = as_dense(X)
        out = np.empty(dense.shape, dtype=dense.dtype)
        if len(dense) <= max(1, min(self.n_features // 2, FEW_ROWS)):
            for i, row in enumerate(dense):
                out[i] = self.scale * self._of_row(row)
            return out
        for j in range(self.n_features):
            knots = slice(self.starts[j], self.starts[j + 1])
            ranks = _interpolate(dense[:, j], self.values[knots], self.ranks[knots])
            out[:, j] = self.scale[j] * ranks
        return out

    def _of_row(self, row: FloatArray) -> FloatArray:
        """The ranks of one row, all features at a time."""
        table, first, last = self._knots
        below = np.count_nonzero(table <= row[:, None], axis=1)
        knot = first + np.maximum(np.minimum(below, last - first), 1) - 1
        after = np.minimum(knot + 1, last)
        low, high = self.values[knot] / 2, self.values[after] / 2
        return _between(row, low, high, self.ranks[knot], self.ranks[after])

    @cached_property
    def _knots(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Knots, one line per feature that ends with infinities; each feature's first and last."""
        counts = np.diff(self.starts)
        table = np.full((len(counts), counts.max(initial=0)), np.inf)
        table[np.arange(table.shape[1]) < counts[:, None]] = self.values
        return table, self.starts[:-1], self.starts[1:] - 1


TRANSFORMS: dict[str, type[Standardize] | type[Ranks]] = {"standard": Standardize, "ranks": Ranks}


def _csr_variance(X: CSRMatrix, weights: FloatArray, exponent: IntArray) -> FloatArray:
    columns, d, total = entry_columns(X), X.shape[1], weights.sum()
    data = np.ldexp(X.data.astype(np.float64), -exponent[columns])
    w = entry_weights(X, weights)
    mean = np.bincount(columns, w * data, d) / total
    stored = np.bincount(columns, w * (data - mean[columns]) ** 2, d)
    absent = absent_weights(X, weights)
    variance: FloatArray = (stored + absent * mean**2) / total
    return variance


def _rank_knots(feature: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, group = np.unique(feature, return_inverse=True)
    mass = np.bincount(group, weights)
    ranks = (np.cumsum(mass) - mass / 2) / mass.sum()
    if len(values) > MAX_KNOTS:
        targets = np.linspace(ranks[0], ranks[-1], MAX_KNOTS)
        keep = np.unique(np.searchsorted(ranks, targets).clip(max=len(ranks) - 1))
        values, ranks = values[keep], ranks[keep]
    return values, ranks


def _interpolate(x: FloatArray, values: FloatArray, ranks: FloatArray) -> FloatArray:
    """``np.interp`` without overflow: values are halved, so their differences stay finite."""
    if len(values) == 1:
        return np.full(len(x), ranks[0])
    knot = np.searchsorted(values, x, side="right").clip(1, len(values) - 1) - 1
    low, high = values[knot] / 2, values[knot + 1] / 2
    return _between(x, low, high, ranks[knot], ranks[knot + 1])


def _between(
    x: FloatArray, low: FloatArray, high: FloatArray, rank: FloatArray, next_rank: FloatArray
) -> FloatArray:
    """Ranks between those of two knots, given by half their values."""
    width = high - low
    part = np.divide(x / 2 - low, width, out=np.zeros(len(x)), where=width != 0).clip(0, 1)
    return np.asarray(rank * (1 - part) + next_rank * part)
