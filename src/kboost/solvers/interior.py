"""An interior point for the margin LP with dense columns, warm from one set of columns to the next.

Problem and dual are those of lp.py, with a price `cost_j` a column and slack prices `caps`:

    minimise    sum_j cost_j |x_j| + sum_i cap_i slack_i,   (G x)_i + sign_i b + slack_i >= target_i
    maximise    target' u,   0 <= u <= caps,   |G' u| <= cost,   sign' u = 0 (b free)

In equality form x = p - q (q absent for a column that must not be negative), each pair of a
variable and its dual slack is held near one product mu, which falls:

    G(p - q) + sign b + over - under = target        over (caps - u) = mu,   under u = mu
    cost - G'u - zp = 0,  cost + G'u - zq = 0        p zp = mu,              q zq = mu

One Newton step eliminates everything but the k columns (D = over/(caps-u) + under/u, a number a
row; T = p/zp + q/zq, a number a column), so a step costs n k^2 and simplex's many thin pivots
become few dense products:

    (1/T + G' D^-1 G) dx + G' D^-1 sign db = right side,    du = D^-1 (r - G dx - sign db).

In this order rounding falls into the products, which the next step mends, not into feasibility.
Mehrotra's predictor and corrector choose mu. A warm start keeps x, b and u, scales u into the
corridor `|G'u| < cost` that new columns narrow, and lifts products that are too small.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve

from kboost._typing import FloatArray

_MARGIN = 0.97  # how much of the corridor a warm start may use
_LIFT = 0.1  # least product of a warm start, of the mean one
_STEP = 0.99  # of the way to the boundary
_REFINE = 1e-2  # gap below which directions are refined once


@dataclass(frozen=True)
class InteriorPoint:
    """Nearly optimal, strictly inside: coefficients, bias, duals, and the relative gap reached."""

    x: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (n,)
    gap: float
    steps: int


@dataclass(frozen=True)
class DenseMarginLP:
    """One problem: signed columns G and what is charged for them."""

    columns: FloatArray  # (n, k), signed, Fortran order
    signs: FloatArray  # (n,)
    targets: FloatArray  # (n,)
    caps: FloatArray  # (n,)
    cost: FloatArray  # (k,)
    two_sided: FloatArray  # (k,), bool: whether x_j may be negative
    free_bias: bool

    def spread(self, edges: FloatArray) -> FloatArray:
        """From columns to sides: +g for p, -g for q."""
        return np.concatenate([edges, -edges[self.two_sided]])

    def gather(self, sides: FloatArray, sign: float) -> FloatArray:
        """From sides to columns: p + sign q."""
        k = len(self.cost)
        out = sides[:k].copy()
        out[self.two_sided] += sign * sides[k:]
        return out

    def objective(self, x: FloatArray, bias: float) -> float:
        slack = np.maximum(0.0, self.targets - self.columns @ x - self.signs * bias)
        return float(self.cost @ np.abs(x) + self.caps @ slack)


def solve_interior(
    lp: DenseMarginLP,
    x: FloatArray,
    bias: float,
    duals: FloatArray,
    *,
    tol: float,
    seconds: float = np.inf,
    max_steps: int = 60,
) -> InteriorPoint:
    """Go from a warm start to a relative gap of `tol`, or as near as rounding and time allow."""
    ends = time.monotonic() + seconds
    state = _State(lp, x, bias, duals)
    best = state.point(0)
    for step in range(1, max_steps + 1):
        if best.gap <= tol or time.monotonic() > ends:
            break
        try:
            with np.errstate(all="ignore"):
                state.advance(refine=best.gap < _REFINE)
                now = state.point(step)
        except LinAlgError:
            break
        if not np.isfinite(now.gap) or now.gap > 1e3 * best.gap:
            break  # rounding has taken over: what was found before stands
        if now.gap < best.gap:
            best = now
    return best


class _State:
    """The iterate: sides v = (p, q) and z, over and under, u and b."""

    def __init__(self, lp: DenseMarginLP, x: FloatArray, bias: float, duals: FloatArray) -> None:
        self.lp = lp
        self.costs = np.concatenate([lp.cost, lp.cost[lp.two_sided]])
        self.b = bias
        reach = float(np.max(lp.spread(lp.columns.T @ duals) / self.costs, initial=0.0))
        self.u = np.clip(duals / max(1.0, reach / _MARGIN), 1e-12 * lp.caps, (1 - 1e-12) * lp.caps)
        z = self.costs - lp.spread(lp.columns.T @ self.u)
        self.z = np.maximum(z, 1e-3 * self.costs)
        rest = lp.targets - lp.columns @ x - lp.signs * bias
        excess = max(lp.objective(x, bias) - float(lp.targets @ self.u), 1e-300)
        least = _LIFT * excess / (2 * len(self.u) + len(self.z))
        positive = np.maximum(lp.spread(x), 0.0)
        k = len(x)
        lift = np.maximum(least / self.z - positive, 0.0)
        pair = lift[:k].copy()
        pair[lp.two_sided] = np.maximum(pair[lp.two_sided], lift[k:])
        self.v = positive + np.concatenate([pair, pair[lp.two_sided]])
        over, under = np.maximum(rest, 0.0), np.maximum(-rest, 0.0)
        shift = np.maximum(least / (lp.caps - self.u) - over, least / self.u - under)
        shift = np.maximum(shift, 0.0)
        self.over, self.under = over + shift, under + shift

    def point(self, step: int) -> InteriorPoint:
        """The iterate with its gap; u is scaled to be feasible for the bound only."""
        lp = self.lp
        x = lp.gather(self.v, -1.0)
        reach = float(np.max(lp.spread(lp.columns.T @ self.u) / self.costs, initial=1.0))
        primal = lp.objective(x, self.b)
        gap = (primal - float(lp.targets @ self.u) / reach) / max(abs(primal), 1e-300)
        return InteriorPoint(x, self.b, self.u.copy(), gap, step)

    def advance(self, *, refine: bool) -> None:
        """One predictor-corrector step."""
        newton = _Newton(self)
        products = (self.v * self.z, self.over * (self.lp.caps - self.u), self.under * self.u)
        count = len(self.v) + 2 * len(self.u)
        mu = sum(float(p.sum()) for p in products) / count
        plain = newton.direction(*(-p for p in products), refine=False)
        ahead = self._moved(plain, *self._lengths(plain))
        after = (
            ahead.v @ ahead.z + ahead.over @ (self.lp.caps - ahead.u) + ahead.under @ ahead.u
        ) / count
        target = mu * (after / mu) ** 3
        corrected = newton.direction(
            target - products[0] - plain.v * plain.z,
            target - products[1] + plain.over * plain.u,
            target - products[2] - plain.under * plain.u,
            refine=refine,
        )
        primal, dual = self._lengths(corrected)
        moved = self._moved(corrected, min(1.0, _STEP * primal), min(1.0, _STEP * dual))
        self.v, self.z, self.over, self.under = moved.v, moved.z, moved.over, moved.under
        self.u, self.b = moved.u, moved.b

    def _lengths(self, d: _Direction) -> tuple[float, float]:
        """How far the primal and the dual side may go."""
        primal = min(_room(self.v, d.v), _room(self.over, d.over), _room(self.under, d.under))
        dual = min(_room(self.z, d.z), _room(self.u, d.u), _room(self.lp.caps - self.u, -d.u))
        return min(1.0, primal), min(1.0, dual)

    def _moved(self, d: _Direction, primal: float, dual: float) -> _Direction:
        return _Direction(
            v=self.v + primal * d.v,
            z=self.z + dual * d.z,
            over=self.over + primal * d.over,
            under=self.under + primal * d.under,
            u=self.u + dual * d.u,
            b=self.b + primal * d.b,
        )


@dataclass(frozen=True)
class _Direction:
    v: FloatArray
    z: FloatArray
    over: FloatArray
    under: FloatArray
    u: FloatArray
    b: float


class _Newton:
    """The linear system of one step, factored once."""

    def __init__(self, state: _State) -> None:
        lp = state.lp
        self.state = state
        self.slack = lp.caps - state.u
        self.D = state.over / self.slack + state.under / state.u  # (n,)
        self.T = lp.gather(state.v / state.z, 1.0)  # (k,)
        self.dual_rest = state.costs - lp.spread(lp.columns.T @ state.u) - state.z
        x = lp.gather(state.v, -1.0)
        margins = lp.columns @ x + lp.signs * state.b
        self.rest = lp.targets - margins - state.over + state.under
        self.balance = -float(lp.signs @ state.u) if lp.free_bias else 0.0
        weighted = lp.columns * (1.0 / np.sqrt(self.D))[:, None]
        normal = blas.dsyrk(1.0, weighted, trans=1, lower=1)
        diagonal = np.arange(len(self.T))
        normal[diagonal, diagonal] += 1.0 / self.T
        self.factor = cho_factor(normal, lower=True, overwrite_a=True, check_finite=False)
        if lp.free_bias:
            self.across = lp.columns.T @ (lp.signs / self.D)
            self.along = cho_solve(self.factor, self.across, check_finite=False)
            self.pivot = float(lp.signs @ (lp.signs / self.D) - self.across @ self.along)

    def direction(
        self, sides: FloatArray, over: FloatArray, under: FloatArray, *, refine: bool
    ) -> _Direction:
        """The step that changes the products by the given amounts."""
        lp, state = self.state.lp, self.state
        sides = sides - state.v * self.dual_rest
        pull = lp.gather(sides / state.z, -1.0) / self.T
        right = self.rest - over / self.slack + under / state.u
        dx, db, du = self._solve(pull, right, self.balance)
        edges = lp.columns.T @ du
        if refine:
            left = right - lp.columns @ dx - lp.signs * db - self.D * du
            uneven = self.balance - float(lp.signs @ du) if lp.free_bias else 0.0
            more = self._solve(pull - dx / self.T + edges, left, uneven)
            dx, db, du = dx + more[0], db + more[1], du + more[2]
            edges = lp.columns.T @ du
        implied = lp.spread(dx / self.T - pull)
        return _Direction(
            v=(sides + state.v * implied) / state.z,
            z=self.dual_rest - lp.spread(edges),
            over=(over + state.over * du) / self.slack,
            under=(under - state.under * du) / state.u,
            u=du,
            b=db,
        )

    def _solve(
        self, pull: FloatArray, right: FloatArray, balance: float
    ) -> tuple[FloatArray, float, FloatArray]:
        lp = self.state.lp
        dx = cho_solve(self.factor, pull + lp.columns.T @ (right / self.D), check_finite=False)
        db = 0.0
        if lp.free_bias:
            ahead = float(lp.signs @ (right / self.D)) - float(self.across @ dx)
            db = (ahead - balance) / self.pivot
            dx = dx - self.along * db
        return dx, db, (right - lp.columns @ dx - lp.signs * db) / self.D


def _room(values: FloatArray, change: FloatArray) -> float:
    """The step at which the first value reaches zero."""
    falling = np.minimum(change, -1e-300)
    return float(np.min(-(values / falling), initial=np.inf))
