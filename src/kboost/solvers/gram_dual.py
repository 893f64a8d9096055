"""The 2-norm margin problem over a whole library, by its dual with one variable per row.

H, (n, m), holds all scaled columns of the library; rows r of the problem have a sign, a target, a
cost `upper_r` and a sample; g_r = sign_r h_sample(r). The offset b is free.

Primal      minimise    1/2 |x|^2 + sum_r upper_r slack_r
            subject to  g_r'x + sign_r b + slack_r >= target_r,   slack >= 0

Dual        maximise    D(u) = target'u - 1/2 v'K v,      K = H H',   v_i = sum_{r of i} sign_r u_r
            subject to  0 <= u <= upper,   sum_i v_i = 0

With targets of 1 that is a support vector machine, and with two rows per sample (a tube) support
vector regression, on the kernel matrix K, however many columns the library has. Recovery:

    x = H'v,  the edges of the library at the weights v;     f = H x + b = K v + b;

b minimises the cost of the slacks given K v: convex and piecewise linear, solved by sorting.

Certificate: x and b are feasible for the primal, and u, clipped to its box and balanced, is for the
dual, so with the same v on both sides

    P - D = v'K v + upper'slack - target'u   >=   P - optimum   >=   0.

Solver: libsvm finds which duals are 0, at their bound, or between (free), with a loose tolerance,
which is most of what it does well: it keeps K in single precision. Given these sets the free duals
and b solve the linear system

    K_FF v_F + b = sign_F target_F - K_FU v_U,      sum v_F = - sum v_U,

and rows that contradict their set change it (primal-dual active set). A few rounds give a gap near
rounding. Where they do not settle, libsvm starts again with a finer tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.solvers.libsvm import solve_dual, solve_tube_dual

_TOLERANCES = (1e-3, 1e-5)  # of libsvm, in units of the targets
_ROUNDS, _STALLS = 20, 4  # at most, and without progress
_JITTER = 1e-12  # of the mean diagonal
_AGREES = 1e-9  # contradictions in units of margins, and of duals over their bound
_MOST_STEPS = 200  # of libsvm, times rows, and at least ...
_LEAST_STEPS = 200_000


@dataclass(frozen=True)
class GramPoint:
    """Feasible duals, the weights and the offset that they give, and both objectives."""

    duals: FloatArray  # (r,)
    weights: FloatArray  # (n,), v
    values: FloatArray  # (n,), K v
    bias: float
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """The relative gap; 0/0 is 0."""
        size = max(abs(self.primal), abs(self.dual))
        return max(0.0, self.primal - self.dual) / size if size > 0 else 0.0


@dataclass(frozen=True)
class GramDual:
    """The problem: the matrix K and the rows; a row of cost 0 is left out.

    `sample` is None for one row per sample; else row r and row n + r are both sides of a tube.
    """

    K: FloatArray  # (n, n), symmetric, in C order
    signs: FloatArray  # (r,)
    targets: FloatArray  # (r,)
    upper: FloatArray  # (r,)
    sample: IntArray | None = None

    def solve(self, accuracy: float, seconds: float = float("inf")) -> GramPoint:
        """A point of this relative gap, or the best that was found."""
        best: GramPoint | None = None
        for duals in self._starts(seconds):
            point = self.point(duals)
            if not point.gap <= accuracy:
                polished = self.from_guess(duals, accuracy)
                point = polished if polished is not None and polished.gap < point.gap else point
            best = point if best is None or point.gap < best.gap else best
            if best.gap <= accuracy:
                break
        assert best is not None
        return best

    def from_guess(self, duals: FloatArray, accuracy: float) -> GramPoint | None:
        """A point of this gap from duals that guess the sets, or the best on the way, if any."""
        slack = _AGREES * self.upper
        at_upper = duals >= self.upper - slack
        free = (duals > slack) & ~at_upper
        best: GramPoint | None = None
        stalls = 0
        for _ in range(_ROUNDS):
            try:
                solved, bias = self._newton(free, at_upper)
            except LinAlgError:
                break
            point = self.point(solved)
            stalls = 0 if best is None or point.gap < best.gap else stalls + 1
            best = best if stalls and best is not None else point
            if best.gap <= accuracy or stalls > _STALLS:
                break
            missing = self._missing(self._decision(solved, bias))
            beyond = _AGREES * self._unit
            stays = at_upper & (missing >= -beyond)
            now_at_upper = stays | (free & (solved > self.upper + slack))
            out = ~at_upper & ~now_at_upper & np.where(free, solved < -slack, missing <= beyond)
            now_free = ~out & ~now_at_upper & (self.upper > 0)
            if np.array_equal(now_free, free) and np.array_equal(now_at_upper, at_upper):
                break
            free, at_upper = now_free, now_at_upper
        return best

    def point(self, duals: FloatArray) -> GramPoint:
        """These duals made feasible, with the best offset and the certificate."""
        duals = self._balanced(duals)
        weights = self._weights(duals)
        values = self.K @ weights
        power = float(weights @ values)
        per_row = values if self.sample is None else values[self.sample]
        bias = best_bias(self.signs * self.targets - per_row, self.signs, self.upper)
        errors = float(self.upper @ np.maximum(0.0, self._missing(values + bias)))
        gain = float(self.targets @ duals)
        return GramPoint(duals, weights, values, bias, power / 2 + errors, gain - power / 2)

    def _starts(self, seconds: float) -> Iterator[FloatArray]:
        """Duals from libsvm, with finer and finer tolerances."""
        most = max(_LEAST_STEPS, _MOST_STEPS * len(self.K))
        for tol in _TOLERANCES:
            if self.sample is None:
                yield solve_dual(self.K, self.signs, self.upper, tol, seconds, most)[0]
            else:
                yield self._tube_start(tol * self._unit, seconds, most)

    def _tube_start(self, tol: float, seconds: float, most: int) -> FloatArray:
        """Duals of both sides of a tube, from libsvm."""
        above, below = np.split(self.targets, 2)  # y - epsilon, -y - epsilon
        epsilon = max(0.0, -float(above[0] + below[0]) / 2)
        upper = self.upper[: len(self.K)]
        v = solve_tube_dual(self.K, (above - below) / 2, upper, epsilon, tol, seconds, most)
        return np.maximum(0.0, self.signs * np.tile(v, 2))

    def _newton(self, free: BoolArray, at_upper: BoolArray) -> tuple[FloatArray, float]:
        """The duals and the offset given the sets."""
        free_rows, upper_rows = np.flatnonzero(free), np.flatnonzero(at_upper & (self.upper > 0))
        if not len(free_rows):
            raise LinAlgError("no row is free")
        among, beside = self._samples(free_rows), self._samples(upper_rows)
        fixed = self.signs[upper_rows] * self.upper[upper_rows]
        K_free = self.K[np.ix_(among, among)]
        K_free[np.diag_indices_from(K_free)] += _JITTER * float(np.mean(np.diag(K_free)))
        pull = np.zeros(len(self.K))
        np.add.at(pull, beside, fixed)
        right = np.column_stack(
            [
                self.signs[free_rows] * self.targets[free_rows] - self.K[among] @ pull,
                np.ones(len(free_rows)),
            ]
        )
        solved = cho_solve(cho_factor(K_free, lower=True, check_finite=False), right)
        bias = float((solved[:, 0].sum() + fixed.sum()) / solved[:, 1].sum())
        duals = np.where(at_upper, self.upper, 0.0)
        duals[free_rows] = self.signs[free_rows] * (solved[:, 0] - bias * solved[:, 1])
        if not np.isfinite(duals).all():
            raise LinAlgError("overflow")
        return duals, bias

    def _decision(self, duals: FloatArray, bias: float) -> FloatArray:
        decision: FloatArray = self.K @ self._weights(duals) + bias
        return decision

    def _missing(self, decision: FloatArray) -> FloatArray:
        """What each row misses its target by, negative beyond it, (r,)."""
        per_row = decision if self.sample is None else decision[self.sample]
        return self.targets - self.signs * per_row

    def _weights(self, duals: FloatArray) -> FloatArray:
        return self._at_samples(self.signs * duals)

    def _at_samples(self, values: FloatArray) -> FloatArray:
        """Values of rows summed per sample, (n,)."""
        if self.sample is None:
            return values
        return np.bincount(self.sample, values, len(self.K)).astype(np.float64)

    def _samples(self, rows: IntArray) -> IntArray:
        return rows if self.sample is None else self.sample[rows]

    @property
    def _unit(self) -> float:
        """The scale of margins."""
        return float(np.abs(self.targets).max()) or 1.0

    def _balanced(self, duals: FloatArray) -> FloatArray:
        """Duals clipped to their box, the heavier sign scaled down until `sum v = 0`."""
        clipped = np.clip(duals, 0.0, self.upper)
        positive = self.signs > 0
        up, down = float(clipped[positive].sum()), float(clipped[~positive].sum())
        least = min(up, down)
        shares = [least / side if side > least else 1.0 for side in (up, down)]
        return clipped * np.where(positive, *shares)


def best_bias(breakpoints: FloatArray, signs: FloatArray, upper: FloatArray) -> float:
    """The offset of the least cost of slacks; the middle of all such.

    Row r has no slack for offsets above its breakpoint (sign 1), or below it (sign -1).
    """
    order = np.argsort(breakpoints, kind="stable")
    slopes = np.cumsum(upper[order]) - upper[signs > 0].sum()
    tolerance = 1e-9 * float(upper.sum())
    first = min(int(np.searchsorted(slopes, -tolerance)), len(order) - 1)
    last = min(int(np.searchsorted(slopes, tolerance)), len(order) - 1)
    return float(breakpoints[order[first]] + breakpoints[order[last]]) / 2
