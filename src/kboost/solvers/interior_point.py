"""An interior-point method for the margin LP with dense columns, with warm starts.

Problem and dual are those of margin_lp.py, with a cost `cost_j` per column and `upper` bounds of
the duals:

    minimise    sum_j cost_j |x_j| + sum_i upper_i slack_i
    subject to  (G x)_i + sign_i b + slack_i >= target_i,   slack >= 0

    maximise    target' u,   0 <= u <= upper,   |G' u| <= cost,   sign' u = 0 (b free)

predictor_corrector.py makes the steps. There are two starts. `begin` uses x, b and u: it scales u
to `|G'u| < cost` and raises products of complementary pairs that are too small. `resume` continues
from an iterate of an earlier solve after columns were added or removed: columns that remain keep
their pairs, a new one gets the mean product of the others and is dual infeasible for a step or two,
by no more than the distance of the iterate from its optimum; full feasibility would take many
steps. A nearly optimal iterate is close to the boundary and a bad start, so a solve returns all its
iterates; the best one to resume from is about as far from its optimum as the new columns violate
the dual.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from kboost._typing import FloatArray, IntArray
from kboost.solvers.predictor_corrector import (
    DenseMarginLP,
    InteriorPoint,
    Iterate,
    Products,
    advance,
    products_at,
)

_MARGIN = 0.97  # largest `|G'u| / cost` of a start
_LIFT = 0.1  # least product at a start, relative to the mean
_NEW_SLACK = 0.1  # largest dual slack given to a violated new column, relative to its cost
_ROUNDING, _STALL = 1e-7, 3  # below this gap a solve ends if so many steps do not halve the gap
_REFINE = 1e-2  # gap below which directions are refined once


@dataclass(frozen=True)
class InteriorPath:
    """The best point of a solve, and all iterates with their gaps, the start included."""

    best: InteriorPoint
    iterates: Sequence[tuple[float, Iterate]]

    def at_gap(self, gap: float) -> Iterate:
        """The last iterate with at least this gap; the start if there is none."""
        far = [iterate for reached, iterate in self.iterates if reached >= gap]
        return far[-1] if far else self.iterates[0][1]


def solve_interior(
    lp: DenseMarginLP,
    start: Iterate,
    *,
    tol: float,
    seconds: float = np.inf,
    max_steps: int = 60,
) -> InteriorPath:
    """Solve to a relative gap of `tol`, or as close as rounding and time allow."""
    ends = time.monotonic() + seconds
    iterate, known = start, products_at(lp, start)
    best = _point(lp, iterate, known)
    iterates = [(best.gap, start)]
    while best.gap > tol and len(iterates) <= max_steps and time.monotonic() < ends:
        try:
            with np.errstate(all="ignore"):
                iterate = advance(lp, iterate, known, refine=best.gap < _REFINE)
                known = products_at(lp, iterate)
                now = _point(lp, iterate, known)
        except (LinAlgError, ZeroDivisionError):
            break
        if not np.isfinite(now.gap) or now.gap > 1e3 * best.gap:
            break  # rounding dominates: keep the best point
        iterates.append((now.gap, iterate))
        if now.gap < best.gap:
            best = now
        if (
            best.gap < _ROUNDING
            and best.gap > 0.5 * iterates[-1 - min(_STALL, len(iterates) - 1)][0]
        ):
            break
    return InteriorPath(best, iterates)


def begin(lp: DenseMarginLP, x: FloatArray, bias: float, duals: FloatArray) -> Iterate:
    """An iterate from coefficients and duals that need not be feasible."""
    costs = lp.costs
    scale = float(np.max(lp.spread(lp.edges(duals)) / costs, initial=0.0))
    u = np.clip(duals / max(1.0, scale / _MARGIN), 1e-12 * lp.upper, (1 - 1e-12) * lp.upper)
    z = np.maximum(costs - lp.spread(lp.edges(u)), 1e-3 * costs)
    margins = lp.margins(x)
    excess = max(lp.objective(x, bias, margins) - float(lp.targets @ u), 1e-300)
    least = _LIFT * excess / (2 * len(u) + len(z))
    positive = np.maximum(lp.spread(x), 0.0)
    lift = lp.pairs(np.maximum(least / z - positive, 0.0)).max(axis=0)
    residual = lp.targets - margins - lp.signs * bias
    over, under = np.maximum(residual, 0.0), np.maximum(-residual, 0.0)
    shift = np.maximum(least / (lp.upper - u) - over, least / u - under)
    shift = np.maximum(shift, 0.0)
    return Iterate(
        v=positive + lp.sides(np.array([lift, lift])),
        z=z,
        over=over + shift,
        under=under + shift,
        u=u,
        b=bias,
    )


def resume(
    lp: DenseMarginLP, before: DenseMarginLP, iterate: Iterate, old: IntArray, *, gap: float
) -> Iterate:
    """An iterate of `lp` from one of the problem `before` with about this gap.

    `old` has the position of each column in `before`, or -1.
    """
    mu = iterate.products(before.upper) / (len(iterate.v) + 2 * len(iterate.u))
    least = min(_NEW_SLACK, gap) * lp.costs
    slack = np.maximum(lp.costs - lp.spread(lp.edges(iterate.u)), least)
    z = lp.pairs(slack, absent=np.inf)
    v = np.tile(mu / z.min(axis=0), (2, 1))  # equal sides, so that x is 0
    kept = old >= 0
    v[:, kept] = before.pairs(iterate.v)[:, old[kept]]
    z[:, kept] = before.pairs(iterate.z)[:, old[kept]]
    return replace(iterate, v=lp.sides(v), z=lp.sides(z))


def _point(lp: DenseMarginLP, iterate: Iterate, known: Products) -> InteriorPoint:
    """The iterate with its gap; u is scaled to be feasible only for the bound."""
    return lp.point(known.x, iterate.b, iterate.u, known.margins, known.edges)
