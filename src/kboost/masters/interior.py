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

from kboost._errors import SolverError
from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.masters.margin import MarginPenalty, MarginRun, best_length
from kboost.solvers.interior import DenseMarginLP, solve_interior
from kboost.solvers.lp import ColumnShape

_EXTRA = ("bias", "level")
_RISE = 4.0  # of theta
_TIGHT = 1e-6  # relative gap of the solve that names the basis
_NEARLY = 1.5  # theta may rise when no edge is above this
_HARDLY = 1.1  # the tight solve may come when no edge is above this
_PATIENCE = 12  # steps at one theta
_NOTHING = 1e-7  # of the largest coefficient: rounding of the tight solve
_WORTH = 1e-9  # least price of a column for the exact solves
_IDLE_EDGE, _IDLE_SHARE = 0.6, 1e-3  # below both, a column is set aside


@dataclass(frozen=True)
class InteriorLPMaster(MarginPenalty):
    """Interior point along a rising C, then simplex from the basis it names.

    `loose` is the relative gap of the solves on the way.
    """

    loose: float = 0.2

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
        self._loose = self._tol = master.loose
        self._central_duals = self._tight_duals = self.duals
        self._waited = 0  # steps at the present theta
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
        self._choose_stage(proposal)
        self._choose_columns()
        self._solve_inside()
        if self._tol == _TIGHT:
            self._cross_over()
        else:
            self._central_duals = self.duals
            self._keep_best(settled=False)

    def recap(self, factor: float) -> None:
        """Go on inside, from where the last loose solve was, towards the new prices."""
        before = self.rows.caps.sum()
        super().recap(factor)
        self._theta *= float(before / self.rows.caps.sum())
        self._lp, self._tol = None, self._loose
        if self._theta > 0.0:
            self._theta, self._waited = min(1.0, self._theta), 0
            self.duals = self.repaired(self._central_duals)
        fit = self.fit
        self.fit = self.make_fit(fit.coef, fit.bias, self.duals, fit.level, settled=False)

    def finish(self) -> Fit:
        """The vertex of the columns so far, if the loop ended before there was one."""
        if self._lp is None and self.columns.shape[1]:
            self._theta, self._tol = 1.0, _TIGHT
            self._active[:] = True
            self._solve_inside()
            self._cross_over()
        return self.fit

    # -- inside ----------------------------------------------------------------------------------

    def _choose_stage(self, proposal: Proposal) -> None:
        """Where theta starts, when it rises, when the tight solve comes.

        Both come when few columns are violated, when none is left to add, or after some steps.
        """
        reach = 1.0 + max(proposal.price, float(np.max(self._prices(), initial=0.0)))
        self._waited += 1
        ready = not proposal.hypotheses or self._waited > _PATIENCE
        if self._theta == 0.0:
            self._theta = min(1.0, _NEARLY / reach)
            # from the middle: the duals that priced the first columns may be at their bounds
            self.duals = 0.5 * self._theta * self.repaired(self.rows.caps)
        elif self._theta < 1.0:
            if ready or reach < _NEARLY:
                self._theta = min(1.0, _RISE * self._theta)
                self._waited = 0
        elif ready or reach < _HARDLY:
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
        self.duals = self._tight_duals = self.repaired(point.duals)

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

    def _keep_best(self, *, settled: bool) -> None:
        """The best coefficients so far for the full C, with the duals of now.

        A solution for a smaller C is too short for the full one: it is taken at its best length.
        """
        bias, level = self._extra
        length = 1.0
        if self._theta < 1.0 and self.rows.level is None:
            values = self.columns @ self._x + bias
            penalty = float(np.abs(self._x).sum())
            penalty += abs(bias) if self.penalty.intercept == "penalized" else 0.0
            length = best_length(penalty, self.rows.signs * self.rows.per_row(values), self.rows)
        now = self.make_fit(
            length * self._x, length * float(bias), self.duals, float(level), settled=settled
        )
        if now.objective <= self.fit.objective:
            self.fit = now
        else:
            grown = np.zeros(len(self._x))
            grown[: len(self.fit.coef)] = self.fit.coef
            self.fit = replace(self.fit, coef=grown, weights=now.weights, settled=settled)

    # -- at the vertex ---------------------------------------------------------------------------

    def _cross_over(self) -> None:
        """Hand the columns that matter, and the basis the interior point names, to simplex.

        Where simplex finds no vertex in a bounded number of pivots (a degenerate optimum), the
        interior solution stands: it is as good, only not as sparse.
        """
        self._x[np.abs(self._x) <= _NOTHING * np.abs(self._x).max(initial=0.0)] = 0.0
        self._keep_best(settled=True)
        share = np.abs(self._x) / max(float(np.abs(self._x).max(initial=0.0)), 1e-300)
        distance = np.abs(self._prices())  # from the edge of 1
        self._in_lp = np.flatnonzero((distance < 0.01) | (share > 1e-4))
        self._lp = ColumnShape(self.data)
        self._lp.extend(self.rows.signed(self.columns[:, self._in_lp]))
        binding = distance[self._in_lp] < share[self._in_lp]
        self._lp.crash(self._x[self._in_lp] * binding, self.duals)
        try:
            self._pivot()
        except SolverError:
            self._lp = None
            self.duals = self.repaired(self._tight_duals)

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
