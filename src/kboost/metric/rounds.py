"""Widths per feature learned in rounds, each judged on rows left out.

A round fits kernel ridge regression on the training rows with the metric so far,

    minimise  1/2 sum_i w_i (y_i - f(x_i))^2 + ridge/2 |f|^2,

at the width and the ridge of the lowest error on the rows left out, found by doubling and halving
from one start, or with many rows from the best of a few: a target with a coarse and a fine part,
which shows with many rows only, has more than one minimum.
The slopes of that fit (metric/gradients.py) scale the features of the next round. Round 0 has equal
scales, so a metric that does not help is never taken.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.ard import fit_ard
from kboost.kernels.base import Kernel, ViewKernel
from kboost.kernels.widths import width
from kboost.metric.families import MetricFamily, unit_variance
from kboost.metric.gradients import slopes
from kboost.solvers.ridge import precision, ridge_solve

ROUNDS = 3
ARD_ROWS = 700
_LENGTH, _RIDGE = 2.0, 4.0  # factors of the steps of the search
START, FINE_START = (2.0, 3e-2), (0.5, 1e-3)  # lengths and ridges
FINE_ROWS = 1000  # training rows from which there are several starts
_LENGTHS, _RIDGES = (0.1, 300.0), (1e-7, 1e4)
_LINEAR_RIDGES = (1e-5, 1e5)  # kernels without a width have a larger diagonal
_SLOPE_ROWS = 400  # at which slopes are computed
_LEAST = 1e-3  # scale of a feature, of the largest
_MANY = 500  # rows from which float32 saves time
_GAIN = 0.002  # a step of the search must lower the error by this part


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows, with targets of mean 0, and the rows left out.

    Transforms and the unit of lengths come from the training rows unless there is a reference.
    """

    X: FloatArray
    targets: FloatArray  # (n, q)
    weight: FloatArray
    X_left_out: FloatArray
    targets_left_out: FloatArray
    weight_left_out: FloatArray
    mean: FloatArray  # what was subtracted from all targets
    left_out: IntArray  # numbers of the rows left out
    reference: tuple[FloatArray, FloatArray] | None = None  # rows and weights for transforms
    _ard: list[FloatArray] = field(default_factory=list, init=False, repr=False)

    def ard_scale(self, deadline: Deadline = NO_LIMIT) -> FloatArray:
        """The scales of the marginal likelihood (kernels/ard.py), on features of variance 1.

        They are computed once, as far as there is time then.
        """
        if not self._ard:
            base = unit_variance(*(self.reference or (self.X, self.weight)))
            Z = np.asarray(base.apply(self.X))
            seconds = deadline.seconds
            ard = fit_ard(
                Z, self.targets, sample_weight=self.weight, n_rows=ARD_ROWS,
                max_seconds=None if seconds is None else max(seconds, 1e-9),
            )  # fmt: skip
            scale = 1.0 / ard.widths
            top = float(scale.max(initial=0.0))
            self._ard.append(np.maximum(scale / top, _LEAST) if top > 0 else np.ones(len(scale)))
        return self._ard[0]

    def error(self, values: FloatArray) -> float:
        """The weighted mean squared error on the rows left out, summed over targets."""
        share = self.weight_left_out / self.weight_left_out.sum()
        return float(share @ np.sum((values - self.targets_left_out) ** 2, axis=1))


@dataclass(frozen=True)
class RoundResult:
    """What is known of the best fit of a round."""

    scale: FloatArray  # of the features, the largest 1
    length: float  # in units of the mean distance
    ridge: float
    error: float
    left_out: FloatArray  # values of the rows left out (m, q)
    entry_seconds: float  # of a kernel value in a prediction


@dataclass(frozen=True)
class RoundFit(RoundResult):
    """The best fit of a round."""

    coef: FloatArray  # (n, q)
    kernel: ViewKernel


class _Blocks:
    """Distances of one metric between the rows of a fold."""

    def __init__(self, family: MetricFamily, fold: Fold, scale: FloatArray) -> None:
        self.family, self.fold, self.scale = family, fold, scale
        X, weight = fold.reference or (fold.X, fold.weight)
        self.transform = family.transform(X, weight).scaled(scale)
        self.unit = mean_width(family, self.transform.apply(X), weight)
        self.Z: Any = self.transform.apply(fold.X)
        kernel = family.kernel(1.0, self.transform)
        self.inside = kernel.pairing.compute_viewed(self.Z, self.Z)
        start = time.perf_counter()
        self.outside = kernel.pairing.compute_viewed(self.transform.apply(fold.X_left_out), self.Z)
        self.seconds = time.perf_counter() - start
        self.single = self.inside.astype(np.float32), self.outside.astype(np.float32)
        self.values: dict[tuple[float, Any], tuple[FloatArray, FloatArray]] = {}  # of the kernel
        self.seen: dict[tuple[float, float], RoundFit] = {}

    def fit(self, length: float, ridge: float) -> RoundFit:
        """Kernel ridge regression at this width and ridge."""
        if (length, ridge) not in self.seen:
            kernel: Any = self.family.kernel(self.family.widen(self.unit, length), self.transform)
            dtype: Any = np.float64
            if self.family.learned and len(self.Z) >= _MANY:  # a diagonal of 1
                dtype = precision(len(self.Z), ridge, self.fold.weight)
            start = time.perf_counter()
            inside, outside = self._kernel_values(kernel, length, dtype)
            seconds = self.seconds + time.perf_counter() - start
            coef = ridge_solve(inside.copy(), self.fold.targets, self.fold.weight, ridge)
            unit = float(np.abs(coef).max(initial=0.0)) or 1.0
            values = unit * (outside @ (coef / unit).astype(dtype)).astype(np.float64)
            error = self.fold.error(values)
            self.seen[length, ridge] = RoundFit(
                self.scale, length, ridge, error, values, seconds / max(1, self.outside.size),
                coef, kernel,
            )  # fmt: skip
        return self.seen[length, ridge]

    def _kernel_values(
        self, kernel: Any, length: float, dtype: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Kernel values inside and outside, kept for other ridges at the same length."""
        if (length, dtype) not in self.values:
            self.values.clear()
            blocks = self.single if dtype is np.float32 else (self.inside, self.outside)
            inside, outside = (kernel.profile(block) for block in blocks)
            self.values[length, dtype] = inside, outside
        return self.values[length, dtype]

    def search(self, starts: Sequence[tuple[float, float]], deadline: Deadline) -> RoundFit:
        """Double and halve length and ridge from the best start as long as the error falls."""
        best = self.fit(*starts[0])
        for start in starts[1:] if self.family.learned else ():
            if deadline.remaining:
                best = min(best, self.fit(*start), key=lambda found: found.error)
        moves = [(1.0, 1 / _RIDGE), (1.0, _RIDGE)]
        if self.family.learned:
            moves += [(_LENGTH, 1.0), (1 / _LENGTH, 1.0)]
        ridges = _RIDGES if self.family.learned else _LINEAR_RIDGES
        tried, number = 0, 0
        while tried < len(moves) and deadline.remaining:
            longer, more = moves[number]
            length = float(np.clip(best.length * longer, *_LENGTHS))
            ridge = float(np.clip(best.ridge * more, *ridges))
            found = self.fit(length, ridge)
            if found.error < (1 - _GAIN) * best.error:
                best, tried = found, 0
            else:
                tried, number = tried + 1, (number + 1) % len(moves)
        return best


def learn_rounds(
    family: MetricFamily,
    fold: Fold,
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
    scale: FloatArray | None = None,
    starts: Sequence[tuple[float, float]] | None = None,
) -> list[RoundFit]:
    """The best fit of each round, as many as there is time for, at least one."""
    starts = starts or starts_for(fold)
    if scale is None:
        scale = fold.ard_scale(deadline) if family.likelihood else np.ones(fold.X.shape[1])
    out: list[RoundFit] = []
    rounds = rounds if family.learned and not family.likelihood else 0
    for number in range(rounds + 1):
        if out and not deadline.remaining:
            break
        blocks = _Blocks(family, fold, scale)
        best = blocks.search(starts, deadline)
        out.append(best)
        if number and best.error > out[-2].error:  # later rounds would follow it
            break
        if number < rounds and deadline.remaining:  # slopes take as long as a fit
            scale = _next_scale(blocks, best)
            starts = [(best.length, best.ridge)]
    return out


def starts_for(fold: Fold) -> list[tuple[float, float]]:
    """Where a search for length and ridge begins."""
    return [START, FINE_START] if len(fold.X) >= FINE_ROWS else [START]


def fixed_error(kernel: Kernel, ridge: float, fold: Fold) -> float:
    """The error of a given kernel and ridge on the rows left out."""
    coef = ridge_solve(kernel(fold.X, fold.X), fold.targets, fold.weight, ridge)
    return fold.error(kernel(fold.X_left_out, fold.X) @ coef)


def mean_width(family: MetricFamily, Z: Any, weight: FloatArray) -> float:
    """Gamma of the mean distance of the rows; 1 for kernels without a width."""
    return width("mean", family.kind.kind, Z, weight) if family.learned else 1.0


def _next_scale(blocks: _Blocks, best: RoundFit) -> FloatArray:
    rows = slice(_SLOPE_ROWS)  # rows are in random order
    slope = slopes(best.kernel, blocks.Z, blocks.Z[rows], best.coef, blocks.fold.weight[rows])
    scale = slope * best.scale  # along the features before scaling
    top = float(scale.max(initial=0.0))
    return np.maximum(scale / top, _LEAST) if top > 0 else np.ones(len(scale))
