"""Prediction intervals from the residuals of rows left out.

With the transform g of the target, the residuals r_i = g(y_i) - g(f_i) of rows left out, of weights
w_i and total weight W, and the coverage c,

    g^-1(g(f(x)) + l) <= y <= g^-1(g(f(x)) + u)

where u is the smallest residual that a share (1 + c) / 2 of W + 1 does not exceed, and -l that of
the residuals -r_i; infinite if there are too few rows for that share. These are the bounds of split
conformal prediction, without its guarantee: the same rows chose the model, which was then fitted to
more rows than those of the residuals. A share of about c of new rows is covered.

Rows of one x that were merged have their own residuals, not that of their mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.scored_candidate import ScoredCandidate
from kboost.auto.target_scale import TargetScale, weighted_quantiles
from kboost.data.indexed_rows import IndexedRows
from kboost.metric.folds import LearningRows

_LEVELS = 512  # quantiles that are kept: above 0.996 the bounds are the largest residuals


@dataclass(frozen=True)
class LeftOutResiduals:
    """Quantiles of the residuals at the levels k / n, k = 1, ..., n, from below and from above."""

    lower: FloatArray  # of -r
    upper: FloatArray  # of r
    total: float  # weight of the rows left out

    def bounds(self, coverage: float) -> tuple[float, float]:
        """What to add to a prediction, on the scale of the transform."""
        level = (1.0 + coverage) / 2 * (1.0 + 1.0 / self.total)
        if level > 1.0:
            return -np.inf, np.inf
        index = int(np.ceil(level * len(self.upper) - 1e-9)) - 1
        return -float(self.lower[index]), float(self.upper[index])


def left_out_residuals(
    scale: TargetScale, y: FloatArray, predicted: FloatArray, weight: FloatArray
) -> LeftOutResiduals:
    """The residuals of these rows, on the scale of the transform."""
    residuals = scale.apply(y) - scale.apply(_inside(scale, predicted))
    return LeftOutResiduals(
        _quantiles(-residuals, weight), _quantiles(residuals, weight), float(weight.sum())
    )


def residuals_of(
    winner: ScoredCandidate, learning: LearningRows, rows: IndexedRows
) -> LeftOutResiduals:
    """The residuals of a candidate at the rows left out; `rows` are all rows, not merged."""
    y, predicted = learning.targets[winner.rows, 0], winner.values[:, 0]
    weight = learning.weight[winner.rows]
    if len(learning) == len(rows.center_rows):  # rows of one x are merged
        positions, counts = _rows_of_centers(rows, winner.rows)
        y, weight = rows.targets[positions, 0], rows.weight[positions]
        predicted = np.repeat(predicted, counts)
    return left_out_residuals(winner.scale, y, predicted, weight)


def _rows_of_centers(rows: IndexedRows, centers: IntArray) -> tuple[IntArray, IntArray]:
    """The places of the rows of these distinct x, and the number of rows of each."""
    starts = np.append(rows.center_rows, len(rows.order))
    counts = np.diff(starts)[centers]
    first = np.repeat(starts[centers] - np.append(0, np.cumsum(counts)[:-1]), counts)
    return first + np.arange(int(counts.sum())), counts


def interval(
    scale: TargetScale, residuals: LeftOutResiduals, predicted: FloatArray, coverage: float
) -> FloatArray:
    """Lower and upper bounds, (n, 2)."""
    middle = scale.apply(_inside(scale, predicted))
    low, high = residuals.bounds(coverage)
    return np.column_stack(
        [scale.invert_exactly(middle + low), scale.invert_exactly(middle + high)]
    )


def _inside(scale: TargetScale, predicted: FloatArray) -> FloatArray:
    """Predictions at which the transform is defined."""
    if scale.kind != "log":
        return predicted
    return np.maximum(predicted, -scale.shift + 1e-9 * scale.spread)


def _quantiles(values: FloatArray, weight: FloatArray) -> FloatArray:
    levels = np.arange(1, _LEVELS + 1) / _LEVELS
    return weighted_quantiles(values, levels, weight)
