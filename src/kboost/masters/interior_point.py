"""The 1-norm master for the full optimum: interior point for a rising C, then crossover to simplex.

Problem, dual, price and bound are those of margin.py. Simplex takes many small pivots, and its
duals jump from vertex to vertex, so column generation adds many columns that it does not need.
Here

1. the slack costs are `theta * slack_costs`; theta starts where the first columns have a positive
   price and rises by factors. Each solution starts the next, and is solved to a loose gap by the
   interior point (solvers/interior_point.py). Duals of a smaller C are feasible for a larger one
   and stay near the middle of their optimal set, so they price well;
2. at theta = 1 the solves tighten as the gap over the whole library closes: a solve stops at a
   fixed fraction of that gap, so its duals stay central while columns are still added, and it
   resumes from an iterate about as far from its optimum;
3. when the gap over the library is small, one tight solve gives the active columns and the rows on
   the margin: a basis, whose solution is the vertex (solvers/optimal_basis.py). If that is not
   optimal, simplex starts from the basis; from then on column generation is exact, as in lp.py.

At the full C a solve first tries the rows near the margin alone (solvers/row_generation.py). Where
that fails it waits until the gap over the library has become smaller; the tight solve always tries.

Columns that are clearly inactive are left out of the solve; a column that is violated later returns
for good. The fit of an interior step is the best one so far for the full C, so the objective never
rises.
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
from kboost.masters.margin import MarginPenalty, MarginRun, best_scale
from kboost.solvers.interior_point import InteriorPath, begin, resume, solve_interior
from kboost.solvers.margin_lp import ColumnShape
from kboost.solvers.optimal_basis import basic_solutions_near
from kboost.solvers.predictor_corrector import DenseMarginLP, Iterate, scaled_lp
from kboost.solvers.row_generation import solve_near_margin

_EXTRA = ("bias", "margin_width")
_THETA_FACTOR = 4.0
_RISE_EDGE = 1.5  # theta may rise when no edge is above this
_TIGHT = 1e-9  # relative gap of the solve before the crossover
_LEAST_GAP = 1e-6  # the gap that lifts the inactive edge counts at least this
_NEAR = 0.01  # columns with an edge this close to 1 enter the LP
_SAME = 1e-8  # relative difference of objectives that count as equal
_RETURNS = 4  # tight solves, while columns that were left out are violated
_NEGLIGIBLE = 1e-7  # of the largest coefficient: rounding of the tight solve
_LATER, _SOON = 0.3, 0.8  # of the gap at which the rows near the margin failed: the next attempt
_MANY_ROWS = 30  # per column, from which on an attempt costs so little that it comes soon
_PATH_EDGE = 0.8  # inactive edge at the next C of a path: most columns are not needed there


@dataclass(frozen=True)
class InteriorLPMaster(MarginPenalty):
    """Interior point along a rising C, then simplex from the basis it gives.

    Parameters
    ----------
    path_gap : float
        Relative gap of the solves before the full C.
    inactive_edge, inactive_coef : float
        A column is left out if its edge is below `inactive_edge` and its coefficient below the
        share `inactive_coef` of the largest.
    gap_fraction, resume_gap : float
        At the full C a solve resumes from an iterate with `resume_gap` times the gap over the
        library, and stops at `gap_fraction` of that gap.
    inactive_gap_factor : float or None
        Raises the inactive edge to `1 - inactive_gap_factor * gap`. For infinite libraries, where
        many columns near an active one would crowd the problem.
    crossover_gap : float
        The gap over the library at which simplex takes over.
    patience : int
        Steps at one C, after which C rises; twice as many at the full C until the crossover.
    at_full_cost : bool
        Begin at the full C: the first columns are many and good ones.
    """

    path_gap: float = 0.2
    inactive_edge: float = 0.4
    inactive_coef: float = 1e-3
    gap_fraction: float = 1 / 30
    resume_gap: float = 0.5
    inactive_gap_factor: float | None = None
    crossover_gap: float = 3e-3
    patience: int = 12
    at_full_cost: bool = False

    def start(self, problem: Problem[object, MarginRows]) -> InteriorRun:
        return InteriorRun(self, problem)


class InteriorRun(MarginRun):
    """Columns with their interior solution, and a simplex solver after the crossover."""

    def __init__(self, master: InteriorLPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._fit_without_columns()
        self._restricted: RestrictedLP | None = None
        self._at_vertex = False  # of the columns so far, without simplex
        self._theta = 0.0
        self._master, self._tol = master, master.path_gap
        self._gap = 1.0  # over the library, at the present theta
        self._central_duals = self._tight_duals = self.duals
        self._waited = 0  # steps at the present theta
        self._active = np.zeros(0, dtype=bool)  # (k,)
        self._returned = np.zeros(0, dtype=bool)  # (k,), left out once and violated later
        self._last: _Solve | None = None  # at the present theta
        self._part_gap = np.inf  # below it the rows near the margin alone are tried
        self._x: FloatArray = np.zeros(0)  # (k,), the interior solution, not the incumbent
        self._extra: FloatArray = np.zeros(len(_EXTRA))  # bias and margin width

    def extend(self, proposal: Proposal) -> None:
        self.columns = np.concatenate([self.columns.T, proposal.values.T]).T  # contiguous
        new = proposal.values.shape[1]
        self._active = np.concatenate([self._active, np.ones(new, dtype=bool)])
        self._returned = np.concatenate([self._returned, np.zeros(new, dtype=bool)])
        self._x = np.concatenate([self._x, np.zeros(new)])
        if self._restricted is not None:
            self._solve_simplex(self._restricted)
            return
        self._at_vertex = False
        self._choose_stage(proposal)
        self._update_active(new)
        self._solve_interior()
        if self._tol == _TIGHT:
            self._crossover()
            return
        if self._tol == self._master.path_gap:
            self._central_duals = self.duals
        self._keep_best(converged=False)

    def scale_slack_costs(self, factor: float) -> None:
        """Return to the interior point, from the last loose solve, with the new costs."""
        before = self.rows.slack_costs.sum()
        super().scale_slack_costs(factor)
        self._theta *= float(before / self.rows.slack_costs.sum())
        self._restricted, self._tol, self._last = None, self._master.path_gap, None
        self._part_gap = np.inf
        self._at_vertex = False
        if self._theta == 0.0:  # no columns yet
            self._fit_without_columns()
            return
        self._theta, self._waited = min(1.0, self._theta), 0
        self.duals = self.repaired(self._central_duals)
        self._returned[:] = False
        self._leave_out(_PATH_EDGE)
        fit = self.fit
        self.fit = self.make_fit(fit.coef, fit.bias, self.duals, fit.margin_width, converged=False)

    def _fit_without_columns(self) -> None:
        """The optimum without columns."""
        start = ColumnShape(self.data).solve()
        self.set_fit(start.coef, start.bias, self.central(start.duals), start.margin_width)

    def finish(self) -> Fit:
        """The vertex over the columns so far, if the loop ended before the crossover."""
        if self._at_vertex:
            return self.fit
        if self._restricted is None and self.columns.shape[1]:
            if self._theta < 1.0:
                self._theta, self._last = 1.0, None
            self._tol = _TIGHT
            self._update_active(0)
            self._solve_interior()
            self._crossover(last=True)
        exact = self._at_vertex or self._restricted is not None
        return self.fit if exact else basic_fit(self, self.fit)

    def cut_short(self, fit: Fit) -> Fit:
        return basic_fit(self, fit)

    # -- interior point --------------------------------------------------------------------------

    def _choose_stage(self, proposal: Proposal) -> None:
        """Choose theta and the gap of the next solve.

        Theta rises when no column is violated by much, when none is left to add, or after
        `patience` steps.
        """
        largest_edge = 1.0 + max(proposal.price, float(np.max(self._prices(), initial=0.0)))
        self._waited += 1
        if self._theta == 0.0:
            first = 1.0 if self._master.at_full_cost else _RISE_EDGE / largest_edge
            self._theta = min(1.0, first)
            # start from the middle: the duals that priced the first columns may be at their bounds
            self.duals = 0.5 * self._theta * self.repaired(self.rows.slack_costs)
            return
        if self._last is not None:
            bound = float(self.rows.targets @ self.duals) / largest_edge
            self._gap = 1.0 - bound / max(self._last.path.best.objective, 1e-300)
        if self._theta < 1.0:
            if (
                not proposal.hypotheses
                or largest_edge < _RISE_EDGE
                or self._waited > self._master.patience
            ):
                self._theta = min(1.0, _THETA_FACTOR * self._theta)
                self._waited, self._last = 0, None
        elif self._last is not None:
            near = (
                self._gap < self._master.crossover_gap or self._waited > 2 * self._master.patience
            )
            self._tol = _TIGHT if near else min(self._tol, self._master.gap_fraction * self._gap)

    def _prices(self) -> FloatArray:
        """Prices of the columns so far at the present duals."""
        return self.price(self.columns.T @ self.rows.weights(self.duals))

    def _update_active(self, new: int) -> None:
        """Leave out inactive columns except the last `new` ones; bring back violated ones."""
        edge, factor = self._master.inactive_edge, self._master.inactive_gap_factor
        if factor is not None and self._theta == 1.0:
            edge = max(edge, 1.0 - factor * max(self._gap, _LEAST_GAP))
        prices = self._leave_out(edge, new)
        self._returned |= (prices > 0.0) & ~self._active
        self._active |= self._returned

    def _leave_out(self, edge: float, new: int = 0) -> FloatArray:
        """Leave out columns with a smaller edge and a negligible coefficient; return all prices."""
        share, prices = np.abs(self._x), self._prices()
        used = share > self._master.inactive_coef * share.max(initial=0.0)
        used[len(used) - new :] = True
        self._active &= (prices > edge - 1.0) | used | self._returned
        self._x[~self._active] = 0.0
        return prices

    def _solve_interior(self) -> None:
        """Solve for the active columns at the present theta."""
        rows, free = self.rows, self.penalty.intercept == "free"
        signed, two_sided, cost = self._signed_columns()
        data = replace(self.data, upper=self._theta * rows.slack_costs)
        problem, size = scaled_lp(signed, data, cost, two_sided, free_bias=free)
        present = np.array([self.penalty.intercept == "penalized", rows.margin_width is not None])
        ids = np.concatenate([np.flatnonzero(self._active), -1 - np.flatnonzero(present)])
        if self._last is None:
            x = np.concatenate([self._x[self._active], self._extra[present]]) * size
            start = begin(problem, x, self._extra[0] if free else 0.0, self.duals)
        else:
            start = self._last.resume(problem, ids, self._master.resume_gap * self._gap)
            x = np.concatenate([self._x[self._active], self._extra[present]]) * size
        path = self._solved(problem, start, (x, self._extra[0] if free else 0.0))
        self._last = _Solve(problem, ids, path, size)
        self._place(path.best.x, path.best.bias)
        self.duals = self._tight_duals = self.repaired(path.best.duals)

    def _solved(
        self, problem: DenseMarginLP, start: Iterate, near: tuple[FloatArray, float]
    ) -> InteriorPath:
        """The solution, by the rows near the margin alone if that succeeds."""
        seconds = self.deadline.remaining
        is_late = self._gap < self._part_gap or self._tol == _TIGHT
        if self._theta == 1.0 and self._last is not None and is_late:
            path = solve_near_margin(problem, start, near, tol=self._tol, seconds=seconds)
            if path is not None:
                return path
            n, k = problem.columns.shape
            self._part_gap = (_SOON if n > _MANY_ROWS * k else _LATER) * self._gap
        return solve_interior(problem, start, tol=self._tol, seconds=seconds)

    def _place(self, x: FloatArray, bias: float) -> None:
        """Take coefficients, bias and margin width from a solution of the last problem."""
        assert self._last is not None
        k, ids = int(self._active.sum()), self._last.ids
        solution = x / self._last.size
        self._x[self._active] = solution[:k]
        self._extra[-1 - ids[k:]] = solution[k:]
        if self.penalty.intercept == "free":
            self._extra[0] = bias

    def _signed_columns(self) -> tuple[FloatArray, BoolArray, FloatArray]:
        """Signed active columns, whether their sign is free, and their cost.

        A penalised bias is a column of ones with a free sign, the margin width one that is not
        negative.
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
        signed = parts[0] if len(parts) == 1 else np.concatenate([part.T for part in parts]).T
        return signed, np.array(two_sided, dtype=bool), np.array(cost)

    def _keep_best(self, *, converged: bool) -> None:
        """Keep the best coefficients so far for the full C, with the present duals.

        A solution for a smaller C is too small for the full one: it is rescaled first.
        """
        bias, margin_width = self._extra
        length = 1.0
        if self._theta < 1.0 and self.rows.margin_width is None:
            values = self.columns @ self._x + bias
            penalty = float(np.abs(self._x).sum())
            penalty += abs(bias) if self.penalty.intercept == "penalized" else 0.0
            length = best_scale(penalty, self.rows.signs * self.rows.per_row(values), self.rows)
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

    # -- crossover and simplex -------------------------------------------------------------------

    def _crossover(self, *, last: bool = False) -> None:
        """Give simplex the active columns and the basis of the interior solution.

        If column generation continues, columns with an edge near 1 are included; the `last` vertex
        needs the objective only, not duals that price. If simplex finds no vertex in a bounded
        number of pivots (a degenerate optimum), the interior solution stays: as good, not as
        sparse.
        """
        self._x[np.abs(self._x) <= _NEGLIGIBLE * np.abs(self._x).max(initial=0.0)] = 0.0
        self._keep_best(converged=True)
        if self._found_vertex():
            return
        share = np.abs(self._x) / max(float(np.abs(self._x).max(initial=0.0)), 1e-300)
        distance = np.abs(self._prices())  # of the edges from 1
        near = 0.0 if last else _NEAR
        entering = np.flatnonzero((distance < near) | (share > 1e-4))
        lp = ColumnShape(self.data)
        lp.extend(self.rows.signed(self.columns[:, entering]))
        lp.start_from_solution(self._x[entering] * (distance < share)[entering], self.duals)
        try:
            enough = (1 + _SAME) * self.fit.objective if last else -np.inf
            self._solve_simplex(RestrictedLP(self, lp, entering, enough))
        except SolverError:
            self.duals = self.repaired(self._tight_duals)

    def _found_vertex(self) -> bool:
        """Take a basic solution that the interior one points to, if it is optimal.

        If it violates columns that were left out, these return, for a few more solves.
        """
        for _ in range(_RETURNS):
            if not self._take_vertex():
                return False
            if self._at_vertex:
                return True
            self._update_active(0)
            self._solve_interior()
            self._keep_best(converged=True)
        return False

    def _take_vertex(self) -> bool:
        """Whether there is a vertex of the active columns; it becomes the fit if it is optimal."""
        assert self._last is not None
        problem, best, before = self._last.problem, self._last.path.best, self.duals
        for found in basic_solutions_near(problem, best.x, best.bias, best.duals):
            self._place(found.x, found.bias)
            self.duals = self.repaired(found.duals)
            fit = self.make_fit(self._x, self._extra[0], self.duals, self._extra[1])
            edges = self.columns.T @ fit.weights
            if fit.objective <= (1.0 + _SAME) * self.bound(edges[self._active]):
                self._at_vertex = fit.objective <= (1.0 + _SAME) * self.bound(edges)
                if self._at_vertex:
                    self.fit = fit
                return True
        self.duals = before
        self._place(best.x, best.bias)
        return False

    def _solve_simplex(self, vertices: RestrictedLP) -> None:
        """Solve exactly over all columns."""
        self._restricted = None  # in case it fails
        vertex = vertices.solve()
        self._restricted = vertices
        self.set_fit(vertex.coef, vertex.bias, vertex.duals, vertex.margin_width)


@dataclass(frozen=True)
class _Solve:
    """An interior solve and its columns."""

    problem: DenseMarginLP
    ids: IntArray  # number of each column, negative for bias and width
    path: InteriorPath
    size: FloatArray  # by which columns were divided

    def resume(self, problem: DenseMarginLP, ids: IntArray, gap: float) -> Iterate:
        """A start for other columns, from the iterate of this solve with about this gap."""
        position = {number: i for i, number in enumerate(self.ids.tolist())}
        old = np.array([position.get(number, -1) for number in ids.tolist()], dtype=np.intp)
        return resume(problem, self.problem, self.path.at_gap(gap), old, gap=gap)
