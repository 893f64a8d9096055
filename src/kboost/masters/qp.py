"""The 2-norm master of CG-Boost (7)/(9), (11) and (13): the exact optimum at every step.

    minimise  1/2 sum_j coef_j^2 [+ 1/2 bias^2] [+ level_price level] + sum_i cap_i slack_i
    with      sign_i f_i [+ level_sign level] + slack_i >= target_i        (formulations.py)

over the columns so far (solvers/margin_qp.py). Its dual needs no constraint a column, only a price:

    maximise  target'u - 1/2 sum_j edge_j^2   (nonnegative: max(edge_j, 0)^2),   0 <= u <= caps,

so every column with an edge lowers the optimum, and the full solution is dense. What a column is
worth is the most it can lower the bound, in units of the objective:

    price = edge^2 / (2 |objective|),

and "no price above tol" is the rule of MATH.md, `edge^2 / 2 <= tol |objective|`. Certificate over
the whole library: t u is feasible for 0 <= t <= 1 and every column is charged for its edge, so

    bound = t target'u - t^2/2 S,   S = sum_j edge_j^2 over ALL j [+ (sum_i sign_i u_i)^2],

at the best t (the duals of a nu-SVM must sum to nu: t is at least what that asks). For t = 1 and
an exactly solved step, objective - bound is half the sum of edge^2 over the columns outside
(CG-Boost, Prop. 4.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Problem, Proposal
from kboost.exceptions import SolverError
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty, MarginRun
from kboost.solvers.margin_qp import MarginOptimum, MarginQP


@dataclass(frozen=True)
class QPMaster(MarginPenalty):
    """The 2-norm of the coefficients is penalised."""

    def start(self, problem: Problem[object, MarginRows]) -> QPRun:
        return QPRun(self, problem)


class QPRun(MarginRun):
    """A warm solver that holds the columns."""

    bias_reach = np.inf

    def __init__(self, master: QPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._qp = MarginQP(self.data, self.repaired(self.rows.slack_costs), self.rows.sample)
        self._take(self._qp.solve().checked())

    def extend(self, proposal: Proposal) -> None:
        self._qp.extend(proposal.values)
        self._solve()

    def scale_slack_costs(self, factor: float) -> None:
        super().scale_slack_costs(factor)
        self._qp.scale_slack_costs(self.data)
        self._solve()

    def price(self, edges: FloatArray) -> FloatArray:
        size = abs(self.fit.objective)
        prices: FloatArray = self._squares(edges) / (2.0 * size if size > 0.0 else 1.0)
        return prices

    def bound(self, edges: FloatArray) -> float:
        gain, square = self._terms(edges)
        share = min(1.0, gain / square) if square > 0.0 else 1.0
        share = max(share, self._least / max(float(self.duals.sum()), 1e-300))
        return share * gain - 0.5 * share**2 * square

    def first_factor(self, edges: FloatArray) -> float:
        """Where the margins that the start's duals make are as large as the targets."""
        gain, square = self._terms(edges)
        return gain / square if gain > 0.0 and square > 0.0 else 1.0

    def charge(self, coef: FloatArray) -> float:
        return 0.5 * float(coef @ coef)

    def repaired(self, duals: FloatArray) -> FloatArray:
        """As for the 1-norm; a level that asks for a least sum gets it on the way to the caps."""
        duals = super().repaired(duals)
        missing = self._least - float(duals.sum())
        if missing <= 0.0:
            return duals
        most = super().repaired(self.rows.slack_costs)
        room = float(most.sum() - duals.sum())
        return duals + min(1.0, missing / max(room, 1e-300)) * (most - duals)

    @property
    def _least(self) -> float:
        """What the duals must sum to (nu-SVM: nu)."""
        margin_width = self.rows.margin_width
        return -margin_width.cost if margin_width is not None and margin_width.sign < 0 else 0.0

    def _terms(self, edges: FloatArray) -> tuple[float, float]:
        """`target'u` and S of the bound."""
        with np.errstate(over="ignore"):
            square = float(self._squares(edges).sum())
        if not np.isfinite(square):  # there is no bound to be had, nor an order of prices
            raise SolverError("edges overflow when squared; scale the features or the columns.")
        if self.penalty.intercept == "penalized":
            square += float(self.fit.weights.sum()) ** 2
        return float(self.rows.targets @ self.duals), square

    def _squares(self, edges: FloatArray) -> FloatArray:
        """The square that the dual charges for each edge."""
        squares: FloatArray = (np.maximum(edges, 0.0) if self.penalty.nonnegative else edges) ** 2
        return squares

    def _solve(self) -> None:
        """Solve for the columns so far; what the solver left loose counts if it is an improvement.

        Else what stood before stands. A loose fit says so and ends the loop; without any
        coefficient there is nothing to end with, and the error is raised.
        """
        before, duals = self.fit, self.duals
        found = self._qp.solve(self.deadline.remaining)
        self._take(found)
        if found.precise:
            return
        coef = np.zeros(len(found.coef))
        coef[: len(before.coef)] = before.coef
        stood = self.make_fit(coef, before.bias, self.repaired(duals), before.margin_width)
        if not self.fit.objective < stood.objective:
            if not coef.any():
                found.checked()
            self.set_fit(coef, before.bias, self.repaired(duals), before.margin_width)
        self.fit = replace(self.fit, solver_gap=found.gap)

    def _take(self, found: MarginOptimum) -> None:
        self.columns = self._qp.columns
        self.set_fit(found.coef, found.bias, self.repaired(found.duals), found.margin_width)
