"""The dual of a support vector machine, from a guess of which rows are where.

    maximise    D(u) = sum u - 1/2 v'K v,   v = s u,    0 <= u <= caps,   s'u = 0
    minimise    P = 1/2 v'K v + sum_i caps_i max(0, 1 - s_i (f_i + bias)),   f = K v

Rows are out (u = 0), at their cap, or free, with margin 1. If that were known, the free duals and
the bias would solve

    K_FF v_F + bias = s_F - K_FC v_C,      sum v_F = - sum v_C.

Newton's method for such problems (primal-dual active sets) takes a guess, solves, and moves the
rows whose dual or margin contradicts it. From a good guess, the solution for a similar K, it ends
after a few rounds; from a bad one it may cycle, or K_FF be singular: then there is no answer, and
the caller asks a solver that always has one. An answer is good by its own certificate, P - D.

Where caps are huge, a margin of 1 - 1e-9 costs as much as the rest of P together, and P of v proves
nothing. That of t v, t a little above 1, does: the least P over all multiples is found exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kboost._typing import BoolArray, FloatArray

_ROUNDS = 12
_JITTER = 1e-11  # of the mean diagonal
_ROUND = 1e-15  # a margin must not fall short of 1 by rounding alone
_AGREES = 1e-9  # margins and duals (over the largest cap) that contradict by less do not count


@dataclass(frozen=True)
class DualPoint:
    """Duals that keep their constraints, the best bias for them, and what that proves."""

    duals: FloatArray  # (n,)
    bias: float
    value: float  # D
    primal: float  # P

    @property
    def gap(self) -> float:
        """Relative; 0/0 is 0."""
        return (self.primal - self.value) / self.primal if self.primal > 0 else 0.0


def from_guess(
    K: FloatArray, signs: FloatArray, upper: FloatArray, duals: FloatArray, accuracy: float
) -> DualPoint | None:
    """A point of at most this relative gap, from duals that guess where rows are; None if stuck."""
    free, at_upper = sides(duals, upper)
    for _ in range(_ROUNDS):
        try:
            found, bias = _newton(K, signs, upper, free, at_upper)
        except LinAlgError:
            return None
        point = judged(K, signs, upper, balanced(signs, upper, found))
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
            point = stretched(K, signs, upper, point)
            return point if point.gap <= accuracy else None
        free, at_upper = now_free, now_at_upper
    return None


def sides(duals: FloatArray, upper: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Which rows are free, and which at their cap; a hair's breadth from an end is at the end.

    Duals that were scaled to weigh alike are not at their cap to the last bit.
    """
    slack = _AGREES * upper
    at_upper = duals >= upper - slack
    return (duals > slack) & ~at_upper, at_upper


def judged(K: FloatArray, signs: FloatArray, upper: FloatArray, duals: FloatArray) -> DualPoint:
    """Duals that keep their constraints, with their certificate."""
    values = K @ (signs * duals)
    power = float((signs * duals) @ values)
    bias, errors = best_bias(values, signs, upper)
    return DualPoint(duals, bias, float(duals.sum()) - power / 2, power / 2 + errors)


def stretched(K: FloatArray, signs: FloatArray, upper: FloatArray, point: DualPoint) -> DualPoint:
    """The point with the least P that a multiple of its function and bias gives.

    P(t) = t^2/2 power + sum_i caps_i max(0, 1 - t m_i), for margins m, is convex; its slope rises
    by caps_i m_i at t = 1 / m_i.
    """
    values = K @ (signs * point.duals)
    power = float((signs * point.duals) @ values)
    margins = signs * (values + point.bias)
    ahead = np.flatnonzero(margins > 0)
    if not len(ahead) or not power > 0:
        return point
    ahead = ahead[np.argsort(-margins[ahead], kind="stable")]
    ends = 1.0 / margins[ahead]
    pull = np.cumsum((upper * margins)[ahead][::-1])[::-1]  # of the rows that end here or later
    back = float(upper @ np.maximum(0.0, -margins))
    rises = ends * power + back >= np.append(pull[1:], 0.0)  # the slope, right after each end
    k = int(np.argmax(rises))
    t = min(ends[k], max(0.0, pull[k] - back) / power) * (1 + _ROUND)
    primal = t * t / 2 * power + float(upper @ np.maximum(0.0, 1.0 - t * margins))
    return replace(point, primal=min(point.primal, primal))


def best_bias(values: FloatArray, signs: FloatArray, upper: FloatArray) -> tuple[float, float]:
    """The bias of the least price of errors, the middle where there are several, and that price.

    The price is convex and piecewise linear: its slope, minus the caps of the positive rows at
    first, rises by a cap at each place where a row changes sides.
    """
    places = signs - values
    order = np.argsort(places, kind="stable")
    slopes = np.cumsum(upper[order]) - upper[signs > 0].sum()
    even = _AGREES * upper.sum()
    first = int(np.searchsorted(slopes, -even))
    last = min(int(np.searchsorted(slopes, even)), len(order) - 1)
    bias = float(places[order[first]] + places[order[last]]) / 2
    return bias, float(upper @ np.maximum(0.0, 1.0 - signs * (values + bias)))


def balanced(signs: FloatArray, upper: FloatArray, duals: FloatArray) -> FloatArray:
    """Duals moved into their box, those of the heavier sign scaled down until both weigh alike."""
    inside = np.clip(duals, 0.0, upper)
    plus, minus = inside[signs > 0].sum(), inside[signs < 0].sum()
    light, heavy = min(plus, minus), max(plus, minus)
    if heavy > light:
        inside = np.where((signs > 0) == (plus > minus), inside * (light / heavy), inside)
    return inside


def _newton(
    K: FloatArray, signs: FloatArray, upper: FloatArray, free: BoolArray, at_upper: BoolArray
) -> tuple[FloatArray, float]:
    """The duals and the bias that the guess implies."""
    F = np.flatnonzero(free)
    if not len(F):
        raise LinAlgError("no row is free")
    upper_rows = np.flatnonzero(at_upper)
    fixed = signs[upper_rows] * upper[upper_rows]
    inner = K[np.ix_(F, F)]
    inner[np.diag_indices_from(inner)] += _JITTER * max(float(np.mean(np.diag(inner))), 1e-300)
    right = np.column_stack([signs[F] - K[np.ix_(F, upper_rows)] @ fixed, np.ones(len(F))])
    solved = cho_solve(cho_factor(inner, lower=True, check_finite=False), right)
    bias = float((solved[:, 0].sum() + fixed.sum()) / solved[:, 1].sum())
    duals = np.where(at_upper, upper, 0.0)
    duals[F] = signs[F] * (solved[:, 0] - bias * solved[:, 1])
    return duals, bias
