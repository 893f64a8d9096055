"""The 1-norm master for the whole optimum: inside first, along a rising C, then the vertex.

Simplex takes many thin pivots, and its duals jump from vertex to vertex, so column generation with
them adds many columns it does not need. Here

1. the slack prices are `theta * caps`; theta starts where the first columns become worth their
   price and rises in factors, each solution warm for the next, solved loosely by the interior
   point (solvers/interior.py). Duals of a smaller C are feasible for a larger one and stay near
   the middle of their optimal set: they price well;
2. at theta = 1, when hardly a column is violated any more, one tight interior solve names the
   active columns and the rows on the margin: a basis;
3. simplex starts from that basis and needs few pivots, then column generation goes on exactly,
   as in lp.py.

Columns that are clearly inactive are set aside and come back when they are violated. The fit of an
interior step is the best one so far for the full C, so the objective never rises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.masters.margin import MarginPenalty, MarginRun
from kboost.solvers.interior import DenseMarginLP, InteriorPoint, solve_interior
from kboost.solvers.lp import ColumnShape

_RISE = 4.0  # of theta
_LOOSE, _TIGHT = 0.2, 1e-6  # relative gaps of interior solves
_NEARLY = 1.5  # theta may rise when no edge is above this
_HARDLY = 1.1  # the tight solve may come when no edge is above this
_WORTH = 1e-9  # least price of a column for the exact solves
_IDLE_EDGE, _IDLE_SHARE = 0.6, 1e-3  # below both, a column is set aside


@dataclass(frozen=True)
class InteriorLPMaster(MarginPenalty):
    """Interior point along a rising C, then simplex from the basis it names."""

    def start(self, problem: Problem) -> InteriorRun:
        return InteriorRun(self, problem)


class InteriorRun(MarginRun):
    """Columns with their interior solution, and a simplex solver once there is a basis."""

    def __init__(self, master: InteriorLPMaster, problem: Problem) -> None:
        super().__init__(master, problem)
        start = ColumnShape(self.data).solve()
        self.fit = self.make_fit(start.coef, start.bias, self.central(start.duals))
        self._lp: ColumnShape | None = None
        self._in_lp = np.zeros(0, dtype=np.intp)  # columns of the simplex solver, in its order
        self._theta = 0.0
        self._tol = _LOOSE
        self._active = np.zeros(0, dtype=bool)  # (k,)
        self._x: FloatArray = np.zeros(0)  # (k,), the interior solution, not the incumbent
        self._bias = 0.0
        self._duals: FloatArray = self.rows.signs * self.fit.weights

    def extend(self, proposal: Proposal) -> None:
        self.columns = np.hstack([self.columns, proposal.values])
        new = proposal.values.shape[1]
        self._active = np.concatenate([self._active, np.ones(new, dtype=bool)])
        self._x = np.concatenate([self._x, np.zeros(new)])
        if self._lp is not None:
            self._pivot()
            return
        edges = self.columns.T @ (self.rows.signs * self._duals)
        reach = 1.0 + max(proposal.price, float(np.max(self.price(edges), initial=0.0)))
        self._choose_stage(reach)
        self._choose_columns(edges)
        point = self._solve_inside()
        if self._tol == _TIGHT:
            self._cross_over(point)
        else:
            self._keep_best(point)

    def finish(self) -> Fit:
        """The vertex of the columns so far, if the loop ended before there was one."""
        if self._lp is None and self.columns.shape[1]:
            self._theta, self._tol = 1.0, _TIGHT
            self._active[:] = True
            self._cross_over(self._solve_inside())
        return self.fit

    # -- inside ----------------------------------------------------------------------------------

    def _choose_stage(self, reach: float) -> None:
        """Where theta starts, when it rises, when the tight solve comes."""
        if self._theta == 0.0:
            self._theta = min(1.0, _NEARLY / reach)
            self._duals = self._duals * self._theta
        elif self._theta < 1.0:
            if reach < _NEARLY:
                self._theta = min(1.0, _RISE * self._theta)
        elif reach < _HARDLY:
            self._tol = _TIGHT

    def _choose_columns(self, edges: FloatArray) -> None:
        """Set idle columns aside, take violated ones back."""
        share = np.abs(self._x)
        busy = share > _IDLE_SHARE * share.max(initial=0.0)
        prices = 1.0 + self.price(edges)
        self._active &= (prices > _IDLE_EDGE) | busy | (share == 0.0)
        self._active |= prices > 1.0
        self._x[~self._active] = 0.0

    def _solve_inside(self) -> InteriorPoint:
        """The interior solution of the active columns at the present theta."""
        values: FloatArray = self.columns[:, self._active]
        two_sided = np.full(values.shape[1], not self.penalty.nonnegative)
        x: FloatArray = self._x[self._active]
        if self.penalty.intercept == "penalized":  # a column of ones whose sign is free
            values = np.column_stack([values, np.ones(len(values))])
            two_sided = np.append(two_sided, True)
            x = np.append(x, self._bias)
        size = np.sqrt(np.mean(values**2, axis=0))
        size[size == 0.0] = 1.0
        problem = DenseMarginLP(
            columns=np.asfortranarray(self.rows.signs[:, None] * (values / size)),
            signs=self.rows.signs,
            targets=self.rows.targets,
            caps=self._theta * self.rows.caps,
            cost=1.0 / size,
            two_sided=two_sided,
            free_bias=self.penalty.intercept == "free",
        )
        bias = self._bias if self.penalty.intercept == "free" else 0.0
        point = solve_interior(
            problem,
            x * size,
            bias,
            self._duals,
            tol=self._tol,
            seconds=self.deadline.remaining,
        )
        found, bias = point.x / size, point.bias
        if self.penalty.intercept == "penalized":
            found, bias = found[:-1], float(found[-1])
        self._x[self._active] = found
        self._bias, self._duals = bias, self.repaired(point.duals)
        return replace(point, x=self._x, bias=bias, duals=self._duals)

    def _keep_best(self, point: InteriorPoint) -> None:
        """The best coefficients so far for the full C, with the duals of now."""
        now = self.make_fit(point.x.copy(), point.bias, point.duals, settled=False)
        if now.objective <= self.fit.objective:
            self.fit = now
        else:
            grown = np.zeros(len(point.x))
            grown[: len(self.fit.coef)] = self.fit.coef
            self.fit = replace(self.fit, coef=grown, weights=now.weights, settled=False)

    # -- at the vertex ---------------------------------------------------------------------------

    def _cross_over(self, point: InteriorPoint) -> None:
        """Hand the columns that matter, and the basis the interior point names, to simplex."""
        edges = self.columns.T @ (self.rows.signs * point.duals)
        share = np.abs(point.x) / max(float(np.abs(point.x).max(initial=0.0)), 1e-300)
        distance = np.abs(self.price(edges))  # from the edge of 1
        self._in_lp = np.flatnonzero((distance < 0.01) | (share > 1e-4))
        self._lp = ColumnShape(self.data)
        self._lp.extend(self.columns[:, self._in_lp])
        binding = distance[self._in_lp] < share[self._in_lp]
        self._lp.crash(point.x[self._in_lp] * binding, point.duals)
        self._pivot()

    def _pivot(self) -> None:
        """Solve exactly until no column so far is violated, those set aside included."""
        assert self._lp is not None
        late = self._violated(self.fit.weights)
        while True:
            self._lp.extend(self.columns[:, late])
            self._in_lp = np.concatenate([self._in_lp, late])
            vertex = self._lp.solve(self.deadline.remaining)
            coef = np.zeros(self.columns.shape[1])
            coef[self._in_lp] = vertex.coef
            fit = self.make_fit(coef, vertex.bias, self.repaired(vertex.duals))
            late = self._violated(fit.weights)
            if not len(late):
                break
        self.fit = fit

    def _violated(self, weights: FloatArray) -> IntArray:
        """Columns outside the simplex solver that are worth adding."""
        outside = np.setdiff1d(np.arange(self.columns.shape[1]), self._in_lp)
        prices = self.price(self.columns[:, outside].T @ weights)
        return outside[prices > _WORTH]
