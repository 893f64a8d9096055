"""The 2-norm master of CG-Boost (7)/(9), (11) and (13): the exact optimum at every step.

    minimise  1/2 sum_j coef_j^2 [+ 1/2 bias^2] [+ width_cost margin_width]
              + sum_i slack_cost_i slack_i
    with      sign_i f_i [+ width_sign margin_width] + slack_i >= target_i     (formulations.py)

over the columns so far (solvers/margin_qp.py). The dual has no constraint per column, but a charge:

    maximise  target'u - 1/2 sum_j edge_j^2   (nonnegative: max(edge_j, 0)^2),
              0 <= u <= slack_costs,

so every column with an edge lowers the optimum, and the full solution is dense. The price of a
column is the most it can lower the bound, relative to the objective:

    price = edge^2 / (2 |objective|),

and "no price above tol" is the rule of MATH.md, `edge^2 / 2 <= tol |objective|`. Certificate over
the whole library: t u is feasible for 0 <= t <= 1 and every column is charged for its edge, so

    bound = t target'u - t^2/2 S,   S = sum_j edge_j^2 over ALL j [+ (sum_i sign_i u_i)^2],

at the best t (the duals of a nu-SVM must sum to nu, which limits t from below). For t = 1 and an
exactly solved step, objective - bound is half the sum of edge^2 over the columns not in the model
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
    """A penalty on the 2-norm of the coefficients."""

    def start(self, problem: Problem[object, MarginRows]) -> QPRun:
        return QPRun(self, problem)


class QPRun(MarginRun):
    """A warm QP solver with the columns."""

    bias_reach = np.inf

    def __init__(self, master: QPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._qp = MarginQP(self.data, self.repaired(self.rows.slack_costs), self.rows.sample)
        self._accept(self._qp.solve().checked())

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
        share = max(share, self._least_sum / max(float(self.duals.sum()), 1e-300))
        return share * gain - 0.5 * share**2 * square

    def first_factor(self, edges: FloatArray) -> float:
        """The factor at which the margins of the first duals reach the targets."""
        gain, square = self._terms(edges)
        return gain / square if gain > 0.0 and square > 0.0 else 1.0

    def penalty_of(self, coef: FloatArray) -> float:
        return 0.5 * float(coef @ coef)

    def repaired(self, duals: FloatArray) -> FloatArray:
        """As for the 1-norm; then raised towards the upper bounds to their least sum, if any."""
        duals = super().repaired(duals)
        missing = self._least_sum - float(duals.sum())
        if missing <= 0.0:
            return duals
        most = super().repaired(self.rows.slack_costs)
        room = float(most.sum() - duals.sum())
        return duals + min(1.0, missing / max(room, 1e-300)) * (most - duals)

    @property
    def _least_sum(self) -> float:
        """The least sum of the duals (nu-SVM: nu)."""
        margin_width = self.rows.margin_width
        return -margin_width.cost if margin_width is not None and margin_width.sign < 0 else 0.0

    def _terms(self, edges: FloatArray) -> tuple[float, float]:
        """`target'u` and S of the bound."""
        with np.errstate(over="ignore"):
            square = float(self._squares(edges).sum())
        if not np.isfinite(square):  # neither a bound nor an order of prices
            raise SolverError("edges overflow when squared; scale the features or the columns.")
        if self.penalty.intercept == "penalized":
            square += float(self.fit.weights.sum()) ** 2
        return float(self.rows.targets @ self.duals), square

    def _squares(self, edges: FloatArray) -> FloatArray:
        """The square of each edge that the dual charges."""
        squares: FloatArray = (np.maximum(edges, 0.0) if self.penalty.nonnegative else edges) ** 2
        return squares

    def _solve(self) -> None:
        """Solve for the columns so far.

        A solution that misses the tolerance is kept if it is an improvement, else the last one is;
        either way `solver_gap` ends the loop. Without any coefficient the error is raised.
        """
        before, duals = self.fit, self.duals
        found = self._qp.solve(self.deadline.remaining)
        self._accept(found)
        if found.precise:
            return
        coef = np.zeros(len(found.coef))
        coef[: len(before.coef)] = before.coef
        previous = self.make_fit(coef, before.bias, self.repaired(duals), before.margin_width)
        if not self.fit.objective < previous.objective:
            if not coef.any():
                found.checked()
            self.set_fit(coef, before.bias, self.repaired(duals), before.margin_width)
        self.fit = replace(self.fit, solver_gap=found.gap)

    def _accept(self, found: MarginOptimum) -> None:
        self.columns = self._qp.columns
        self.set_fit(found.coef, found.bias, self.repaired(found.duals), found.margin_width)
