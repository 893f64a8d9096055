"""One primal-dual predictor-corrector step for the margin LP with dense columns.

The problem is that of interior_point.py. In equality form x = p - q (q absent for a nonnegative
column), each product of a variable and its dual slack is held near one value mu, which falls:

    G(p - q) + sign b + over - under = target        over (upper - u) = mu,   under u = mu
    cost - G'u - zp = 0,  cost + G'u - zq = 0        p zp = mu,               q zq = mu

A step eliminates everything but the k columns (D = over/(upper-u) + under/u per row, T = p/zp +
q/zq per column), so it costs n k^2, and the many small pivots of simplex become a few dense
products:

    (1/T + G' D^-1 G) dx + G' D^-1 sign db = right side,    du = D^-1 (r - G dx - sign db).

In this order rounding affects the products, which the next step corrects, not feasibility.
Mehrotra's predictor and corrector choose mu.

A tube has two rows per sample, and all columns but the margin width are mirrored: `G = (A; -A)`.
Then `G' D^-1 G = A' (1/D_above + 1/D_below) A`, half the work, and so are products with G.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas

from kboost._typing import BoolArray, FloatArray
from kboost.solvers._small_cholesky import factor_lower, solve_factored
from kboost.solvers.margin_lp import MarginData

_STEP = 0.99  # of the way to the boundary
_ROUGH = 1e-6  # relative pivot of the bias, below which directions are refined


@dataclass(frozen=True)
class FixedDuals:
    """What rows with fixed duals add to the dual: to `G'u`, `sign'u` and `target'u`."""

    edges: FloatArray | float = 0.0  # (k,)
    balance: float = 0.0
    value: float = 0.0


@dataclass(frozen=True)
class InteriorPoint:
    """A nearly optimal, strictly interior solution and its relative gap."""

    x: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (n,)
    objective: float
    gap: float


@dataclass(frozen=True)
class DenseMarginLP:
    """One problem: signed columns G, their costs, the rows, and what fixed rows add."""

    columns: FloatArray  # (n, k), signed, Fortran order
    signs: FloatArray  # (n,)
    targets: FloatArray  # (n,)
    upper: FloatArray  # (n,)
    cost: FloatArray  # (k,)
    two_sided: BoolArray  # (k,): whether x_j may be negative
    free_bias: bool
    fixed: FixedDuals = FixedDuals()

    @cached_property
    def costs(self) -> FloatArray:
        """The cost of every side, p and q."""
        return np.concatenate([self.cost, self.cost[self.two_sided]])

    @cached_property
    def _second(self) -> BoolArray | slice:
        """The columns with a q; a slice, which costs less, if all have one."""
        return slice(None) if self.two_sided.all() else self.two_sided

    def spread(self, edges: FloatArray) -> FloatArray:
        """From columns to sides: +g for p, -g for q."""
        return np.concatenate([edges, -edges[self._second]])

    def gather(self, sides: FloatArray, sign: float) -> FloatArray:
        """From sides to columns: p + sign q."""
        k = len(self.cost)
        out = sides[:k].copy()
        out[self._second] += sign * sides[k:]
        return out

    def pairs(self, sides: FloatArray, absent: float = 0.0) -> FloatArray:
        """From sides to (2, k): p and q, with `absent` where there is no q."""
        k = len(self.cost)
        out = np.full((2, k), absent)
        out[0], out[1, self.two_sided] = sides[:k], sides[k:]
        return out

    def sides(self, pairs: FloatArray) -> FloatArray:
        """Back from (2, k)."""
        return np.concatenate([pairs[0], pairs[1, self.two_sided]])

    @cached_property
    def n_mirrored(self) -> int:
        """How many columns, from the first on, are mirrored: `(a; -a)`."""
        half, odd = divmod(len(self.signs), 2)
        if (
            odd
            or not half
            or not self.columns.shape[1]
            or self.columns[0, 0] != -self.columns[half, 0]
        ):
            return 0
        mirrored = (self.columns[:half] == -self.columns[half:]).all(axis=0)
        return len(mirrored) if mirrored.all() else int(np.argmin(mirrored))

    @cached_property
    def _mirrored_half(self) -> FloatArray | None:
        """A, if all columns but at most one are mirrored."""
        k, kept, half = len(self.cost), self.n_mirrored, len(self.signs) // 2
        return self.columns[:half, :kept] if kept and kept >= k - 1 else None

    def normal(self, weights: FloatArray) -> FloatArray:
        """`G' diag(weights) G`, its lower half."""
        k, A = len(self.cost), self._mirrored_half
        if not k:
            return np.zeros((0, 0))
        if A is None:
            return _gram(self.columns, weights)
        half, kept = A.shape
        out = np.zeros((k, k), order="F")
        out[:kept, :kept] = _gram(A, weights[:half] + weights[half:])
        out[kept:] = (weights[:, None] * self.columns[:, kept:]).T @ self.columns
        return out

    def margins(self, x: FloatArray) -> FloatArray:
        """`G x`."""
        A = self._mirrored_half
        if A is None:
            return self.columns @ x
        kept = A.shape[1]
        values = A @ x[:kept]
        out: FloatArray = np.concatenate([values, -values])
        return out if kept == len(x) else out + self.columns[:, kept:] @ x[kept:]

    def edges(self, u: FloatArray) -> FloatArray:
        """`G' u`."""
        A = self._mirrored_half
        if A is None:
            return self.columns.T @ u
        half, kept = A.shape
        return np.concatenate([A.T @ (u[:half] - u[half:]), self.columns[:, kept:].T @ u])

    def objective(self, x: FloatArray, bias: float, margins: FloatArray | None = None) -> float:
        """The objective at x; `margins` are `G x`, if known."""
        slack = np.maximum(0.0, self.residual(x, bias, margins))
        fixed = self.fixed.value - float(np.sum(self.fixed.edges * x)) - self.fixed.balance * bias
        return float(self.cost @ np.abs(x) + self.upper @ slack) + fixed

    def residual(self, x: FloatArray, bias: float, margins: FloatArray | None = None) -> FloatArray:
        """`target - G x - sign b`; `margins` are `G x`, if known."""
        margins = self.margins(x) if margins is None else margins
        out: FloatArray = self.targets - margins - self.signs * bias
        return out

    def point(
        self,
        x: FloatArray,
        bias: float,
        u: FloatArray,
        margins: FloatArray | None = None,
        edges: FloatArray | None = None,
    ) -> InteriorPoint:
        """A point with its gap, for which u is scaled to be feasible.

        `margins` are `G x` and `edges` those of all duals, if known.
        """
        edges = self.edges(u) + self.fixed.edges if edges is None else edges
        scale = float(np.max(self.spread(edges) / self.costs, initial=1.0))
        primal = self.objective(x, bias, margins)
        bound = (float(self.targets @ u) + self.fixed.value) / scale
        return InteriorPoint(x, bias, u, primal, (primal - bound) / max(abs(primal), 1e-300))


def scaled_lp(
    signed: FloatArray, rows: MarginData, cost: FloatArray, two_sided: BoolArray, *, free_bias: bool
) -> tuple[DenseMarginLP, FloatArray]:
    """The problem with columns scaled to unit root mean square, and the scales."""
    size = np.sqrt(np.einsum("nk,nk->k", signed, signed) / len(signed))
    size[size == 0.0] = 1.0
    columns = np.divide(signed, size, order="F")
    lp = DenseMarginLP(
        columns, rows.signs, rows.targets, rows.upper, cost / size, two_sided, free_bias
    )
    return lp, size


@dataclass(frozen=True)
class Iterate:
    """Where the method is: sides v = (p, q) and z, over and under, u, b."""

    v: FloatArray
    z: FloatArray
    over: FloatArray
    under: FloatArray
    u: FloatArray
    b: float

    def products(self, upper: FloatArray) -> float:
        """The sum over all pairs."""
        return float(self.v @ self.z + self.over @ (upper - self.u) + self.under @ self.u)


@dataclass(frozen=True)
class Products:
    """What a step and its gap both need of an iterate: x, `G x` and the edges of all duals."""

    x: FloatArray
    margins: FloatArray
    edges: FloatArray


def products_at(lp: DenseMarginLP, at: Iterate) -> Products:
    """The products of the columns with an iterate."""
    x = lp.gather(at.v, -1.0)
    return Products(x, lp.margins(x), lp.edges(at.u) + lp.fixed.edges)


def advance(lp: DenseMarginLP, at: Iterate, known: Products, *, refine: bool) -> Iterate:
    """One predictor-corrector step; with `refine` the direction is refined once."""
    newton = _Newton(lp, at, known)
    products = newton.primal * newton.dual
    mu = at.products(lp.upper) / len(products)
    plain = newton.direction(-products, refine=False)
    ahead = newton.moved(plain, *newton.lengths(plain))
    target = mu * (ahead.products(lp.upper) / len(products) / mu) ** 3
    corrected = newton.direction(
        target - products - plain.primal * plain.dual, refine=refine or newton.needs_refinement
    )
    primal, dual = newton.lengths(corrected)
    return newton.moved(corrected, min(1.0, _STEP * primal), min(1.0, _STEP * dual))


@dataclass(frozen=True)
class _Direction:
    """Changes of the pairs in the order of `_Newton`, and of b."""

    primal: FloatArray
    dual: FloatArray
    b: float


class _Newton:
    """The linear system of one step, factored once.

    All pairs are in two long vectors, `(v, over, under)` and `(z, upper - u, u)`: with a few dozen
    rows a step takes as long as its number of operations, not as their length.
    """

    def __init__(self, lp: DenseMarginLP, at: Iterate, known: Products) -> None:
        self.lp, self.at, self.needs_refinement = lp, at, False
        self.primal = np.concatenate([at.v, at.over, at.under])
        self.dual = np.concatenate([at.z, lp.upper - at.u, at.u])
        ratio, over, under = self._parts(self.primal / self.dual)
        self.D = over + under  # (n,)
        self.T = lp.gather(ratio, 1.0)  # (k,)
        self.dual_residual = lp.costs - lp.spread(known.edges) - at.z
        margins = known.margins + lp.signs * at.b
        self.residual = lp.targets - margins - at.over + at.under
        self.balance = -float(lp.signs @ at.u) - lp.fixed.balance if lp.free_bias else 0.0
        normal = lp.normal(1.0 / self.D)
        normal.flat[:: len(self.T) + 1] += 1.0 / self.T
        self.factor = factor_lower(normal)
        if lp.free_bias:
            self.across = lp.edges(lp.signs / self.D)
            self.along = solve_factored(self.factor, self.across)
            # sign' D^-1 (sign - G along), as squares: if columns span the bias, the difference
            # would be pure rounding
            difference = lp.signs - lp.margins(self.along)
            self.pivot = float(
                difference @ (difference / self.D) + self.along @ (self.along / self.T)
            )
            self.needs_refinement = bool(self.pivot < _ROUGH * (lp.signs @ (lp.signs / self.D)))

    def _parts(self, pairs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Those of the sides, of `over` and of `under`."""
        m, n = len(self.at.v), len(self.at.u)
        return pairs[:m], pairs[m : m + n], pairs[m + n :]

    def direction(self, change: FloatArray, *, refine: bool) -> _Direction:
        """The direction that changes the products by the given amounts, which it overwrites."""
        lp, m = self.lp, len(self.at.v)
        change[:m] -= self.at.v * self.dual_residual
        sides, over, under = self._parts(change / self.dual)
        column_rhs = lp.gather(sides, -1.0) / self.T
        right = self.residual - over + under
        dx, db, du = self._solve(column_rhs, right, self.balance)
        edges = lp.edges(du)
        if refine:
            residual_left = right - lp.margins(dx) - lp.signs * db - self.D * du
            balance_left = self.balance - float(lp.signs @ du) if lp.free_bias else 0.0
            more = self._solve(column_rhs - dx / self.T + edges, residual_left, balance_left)
            dx, db, du = dx + more[0], db + more[1], du + more[2]
            edges = lp.edges(du)
        implied = np.concatenate([lp.spread(dx / self.T - column_rhs), du, -du])
        return _Direction(
            primal=(change + self.primal * implied) / self.dual,
            dual=np.concatenate([self.dual_residual - lp.spread(edges), -du, du]),
            b=db,
        )

    def lengths(self, d: _Direction) -> tuple[float, float]:
        """The longest primal and dual steps, at most 1."""
        return (
            min(1.0, _longest_step(self.primal, d.primal)),
            min(1.0, _longest_step(self.dual, d.dual)),
        )

    def moved(self, d: _Direction, primal: float, dual: float) -> Iterate:
        """The iterate after steps of these lengths."""
        v, over, under = self._parts(self.primal + primal * d.primal)
        z, _, u = self._parts(self.dual + dual * d.dual)
        return Iterate(v, z, over, under, u, self.at.b + primal * d.b)

    def _solve(
        self, column_rhs: FloatArray, right: FloatArray, balance: float
    ) -> tuple[FloatArray, float, FloatArray]:
        lp, weighted = self.lp, right / self.D
        dx = solve_factored(self.factor, column_rhs + lp.edges(weighted))
        db = 0.0
        if lp.free_bias:
            ahead = float(lp.signs @ weighted) - float(self.across @ dx)
            db = (ahead - balance) / self.pivot
            dx = dx - self.along * db
        return dx, db, (right - lp.margins(dx) - lp.signs * db) / self.D


def _gram(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """`columns' diag(weights) columns`, its lower half."""
    weighted = np.asfortranarray(columns * np.sqrt(weights)[:, None])
    result: FloatArray = blas.dsyrk(1.0, weighted, trans=1, lower=1)
    return result


def _longest_step(values: FloatArray, change: FloatArray) -> float:
    """The step at which the first value reaches zero."""
    falling = np.minimum(change, -1e-300)
    return -float(np.maximum.reduce(values / falling, initial=-np.inf))
