"""Rules that turn weighted rows into a width ``gamma``.

Over all pairs i, j (i = j included) with weight w_i w_j, W = sum w:

"mean"    1 / mean distance.  Squared Euclidean: 2 sum_d var_d, O(nd).  City block, by sorting:
          2 / W^2 sum_d sum_k F_k (W - F_k) (x_(k+1) - x_(k)),  F_k the weight up to x_(k).
"median"  1 / median distance, or the mean if the median is 0. Above 1000 distinct rows, 1000 rows
          at even points of the cumulated weight are used, ordered by content.
"scale"   1 / (d var of all entries), as in scikit-learn's SVC.

In all of them, a row given twice is equivalent to a row of weight 2. Equal rows give 1.
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray, Matrix
from kboost.kernels.distances import cityblock, sqeuclidean
from kboost.kernels.rows import absent_weights, distinct_rows, entry_columns, entry_weights, extent

RULES = ("mean", "median", "scale")
MEDIAN_ROWS = 1000


def width(rule: str, metric: str, rows: Matrix, weights: FloatArray) -> float:
    """Return ``gamma`` by a rule, for ``metric`` "sqeuclidean" or "cityblock"."""
    if metric not in ("sqeuclidean", "cityblock"):
        raise ValueError(
            f"gamma={rule!r} requires 'sqeuclidean' or 'cityblock' distances; got {metric!r}; "
            "give gamma as a number."
        )
    weights = weights / (weights.max(initial=0.0) or 1.0)  # their squares and sums stay finite
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        spread = _spread(rule, metric, rows, weights)
        gamma = float(np.divide(1.0, spread)) if spread > 0 else 1.0
    if not np.isfinite(spread):
        raise ValueError(
            f"gamma='{rule}' requires finite distances; got inf or nan; scale the features, or use "
            "on='standard'."
        )
    return gamma if np.isfinite(gamma) else 1.0


def _spread(rule: str, metric: str, rows: Matrix, weights: FloatArray) -> float:
    if rule == "scale":
        return int(rows.shape[1]) * _entry_variance(rows, weights)
    if rule == "median":
        median = _median_distance(metric, rows, weights)
        if median != 0:
            return median
    return mean_cityblock(rows, weights) if metric == "cityblock" else mean_square(rows, weights)


def mean_square(rows: Matrix, weights: FloatArray) -> float:
    """Return the weighted mean of ``|x_i - x_j|^2`` over all pairs."""
    share = weights / weights.sum()
    low = extent(rows)[0]  # subtracted, so that a constant feature is exactly 0
    if isinstance(rows, np.ndarray):
        above = rows - low
        return float(2 * (share @ (above - share @ above) ** 2).sum())
    columns, p = entry_columns(rows), entry_weights(rows, share)
    absent, above = absent_weights(rows, share), rows.data - low[columns]
    mean = np.bincount(columns, p * above, len(low)) - absent * low
    return float(2 * (p @ (above - mean[columns]) ** 2 + absent @ (low + mean) ** 2))


def mean_cityblock(rows: Matrix, weights: FloatArray) -> float:
    """Return the weighted mean of ``|x_i - x_j|_1`` over all pairs."""
    share = weights / weights.sum()
    if isinstance(rows, np.ndarray):
        return float(sum(_mean_gap(x.astype(np.float64), share) for x in rows.T))
    by_column = rows.tocsc()
    total = 0.0
    for a, b in zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True):
        p = share[by_column.indices[a:b]]
        values = by_column.data[a:b].astype(np.float64)
        if b - a < len(share):
            values, p = np.append(values, 0.0), np.append(p, max(0.0, 1.0 - p.sum()))
        total += _mean_gap(values, p)
    return total


def _mean_gap(values: FloatArray, share: FloatArray) -> float:
    order = np.argsort(values)
    below = np.cumsum(share[order])[:-1]
    return float(2 * (np.diff(values[order]) @ (below * np.maximum(1 - below, 0.0))))


def _median_distance(metric: str, rows: Matrix, weights: FloatArray) -> float:
    index, w = distinct_rows(rows, weights)
    if len(index) > MEDIAN_ROWS:
        cumulated = np.cumsum(w)
        points = (np.arange(MEDIAN_ROWS) + 0.5) / MEDIAN_ROWS * cumulated[-1]
        index = index[np.searchsorted(cumulated, points).clip(max=len(index) - 1)]
        w = np.ones(MEDIAN_ROWS)
    chosen = rows[index].astype(np.float64)
    block = cityblock(chosen, chosen) if metric == "cityblock" else sqeuclidean(chosen, chosen)
    return _weighted_median(block.ravel(), np.outer(w, w).ravel())


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Return the median; the mean of the two middle values where the halves are equal."""
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order])
    half, slack = cumulated[-1] / 2, 1e-12 * cumulated[-1]
    places = np.searchsorted(cumulated, [half - slack, half + slack])
    low, high = values[order[places]]
    return float(low + (high - low) / 2)


def _entry_variance(rows: Matrix, weights: FloatArray) -> float:
    share = weights / weights.sum()
    low = extent(rows)[0].min()
    if isinstance(rows, np.ndarray):
        above = rows - low
        return float((share @ (above - (share @ above).mean()) ** 2).mean())
    d = rows.shape[1]
    p, absent = entry_weights(rows, share) / d, absent_weights(rows, share).mean()
    above = rows.data - low
    mean = p @ above - absent * low
    return float(p @ (above - mean) ** 2 + absent * (low + mean) ** 2)
