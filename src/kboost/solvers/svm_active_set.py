"""The dual of a support vector machine by an active-set method, from a guess of the active rows.

    maximise    D(u) = sum u - 1/2 v'K v,   v = s u,    0 <= u <= upper,   s'u = 0
    minimise    P = 1/2 v'K v + sum_i upper_i max(0, 1 - s_i (f_i + bias)),   f = K v

Rows have u = 0, are at their upper bound, or are free, with margin 1. Given these sets, the free
duals and the bias solve

    K_FF v_F + bias = s_F - K_FC v_C,      sum v_F = - sum v_C.

The primal-dual active-set method (Newton's method for such problems) takes a guess, solves, and
moves the rows whose dual or margin contradicts it. From a good guess, the solution for a similar K,
it ends after a few rounds; from a bad one it may cycle, or K_FF may be singular: then it returns
None, and the caller uses another solver. A solution proves itself by its gap P - D.

With huge upper bounds a margin of 1 - 1e-9 costs as much as the rest of P, and P of v proves
nothing; that of t v, t slightly above 1, does: the least P over all multiples is found exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kboost._typing import BoolArray, FloatArray

_ROUNDS = 12
_JITTER = 1e-11  # of the mean diagonal
_ROUND = 1e-15  # relative, so that margins do not miss 1 by rounding
_AGREES = 1e-9  # contradictions of margins, and of duals over the largest bound, that count as none


@dataclass(frozen=True)
class DualPoint:
    """Feasible duals, their best bias, and the values of dual and primal."""

    duals: FloatArray  # (n,)
    bias: float
    value: float  # D
    primal: float  # P

    @property
    def gap(self) -> float:
        """The relative gap; 0/0 is 0."""
        return (self.primal - self.value) / self.primal if self.primal > 0 else 0.0


def from_guess(
    K: FloatArray, signs: FloatArray, upper: FloatArray, duals: FloatArray, accuracy: float
) -> DualPoint | None:
    """A point of at most this relative gap, from duals that guess the sets; None if stuck."""
    free, at_upper = active_sets(duals, upper)
    for _ in range(_ROUNDS):
        try:
            found, bias = _newton(K, signs, upper, free, at_upper)
        except LinAlgError:
            return None
        point = certified(K, signs, upper, balanced(signs, upper, found))
        if point.gap <= accuracy:
            return point
        margins = signs * (K @ (signs * found) + bias)
        slack = _AGREES * upper.max()
        out = ~at_upper & ((~free & (margins >= 1 - _AGREES)) | (free & (found < -slack)))
        now_at_upper = (at_upper & (margins <= 1 + _AGREES)) | (free & (found > upper + slack))
        now_free = ~out & ~now_at_upper
        if not now_free.any():
            return None
        if (now_free == free).all() and (now_at_upper == at_upper).all():
            point = best_multiple(K, signs, upper, point)
            return point if point.gap <= accuracy else None
        free, at_upper = now_free, now_at_upper
    return None


def active_sets(duals: FloatArray, upper: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which rows are free, and which at their upper bound, up to rounding.

    Duals that were scaled to balance the signs are not exactly at their bound.
    """
    slack = _AGREES * upper
    at_upper = duals >= upper - slack
    return (duals > slack) & ~at_upper, at_upper


def certified(K: FloatArray, signs: FloatArray, upper: FloatArray, duals: FloatArray) -> DualPoint:
    """Feasible duals with their bias and certificate."""
    values = K @ (signs * duals)
    power = float((signs * duals) @ values)
    bias, errors = best_bias(values, signs, upper)
    return DualPoint(duals, bias, float(duals.sum()) - power / 2, power / 2 + errors)


def best_multiple(
    K: FloatArray, signs: FloatArray, upper: FloatArray, point: DualPoint
) -> DualPoint:
    """The point with the least P over multiples of its function and bias.

    P(t) = t^2/2 power + sum_i upper_i max(0, 1 - t m_i), for margins m, is convex; its slope rises
    by upper_i m_i at t = 1 / m_i.
    """
    values = K @ (signs * point.duals)
    power = float((signs * point.duals) @ values)
    margins = signs * (values + point.bias)
    positive_rows = np.flatnonzero(margins > 0)
    if not len(positive_rows) or not power > 0:
        return point
    positive_rows = positive_rows[np.argsort(-margins[positive_rows], kind="stable")]
    breakpoints = 1.0 / margins[positive_rows]
    # of rows that reach margin 1 here or later
    later_slopes = np.cumsum((upper * margins)[positive_rows][::-1])[::-1]
    negative_slope = float(upper @ np.maximum(0.0, -margins))
    # whether the slope is nonnegative right after each breakpoint
    rises = breakpoints * power + negative_slope >= np.append(later_slopes[1:], 0.0)
    k = int(np.argmax(rises))
    t = min(breakpoints[k], max(0.0, later_slopes[k] - negative_slope) / power) * (1 + _ROUND)
    primal = t * t / 2 * power + float(upper @ np.maximum(0.0, 1.0 - t * margins))
    return replace(point, primal=min(point.primal, primal))


def best_bias(values: FloatArray, signs: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """The bias of the least cost of errors (the middle of all such), and that cost.

    The cost is convex and piecewise linear: its slope, minus the bounds of the positive rows at
    first, rises by a bound at each point where a row reaches its margin.
    """
    breakpoints = signs - values
    order = np.argsort(breakpoints, kind="stable")
    slopes = np.cumsum(upper[order]) - upper[signs > 0].sum()
    tolerance = _AGREES * upper.sum()
    first = int(np.searchsorted(slopes, -tolerance))
    last = min(int(np.searchsorted(slopes, tolerance)), len(order) - 1)
    bias = float(breakpoints[order[first]] + breakpoints[order[last]]) / 2
    return bias, float(upper @ np.maximum(0.0, 1.0 - signs * (values + bias)))


def balanced(signs: FloatArray, upper: FloatArray, duals: FloatArray) -> FloatArray:
    """Duals clipped to their box, the heavier sign scaled down until `s'u = 0`."""
    clipped = np.clip(duals, 0.0, upper)
    plus, minus = clipped[signs > 0].sum(), clipped[signs < 0].sum()
    light, heavy = min(plus, minus), max(plus, minus)
    if heavy > light:
        clipped = np.where((signs > 0) == (plus > minus), clipped * (light / heavy), clipped)
    return clipped


def _newton(
    K: FloatArray, signs: FloatArray, upper: FloatArray, free: BoolArray, at_upper: BoolArray
) -> tuple[FloatArray, float]:
    """The duals and the bias given the sets."""
    free_rows = np.flatnonzero(free)
    if not len(free_rows):
        raise LinAlgError("no row is free")
    upper_rows = np.flatnonzero(at_upper)
    fixed = signs[upper_rows] * upper[upper_rows]
    K_free = K[np.ix_(free_rows, free_rows)]
    K_free[np.diag_indices_from(K_free)] += _JITTER * max(float(np.mean(np.diag(K_free))), 1e-300)
    residual = signs[free_rows] - K[np.ix_(free_rows, upper_rows)] @ fixed
    right = np.column_stack([residual, np.ones(len(free_rows))])
    solved = cho_solve(cho_factor(K_free, lower=True, check_finite=False), right)
    bias = float((solved[:, 0].sum() + fixed.sum()) / solved[:, 1].sum())
    duals = np.where(at_upper, upper, 0.0)
    duals[free_rows] = signs[free_rows] * (solved[:, 0] - bias * solved[:, 1])
    return duals, bias
