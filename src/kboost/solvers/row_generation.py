"""The margin LP with the duals of most rows fixed: only rows near the margin are solved for.

A row far inside its margin has the dual 0, one far beyond it the dual `upper`. With the first in
I0, the second in I1 and the others in A, at a point (x, b) with residuals
`r_i = target_i - (G x)_i - sign_i b`:

    part     P(x, b) = cost' |x| + sum_{A} upper_i max(0, r_i) + sum_{I1} upper_i r_i
    whole    F(x, b) = cost' |x| + sum_i upper_i max(0, r_i)   >=   P(x, b)

They are equal where no fixed row is violated: r <= 0 in I0 and r >= 0 in I1. The dual of P is that
of F with `u = 0` in I0 and `u = upper` in I1:

    maximise   target' u     with  0 <= u <= upper,  |G'u| <= cost,  sign' u = 0 (b free)

so duals of P give a bound of F, and the gap between F(x, b) and that bound is a certificate of the
whole problem. A part costs |A| k^2 per step instead of n k^2. It may be unbounded where F is not;
then its bound is useless, which the gap shows.

A has the rows of the smallest |r| at the start. Fixed rows that turn out to be violated join it,
and the solve goes on from an iterate about as far from the optimum as they took it. Where they are
many, the solution of the part says nothing about the whole problem: A is doubled and the solve
begins again. Once A has half of the rows the start was too far from the optimum, and there is no
solution.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.solvers.interior_point import InteriorPath, solve_interior
from kboost.solvers.predictor_corrector import DenseMarginLP, FixedDuals, InteriorPoint, Iterate

_PER_COLUMN, _FEWEST = 3, 400  # rows of the first part
_MOST = 0.5  # of the rows, from which on the whole problem is solved
_STEPS = 20
_MORE = 0.25  # of the rows of a part are added to those that were violated
_MISSED = 0.1  # of the rows of a part: with more violated ones its solution is of no use
_KEPT_SLACK = 0.3  # of a dual slack, where fixing rows would make it smaller


def solve_near_margin(
    lp: DenseMarginLP,
    start: Iterate,
    near: tuple[FloatArray, float] | None = None,
    *,
    tol: float,
    seconds: float = np.inf,
) -> InteriorPath | None:
    """Solve to a relative gap of `tol` from a start near the optimum; None where that fails.

    `near` are coefficients and bias closer to the optimum than those of the start, if there are.
    """
    n, k = lp.columns.shape
    x, bias = (lp.gather(start.v, -1.0), start.b) if near is None else near
    if lp.n_mirrored:
        return None
    residual, wanted = lp.residual(x, bias), np.zeros(n, dtype=bool)
    count, ends = max(_PER_COLUMN * k, _FEWEST), time.monotonic() + seconds
    path: PartPath | None = None
    while count <= _MOST * n:
        distance = np.where(wanted, 0.0, np.abs(residual))
        part = _RowPart.of(lp, np.sort(np.argpartition(distance, count)[:count]), residual)
        begun = part.start(start if path is None else path.at_gap(path.best.gap))
        left = ends - time.monotonic()
        found = solve_interior(part.lp, begun, tol=tol / 2, seconds=left, max_steps=_STEPS)
        best = part.whole(found.best)
        violated = part.violated(best)
        missed = int(np.count_nonzero(violated))
        if best.gap <= tol or (found.best.gap <= tol and not missed):
            return PartPath(best, found.iterates, part.expand, path)
        if not missed:
            return None
        if missed > _MISSED * count:
            count *= 2
            continue
        path = PartPath(best, found.iterates, part.expand, path)
        residual = lp.residual(best.x, best.bias)
        wanted[part.rows], wanted[violated] = True, True
        count = int(np.count_nonzero(wanted) + _MORE * count)
    return None


@dataclass(frozen=True)
class PartPath(InteriorPath):
    """Iterates of a part, which become iterates of the whole problem when they are asked for."""

    expand: Callable[[Iterate], Iterate]
    before: PartPath | None  # of fewer rows

    def at_gap(self, gap: float) -> Iterate:
        if self.before is not None and self.iterates[0][0] < gap:
            return self.before.at_gap(gap)
        return self.expand(super().at_gap(gap))


@dataclass(frozen=True)
class _RowPart:
    """The rows A of a problem, as a problem, and the fixed duals of the others."""

    whole_lp: DenseMarginLP
    rows: IntArray  # A
    fixed: FloatArray  # (n,), duals of the rows not in A, 0 in A
    lp: DenseMarginLP

    @classmethod
    def of(cls, lp: DenseMarginLP, rows: IntArray, residual: FloatArray) -> _RowPart:
        """The part whose other rows are fixed by the signs of the residuals."""
        fixed = np.where(residual > 0.0, lp.upper, 0.0)
        fixed[rows] = 0.0
        rest = FixedDuals(lp.columns.T @ fixed, float(lp.signs @ fixed), float(lp.targets @ fixed))
        part = replace(
            lp,
            columns=np.asfortranarray(lp.columns[rows]),
            signs=lp.signs[rows],
            targets=lp.targets[rows],
            upper=lp.upper[rows],
            fixed=rest,
        )
        return cls(lp, rows, fixed, part)

    def start(self, iterate: Iterate) -> Iterate:
        """The rows A of an iterate of the whole problem; dual slacks as the fixed duals leave."""
        u = iterate.u[self.rows]
        edges = self.lp.edges(u) + self.lp.fixed.edges
        slack = np.maximum(self.lp.costs - self.lp.spread(edges), _KEPT_SLACK * iterate.z)
        over, under = iterate.over[self.rows], iterate.under[self.rows]
        return replace(iterate, z=slack, over=over, under=under, u=u)

    def expand(self, iterate: Iterate) -> Iterate:
        """An iterate of the whole problem: the other rows are centred at their residuals."""
        mu = iterate.products(self.lp.upper) / (len(iterate.v) + 2 * len(iterate.u))
        x = self.lp.gather(iterate.v, -1.0)
        over, under, u = centered_rows(
            self.whole_lp.upper, self.whole_lp.residual(x, iterate.b), mu
        )
        for values, known in ((over, iterate.over), (under, iterate.under), (u, iterate.u)):
            values[self.rows] = known
        return replace(iterate, over=over, under=under, u=u)

    def whole(self, point: InteriorPoint) -> InteriorPoint:
        """A point of the part as one of the whole problem, with the gap there."""
        duals = self.fixed.copy()
        duals[self.rows] = point.duals
        return self.whole_lp.point(point.x, point.bias, duals)

    def violated(self, point: InteriorPoint) -> BoolArray:
        """The fixed rows on the wrong side, (n,)."""
        residual = self.whole_lp.residual(point.x, point.bias)
        wrong: BoolArray = np.where(self.fixed > 0.0, residual < 0.0, residual > 0.0)
        wrong[self.rows] = False
        return wrong


def centered_rows(
    upper: FloatArray, residual: FloatArray, mu: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """`over, under, u` with `over - under = residual`, `over (upper - u) = mu = under u`.

    With `t = residual upper / (2 mu)` the share `u / upper` is `1/2 + t / (2 (1 + sqrt(1 + t^2)))`,
    written so that the distance to the nearer bound keeps its digits.
    """
    t = residual * upper / (2.0 * mu)
    near = 1.0 / (1.0 + np.abs(t) + np.sqrt(1.0 + t * t))  # share of the distance to the bound
    small, large = mu / (upper * (1.0 - near)), mu / (upper * near)
    beyond = t >= 0.0
    u = upper * np.where(beyond, 1.0 - near, near)
    return np.where(beyond, large, small), np.where(beyond, small, large), u
