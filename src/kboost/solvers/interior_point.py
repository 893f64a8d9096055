"""An interior point for the margin LP with dense columns, warm from one set of columns to the next.

Problem and dual are those of lp.py, with a price `cost_j` a column and slack prices `caps`:

    minimise    sum_j cost_j |x_j| + sum_i cap_i slack_i,   (G x)_i + sign_i b + slack_i >= target_i
    maximise    target' u,   0 <= u <= caps,   |G' u| <= cost,   sign' u = 0 (b free)

newton.py makes the steps. There are two ways in. `begin` knows x, b and u only: it scales u into
the corridor `|G'u| < cost` and lifts products of complementary pairs that are too small. `resume`
goes on from an iterate of an earlier solve, since when some columns came and some went: those that
stayed keep their pairs, a new one gets the mean product of the others and is dual infeasible for a
step or two, by no more than the iterate is from its optimum: mending that would take many steps.
An iterate that is nearly optimal hugs the boundary and is a bad place to resume from, so a solve
hands out all the iterates it passed; the one to take is about as far from its optimum as the new
columns are from being allowed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from kboost._typing import FloatArray, IntArray
from kboost.solvers.predictor_corrector import DenseMarginLP, Iterate, advance

_MARGIN = 0.97  # how much of the corridor a start may use
_LIFT = 0.1  # least product at a start, of the mean one
_NEW_SLACK = 0.1  # largest share of its cost that a new column gets as dual slack it has not
_ROUNDING, _STALL = 1e-7, 3  # below this gap, a solve that does not halve it in so many steps ends
_REFINE = 1e-2  # gap below which directions are refined once


@dataclass(frozen=True)
class InteriorPoint:
    """Nearly optimal, strictly inside: coefficients, bias, duals, and the relative gap reached."""

    x: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (n,)
    objective: float
    gap: float


@dataclass(frozen=True)
class InteriorPath:
    """A solve: the best point, and the iterates on the way with their gaps, the start included."""

    best: InteriorPoint
    passed: Sequence[tuple[float, Iterate]]

    def at_gap(self, gap: float) -> Iterate:
        """The last iterate that was at least so far from the optimum; the start if none was."""
        far = [iterate for reached, iterate in self.passed if reached >= gap]
        return far[-1] if far else self.passed[0][1]


def solve_interior(
    lp: DenseMarginLP,
    start: Iterate,
    *,
    tol: float,
    seconds: float = np.inf,
    max_steps: int = 60,
) -> InteriorPath:
    """Go to a relative gap of `tol`, or as near as rounding and time allow."""
    ends = time.monotonic() + seconds
    best, iterate = _point(lp, start), start
    passed = [(best.gap, start)]
    while best.gap > tol and len(passed) <= max_steps and time.monotonic() < ends:
        try:
            with np.errstate(all="ignore"):
                iterate = advance(lp, iterate, refine=best.gap < _REFINE)
                now = _point(lp, iterate)
        except (LinAlgError, ZeroDivisionError):
            break
        if not np.isfinite(now.gap) or now.gap > 1e3 * best.gap:
            break  # rounding has taken over: what was found before stands
        passed.append((now.gap, iterate))
        if now.gap < best.gap:
            best = now
        if best.gap < _ROUNDING and best.gap > 0.5 * passed[-1 - min(_STALL, len(passed) - 1)][0]:
            break
    return InteriorPath(best, passed)


def begin(lp: DenseMarginLP, x: FloatArray, bias: float, duals: FloatArray) -> Iterate:
    """Start from coefficients and duals that need not be feasible."""
    costs = lp.costs
    reach = float(np.max(lp.spread(lp.edges(duals)) / costs, initial=0.0))
    u = np.clip(duals / max(1.0, reach / _MARGIN), 1e-12 * lp.upper, (1 - 1e-12) * lp.upper)
    z = np.maximum(costs - lp.spread(lp.edges(u)), 1e-3 * costs)
    excess = max(lp.objective(x, bias) - float(lp.targets @ u), 1e-300)
    least = _LIFT * excess / (2 * len(u) + len(z))
    positive = np.maximum(lp.spread(x), 0.0)
    lift = lp.pairs(np.maximum(least / z - positive, 0.0)).max(axis=0)
    rest = lp.targets - lp.margins(x) - lp.signs * bias
    over, under = np.maximum(rest, 0.0), np.maximum(-rest, 0.0)
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
    lp: DenseMarginLP, before: DenseMarginLP, iterate: Iterate, place: IntArray, *, gap: float
) -> Iterate:
    """Go on from an iterate of the problem `before`, which was about `gap` from its optimum.

    `place` says where each column was, or -1.
    """
    mu = iterate.products(before.upper) / (len(iterate.v) + 2 * len(iterate.u))
    least = min(_NEW_SLACK, gap) * lp.costs
    slack = np.maximum(lp.costs - lp.spread(lp.edges(iterate.u)), least)
    z = lp.pairs(slack, absent=np.inf)
    v = np.tile(mu / z.min(axis=0), (2, 1))  # both sides alike, so that x is 0
    kept = place >= 0
    v[:, kept] = before.pairs(iterate.v)[:, place[kept]]
    z[:, kept] = before.pairs(iterate.z)[:, place[kept]]
    return replace(iterate, v=lp.sides(v), z=lp.sides(z))


def _point(lp: DenseMarginLP, iterate: Iterate) -> InteriorPoint:
    """The iterate with its gap; u is scaled to be feasible for the bound only."""
    x = lp.gather(iterate.v, -1.0)
    reach = float(np.max(lp.spread(lp.edges(iterate.u)) / lp.costs, initial=1.0))
    primal = lp.objective(x, iterate.b)
    gap = (primal - float(lp.targets @ iterate.u) / reach) / max(abs(primal), 1e-300)
    return InteriorPoint(x, iterate.b, iterate.u, primal, gap)
