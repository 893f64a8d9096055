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
from kboost.solvers.interior import DenseMarginLP, solve_interior
from kboost.solvers.lp import ColumnShape

_EXTRA = ("bias", "level")
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
        self.settle(start.coef, start.bias, self.central(start.duals), start.level)
        self._lp: ColumnShape | None = None
        self._in_lp = np.zeros(0, dtype=np.intp)  # columns of the simplex solver, in its order
        self._theta = 0.0
        self._tol = _LOOSE
        self._active = np.zeros(0, dtype=bool)  # (k,)
        self._x: FloatArray = np.zeros(0)  # (k,), the interior solution, not the incumbent
        self._extra: FloatArray = np.zeros(len(_EXTRA))  # the same of bias and level

    def extend(self, proposal: Proposal) -> None:
        self.columns = np.hstack([self.columns, proposal.values])
        new = proposal.values.shape[1]
        self._active = np.concatenate([self._active, np.ones(new, dtype=bool)])
        self._x = np.concatenate([self._x, np.zeros(new)])
        if self._lp is not None:
            self._pivot()
            return
        self._choose_stage(proposal.price)
        self._choose_columns()
        self._solve_inside()
        if self._tol == _TIGHT:
            self._cross_over()
        else:
            self._keep_best()

    def finish(self) -> Fit:
        """The vertex of the columns so far, if the loop ended before there was one."""
        if self._lp is None and self.columns.shape[1]:
            self._theta, self._tol = 1.0, _TIGHT
            self._active[:] = True
            self._solve_inside()
            self._cross_over()
        return self.fit

    # -- inside ----------------------------------------------------------------------------------

    def _choose_stage(self, price: float) -> None:
        """Where theta starts, when it rises, when the tight solve comes."""
        reach = 1.0 + max(price, float(np.max(self._prices(), initial=0.0)))
        if self._theta == 0.0:
            self._theta = min(1.0, _NEARLY / reach)
            # from the middle: the duals that priced the first columns may be at their bounds
            self.duals = 0.5 * self._theta * self.repaired(self.rows.caps)
        elif self._theta < 1.0:
            if reach < _NEARLY:
                self._theta = min(1.0, _RISE * self._theta)
        elif reach < _HARDLY:
            self._tol = _TIGHT

    def _prices(self) -> FloatArray:
        """Prices of the columns so far at the present duals."""
        return self.price(self.columns.T @ self.rows.weights(self.duals))

    def _choose_columns(self) -> None:
        """Set idle columns aside, take violated ones back."""
        share = np.abs(self._x)
        busy = share > _IDLE_SHARE * share.max(initial=0.0)
        prices = self._prices()
        self._active &= (prices > _IDLE_EDGE - 1.0) | busy | (share == 0.0)
        self._active |= prices > 0.0
        self._x[~self._active] = 0.0

    def _solve_inside(self) -> None:
        """The interior solution of the active columns at the present theta."""
        rows, free = self.rows, self.penalty.intercept == "free"
        signed, two_sided, cost = self._charged_columns()
        size = np.sqrt(np.mean(signed**2, axis=0))
        size[size == 0.0] = 1.0
        problem = DenseMarginLP(
            columns=np.asfortranarray(signed / size),
            signs=rows.signs,
            targets=rows.targets,
            caps=self._theta * rows.caps,
            cost=cost / size,
            two_sided=two_sided,
            free_bias=free,
        )
        k = int(self._active.sum())
        present = np.array([self.penalty.intercept == "penalized", rows.level is not None])
        point = solve_interior(
            problem,
            np.concatenate([self._x[self._active], self._extra[present]]) * size,
            self._extra[0] if free else 0.0,
            self.duals,
            tol=self._tol,
            seconds=self.deadline.remaining,
        )
        found = point.x / size
        self._x[self._active] = found[:k]
        self._extra[present] = found[k:]
        if free:
            self._extra[0] = point.bias
        self.duals = self.repaired(point.duals)

    def _charged_columns(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Active columns as the rows see them, whether their sign is free, and their price.

        A penalised bias is a column of ones whose sign is free, the level one that is not negative.
        """
        rows, columns = self.rows, self.columns[:, self._active]
        parts = [rows.signed(columns)]
        two_sided = [not self.penalty.nonnegative] * columns.shape[1]
        cost = [1.0] * columns.shape[1]
        if self.penalty.intercept == "penalized":
            parts.append(rows.signs[:, None])
            two_sided.append(True)
            cost.append(1.0)
        if rows.level is not None:
            parts.append(np.full((len(rows.signs), 1), rows.level.sign))
            two_sided.append(False)
            cost.append(self._theta * rows.level.price)
        return np.hstack(parts), np.array(two_sided), np.array(cost)

    def _keep_best(self) -> None:
        """The best coefficients so far for the full C, with the duals of now."""
        bias, level = self._extra
        now = self.make_fit(self._x.copy(), float(bias), self.duals, float(level), settled=False)
        if now.objective <= self.fit.objective:
            self.fit = now
        else:
            grown = np.zeros(len(self._x))
            grown[: len(self.fit.coef)] = self.fit.coef
            self.fit = replace(self.fit, coef=grown, weights=now.weights, settled=False)

    # -- at the vertex ---------------------------------------------------------------------------

    def _cross_over(self) -> None:
        """Hand the columns that matter, and the basis the interior point names, to simplex."""
        share = np.abs(self._x) / max(float(np.abs(self._x).max(initial=0.0)), 1e-300)
        distance = np.abs(self._prices())  # from the edge of 1
        self._in_lp = np.flatnonzero((distance < 0.01) | (share > 1e-4))
        self._lp = ColumnShape(self.data)
        self._lp.extend(self.rows.signed(self.columns[:, self._in_lp]))
        binding = distance[self._in_lp] < share[self._in_lp]
        self._lp.crash(self._x[self._in_lp] * binding, self.duals)
        self._pivot()

    def _pivot(self) -> None:
        """Solve exactly until no column so far is violated, those set aside included."""
        assert self._lp is not None
        late = self._violated()
        while True:
            self._lp.extend(self.rows.signed(self.columns[:, late]))
            self._in_lp = np.concatenate([self._in_lp, late])
            vertex = self._lp.solve(self.deadline.remaining)
            self.duals = self.repaired(vertex.duals)
            late = self._violated()
            if not len(late):
                break
        coef = np.zeros(self.columns.shape[1])
        coef[self._in_lp] = vertex.coef
        self.settle(coef, vertex.bias, self.duals, vertex.level)

    def _violated(self) -> IntArray:
        """Columns outside the simplex solver that are worth adding."""
        worth = self._prices() > _WORTH
        worth[self._in_lp] = False
        return np.flatnonzero(worth)
