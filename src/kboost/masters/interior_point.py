"""The 1-norm master for the whole optimum: inside first, along a rising C, then the vertex.

Simplex takes many thin pivots, and its duals jump from vertex to vertex, so column generation with
them adds many columns it does not need. Here

1. the slack prices are `theta * caps`; theta starts where the first columns become worth their
   price and rises in factors, each solution warm for the next, solved loosely by the interior
   point (solvers/interior_point.py). Duals of a smaller C are feasible for a larger one and stay near
   the middle of their optimal set: they price well;
2. at theta = 1 the solves tighten as the gap over the whole library closes: a solve is a fixed
   fraction of that gap from its own optimum, so its duals stay central while columns still come,
   and it resumes from an iterate that was about that gap away;
3. when the library's gap is small, one tight solve names the active columns and the rows on the
   margin: a basis. Simplex starts from it and needs few pivots or none; then column generation
   goes on exactly, as in lp.py.

Columns that are clearly inactive are set aside; one that comes back, being violated, stays. The
fit of an interior step is the best one so far for the full C, so the objective never rises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.exceptions import SolverError
from kboost.formulations import MarginRows
from kboost.masters._basic_solution import basic_fit
from kboost.masters._restricted_lp import RestrictedLP
from kboost.masters.margin import MarginPenalty, MarginRun, best_length
from kboost.solvers.interior_point import InteriorPath, begin, resume, solve_interior
from kboost.solvers.margin_lp import ColumnShape
from kboost.solvers.predictor_corrector import DenseMarginLP, Iterate, scaled_lp

_EXTRA = ("bias", "level")
_RISE = 4.0  # of theta
_NEARLY = 1.5  # theta may rise when no edge is above this
_TIGHT = 1e-9  # relative gap of the solve that names it
_CLOSED = 1e-6  # gap below which no more columns are set aside for it
_NEAR = 0.01  # columns whose edge is so near to 1 may matter to simplex
_SAME = 1e-8  # relative difference of objectives that are one
_NOTHING = 1e-7  # of the largest coefficient: rounding of the tight solve
_WAITING_EDGE = 0.8  # the same where a path goes on: most columns of the last C are not needed


@dataclass(frozen=True)
class InteriorLPMaster(MarginPenalty):
    """Interior point along a rising C, then simplex from the basis it names.

    `loose` is the relative gap of the solves on the way. At the full C a solve resumes from a gap
    of `back` times that over the library, and goes down to `fraction` of it. A column is set aside
    when its edge is below `idle_edge` and its coefficient below the share `idle_share` of the
    largest.

    An infinite library has no columns to come back to: those near an active one crowd the problem,
    and the vertex of what was found so far is no better a place to look from than its inside. For
    such, `closing` lifts the idle edge to `1 - closing * gap`, and the basis is named late: at a
    small gap over the library (`naming`), or when `patience` steps at one C have not closed it.
    """

    loose: float = 0.2
    idle_edge: float = 0.4
    idle_share: float = 1e-3
    fraction: float = 1 / 30
    back: float = 0.5
    closing: float | None = None
    naming: float = 3e-3
    patience: int = 12

    def start(self, problem: Problem[object, MarginRows]) -> InteriorRun:
        return InteriorRun(self, problem)


class InteriorRun(MarginRun):
    """Columns with their interior solution, and a simplex solver once there is a basis."""

    def __init__(self, master: InteriorLPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._fit_without_columns()
        self._vertices: RestrictedLP | None = None
        self._theta = 0.0
        self._loose = self._tol = master.loose
        self._idle_edge, self._idle_share = master.idle_edge, master.idle_share
        self._closing, self._naming = master.closing, master.naming
        self._fraction, self._back = master.fraction, master.back
        self._patience = master.patience  # steps at one theta; twice that at the last
        self._gap = 1.0  # over the library, at the present theta
        self._central_duals = self._tight_duals = self.duals
        self._waited = 0  # steps at the present theta
        self._active = np.zeros(0, dtype=bool)  # (k,)
        self._returned = np.zeros(0, dtype=bool)  # (k,), once set aside and violated later
        self._last: _Solve | None = None  # at the present theta
        self._x: FloatArray = np.zeros(0)  # (k,), the interior solution, not the incumbent
        self._extra: FloatArray = np.zeros(len(_EXTRA))  # the same of bias and level

    def extend(self, proposal: Proposal) -> None:
        self.columns = np.concatenate([self.columns.T, proposal.values.T]).T  # each in one piece
        new = proposal.values.shape[1]
        self._active = np.concatenate([self._active, np.ones(new, dtype=bool)])
        self._returned = np.concatenate([self._returned, np.zeros(new, dtype=bool)])
        self._x = np.concatenate([self._x, np.zeros(new)])
        if self._vertices is not None:
            self._pivot(self._vertices)
            return
        self._choose_stage(proposal)
        self._choose_columns(new)
        self._solve_inside()
        if self._tol == _TIGHT:
            self._cross_over()
            return
        if self._tol == self._loose:
            self._central_duals = self.duals
        self._keep_best(converged=False)

    def scale_slack_costs(self, factor: float) -> None:
        """Go on inside, from where the last loose solve was, towards the new prices."""
        before = self.rows.slack_costs.sum()
        super().scale_slack_costs(factor)
        self._theta *= float(before / self.rows.slack_costs.sum())
        self._vertices, self._tol, self._last = None, self._loose, None
        if self._theta == 0.0:  # no columns yet
            self._fit_without_columns()
            return
        self._theta, self._waited = min(1.0, self._theta), 0
        self.duals = self.repaired(self._central_duals)
        self._returned[:] = False
        self._set_aside(_WAITING_EDGE)
        fit = self.fit
        self.fit = self.make_fit(fit.coef, fit.bias, self.duals, fit.margin_width, converged=False)

    def _fit_without_columns(self) -> None:
        """The vertex without columns."""
        start = ColumnShape(self.data).solve()
        self.set_fit(start.coef, start.bias, self.central(start.duals), start.margin_width)

    def finish(self) -> Fit:
        """The vertex of the columns so far, if the loop ended before there was one."""
        if self._vertices is None and self.columns.shape[1]:
            if self._theta < 1.0:
                self._theta, self._last = 1.0, None
            self._tol = _TIGHT
            self._choose_columns(0)
            self._solve_inside()
            self._cross_over(last=True)
        return self.fit if self._vertices is not None else basic_fit(self, self.fit)

    def cut_short(self, fit: Fit) -> Fit:
        return basic_fit(self, fit)

    # -- inside ----------------------------------------------------------------------------------

    def _choose_stage(self, proposal: Proposal) -> None:
        """Where theta starts, when it rises, and how tight the next solve is.

        Theta rises when few columns are violated, when none is left to add, or after some steps.
        """
        reach = 1.0 + max(proposal.price, float(np.max(self._prices(), initial=0.0)))
        self._waited += 1
        if self._theta == 0.0:
            self._theta = min(1.0, _NEARLY / reach)
            # from the middle: the duals that priced the first columns may be at their bounds
            self.duals = 0.5 * self._theta * self.repaired(self.rows.slack_costs)
            return
        if self._last is not None:
            bound = float(self.rows.targets @ self.duals) / reach
            self._gap = 1.0 - bound / max(self._last.path.best.objective, 1e-300)
        if self._theta < 1.0:
            if not proposal.hypotheses or reach < _NEARLY or self._waited > self._patience:
                self._theta = min(1.0, _RISE * self._theta)
                self._waited, self._last = 0, None
        elif self._last is not None:
            near = self._gap < self._naming or self._waited > 2 * self._patience
            self._tol = _TIGHT if near else min(self._tol, self._fraction * self._gap)

    def _prices(self) -> FloatArray:
        """Prices of the columns so far at the present duals."""
        return self.price(self.columns.T @ self.rows.weights(self.duals))

    def _choose_columns(self, new: int) -> None:
        """Set idle columns aside, but for `new` ones at the end; take violated ones back."""
        edge = self._idle_edge
        if self._closing is not None and self._theta == 1.0:
            edge = max(edge, 1.0 - self._closing * max(self._gap, _CLOSED))
        prices = self._set_aside(edge, new)
        self._returned |= (prices > 0.0) & ~self._active
        self._active |= self._returned

    def _set_aside(self, edge: float, new: int = 0) -> FloatArray:
        """Leave out columns of a smaller edge and no coefficient to speak of; all prices."""
        share, prices = np.abs(self._x), self._prices()
        busy = share > self._idle_share * share.max(initial=0.0)
        busy[len(busy) - new :] = True
        self._active &= (prices > edge - 1.0) | busy | self._returned
        self._x[~self._active] = 0.0
        return prices

    def _solve_inside(self) -> None:
        """The interior solution of the active columns at the present theta."""
        rows, free = self.rows, self.penalty.intercept == "free"
        signed, two_sided, cost = self._charged_columns()
        data = replace(self.data, upper=self._theta * rows.slack_costs)
        problem, size = scaled_lp(signed, data, cost, two_sided, free_bias=free)
        present = np.array([self.penalty.intercept == "penalized", rows.margin_width is not None])
        ids = np.concatenate([np.flatnonzero(self._active), -1 - np.flatnonzero(present)])
        if self._last is None:
            x = np.concatenate([self._x[self._active], self._extra[present]]) * size
            start = begin(problem, x, self._extra[0] if free else 0.0, self.duals)
        else:
            start = self._last.resume(problem, ids, self._back * self._gap)
        path = solve_interior(problem, start, tol=self._tol, seconds=self.deadline.remaining)
        self._last = _Solve(problem, ids, path)
        found, k = path.best.x / size, int(self._active.sum())
        self._x[self._active] = found[:k]
        self._extra[present] = found[k:]
        if free:
            self._extra[0] = path.best.bias
        self.duals = self._tight_duals = self.repaired(path.best.duals)

    def _charged_columns(self) -> tuple[FloatArray, BoolArray, FloatArray]:
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
        if rows.margin_width is not None:
            parts.append(np.full((len(rows.signs), 1), rows.margin_width.sign))
            two_sided.append(False)
            cost.append(self._theta * rows.margin_width.cost)
        signed = np.concatenate([part.T for part in parts]).T
        return signed, np.array(two_sided, dtype=bool), np.array(cost)

    def _keep_best(self, *, converged: bool) -> None:
        """The best coefficients so far for the full C, with the duals of now.

        A solution for a smaller C is too short for the full one: it is taken at its best length.
        """
        bias, margin_width = self._extra
        length = 1.0
        if self._theta < 1.0 and self.rows.margin_width is None:
            values = self.columns @ self._x + bias
            penalty = float(np.abs(self._x).sum())
            penalty += abs(bias) if self.penalty.intercept == "penalized" else 0.0
            length = best_length(penalty, self.rows.signs * self.rows.per_row(values), self.rows)
        now = self.make_fit(
            length * self._x,
            length * float(bias),
            self.duals,
            float(margin_width),
            converged=converged,
        )
        if now.objective <= self.fit.objective:
            self.fit = now
        else:
            grown = np.zeros(len(self._x))
            grown[: len(self.fit.coef)] = self.fit.coef
            self.fit = replace(self.fit, coef=grown, weights=now.weights, converged=converged)

    # -- at the vertex ---------------------------------------------------------------------------

    def _cross_over(self, *, last: bool = False) -> None:
        """Hand the columns that matter, and the basis the interior point names, to simplex.

        Where column generation goes on, those that nearly matter too; a `last` vertex need not have
        duals that price, only the objective. Where simplex finds no vertex in a bounded number of
        pivots (a degenerate optimum), the interior solution stands: as good, only not as sparse.
        """
        self._x[np.abs(self._x) <= _NOTHING * np.abs(self._x).max(initial=0.0)] = 0.0
        self._keep_best(converged=True)
        share = np.abs(self._x) / max(float(np.abs(self._x).max(initial=0.0)), 1e-300)
        distance = np.abs(self._prices())  # from the edge of 1
        near = 0.0 if last else _NEAR
        inside = np.flatnonzero((distance < near) | (share > 1e-4))
        lp = ColumnShape(self.data)
        lp.extend(self.rows.signed(self.columns[:, inside]))
        lp.crash(self._x[inside] * (distance < share)[inside], self.duals)
        try:
            enough = (1 + _SAME) * self.fit.objective if last else -np.inf
            self._pivot(RestrictedLP(self, lp, inside, enough))
        except SolverError:
            self.duals = self.repaired(self._tight_duals)

    def _pivot(self, vertices: RestrictedLP) -> None:
        """Solve exactly; those set aside count too."""
        self._vertices = None  # in case it fails
        vertex = vertices.solve()
        self._vertices = vertices
        self.set_fit(vertex.coef, vertex.bias, vertex.duals, vertex.margin_width)


@dataclass(frozen=True)
class _Solve:
    """An interior solve and whose columns it had."""

    problem: DenseMarginLP
    ids: IntArray  # number of each column, negative for bias and level
    path: InteriorPath

    def resume(self, problem: DenseMarginLP, ids: IntArray, gap: float) -> Iterate:
        """A start for other columns, from where this solve was about `gap` from its optimum."""
        where = {number: place for place, number in enumerate(self.ids.tolist())}
        place = np.array([where.get(number, -1) for number in ids.tolist()], dtype=np.intp)
        return resume(problem, self.problem, self.path.at_gap(gap), place, gap=gap)
