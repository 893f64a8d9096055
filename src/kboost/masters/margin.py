"""What the margin masters share: prices, the bound, and exactly feasible duals.

    minimise  sum_j |coef_j| [+ |bias|] [+ width_cost margin_width] + sum_i slack_cost_i slack_i
    with      sign_i f_i [+ width_sign margin_width] + slack_i >= target_i     (formulations.py)

Weights for the oracle are `sign_i u_i`, summed per sample, with the duals u (r,). The price of a
column is `|edge| - 1` (nonnegative coefficients: `edge - 1`). Certificate over the whole library:
u / max(1, largest |edge|) is feasible for every column at once, so

    bound = sum_i target_i u_i / max(1, max_j |edge_j|)   <=   optimum.

This requires duals that satisfy the box and the row of the bias exactly; solver tolerances are
repaired by clipping and by scaling down the heavier side. A penalised bias is a column of ones with
a free sign; its row, `|sum_i u_i sign_i| <= 1`, and that of the margin width are kept by the same
repair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray
from kboost.core.base_run import BaseRun
from kboost.core.protocols import Fit, Problem
from kboost.formulations import MarginRows
from kboost.solvers.margin_lp import Intercept, MarginData

_ROUNDING = 1e-11  # of the sum of the weights: an edge of columns that are all but constant
_NO_MARGIN = 1e-12


@dataclass(frozen=True)
class MarginPenalty:
    """The hyper-parameters that the margin masters share."""

    nonnegative: bool = False
    intercept: Intercept = "free"


class MarginRun(BaseRun):
    """The rows, the columns so far, and the last fit with its duals."""

    duals: FloatArray  # (r,), exactly feasible
    at_once = True  # the optimum does not depend on the order of the columns
    bias_reach = 1.0  # limit of `|sum_i u_i sign_i|` for a penalised bias

    def __init__(self, penalty: MarginPenalty, problem: Problem[object, MarginRows]) -> None:
        self.rows = problem.rows
        self._first_rows = self.rows
        self.penalty = penalty
        self.deadline = problem.deadline
        self.columns: FloatArray = np.zeros((self.rows.n_samples, 0))

    @property
    def data(self) -> MarginData:
        """The problem in the form of the LP and QP solvers."""
        rows, penalty = self.rows, self.penalty
        margin_width = (
            None if rows.margin_width is None else (rows.margin_width.sign, rows.margin_width.cost)
        )
        return MarginData(
            rows.signs,
            rows.targets,
            rows.slack_costs,
            penalty.nonnegative,
            penalty.intercept,
            margin_width,
        )

    def price(self, edges: FloatArray) -> FloatArray:
        return (edges if self.penalty.nonnegative else np.abs(edges)) - 1.0

    def bound(self, edges: FloatArray) -> float:
        scale = 1.0 + float(np.max(self.price(edges), initial=0.0))
        return float(self.rows.targets @ self.duals) / scale

    def finish(self) -> Fit:
        return self.complete(self.fit)

    def check_optimum(self) -> None:
        margin_width = self.rows.margin_width
        if margin_width is not None and margin_width.sign < 0:
            check_margin(self.fit)

    def complete(self, fit: Fit) -> Fit:
        margin_width = self.rows.margin_width
        return fit if margin_width is None or margin_width.sign > 0 else scale_margin(fit)

    def first_factor(self, edges: FloatArray) -> float:
        largest_edge = 1.0 + float(np.max(self.price(edges), initial=-1.0))
        rounding = _ROUNDING * float(np.abs(self.fit.weights).sum())
        return 1.0 / largest_edge if largest_edge > rounding else 1.0

    def scale_slack_costs(self, factor: float) -> None:
        """Continue with `factor` times the slack costs of the problem."""
        self.rows = self._first_rows.with_scaled_costs(factor)

    def set_fit(
        self, coef: FloatArray, bias: float, duals: FloatArray, margin_width: float
    ) -> None:
        """Make this solution the fit."""
        self.fit, self.duals = self.make_fit(coef, bias, duals, margin_width), duals

    def make_fit(
        self,
        coef: FloatArray,
        bias: float,
        duals: FloatArray,
        margin_width: float = 0.0,
        *,
        converged: bool = True,
    ) -> Fit:
        """A fit of the columns so far; the objective is computed from the coefficients."""
        coef = np.maximum(coef, 0.0) if self.penalty.nonnegative else coef
        decision = self.columns @ coef + bias
        penalty = self.penalty_of(
            np.append(coef, bias if self.penalty.intercept == "penalized" else 0)
        )
        if self.rows.margin_width is not None:
            margin_width = max(0.0, margin_width)
            penalty += self.rows.margin_width.cost * margin_width
        return Fit(
            coef=coef,
            bias=bias,
            decision=decision,
            weights=self.rows.weights(duals),
            objective=penalty
            + float(self.rows.slack_costs @ self.rows.slack(decision, margin_width)),
            converged=converged,
            margin_width=margin_width,
            errors=self.rows.errors(decision, margin_width),
        )

    def penalty_of(self, coef: FloatArray) -> float:
        """The penalty of the coefficients."""
        return float(np.abs(coef).sum())

    def repaired(self, duals: FloatArray) -> FloatArray:
        """Duals clipped to their box and scaled until the rows of bias and width hold."""
        duals = np.clip(duals, 0.0, self.rows.slack_costs)
        positive = self.rows.signs > 0
        up, down = float(duals[positive].sum()), float(duals[~positive].sum())
        limit = {"free": 0.0, "penalized": self.bias_reach, "none": np.inf}
        allowed = min(up, down) + limit[self.penalty.intercept]
        shares = [min(1.0, allowed / max(side, 1e-300)) for side in (up, down)]
        duals = duals * np.where(positive, *shares)
        if self.rows.margin_width is not None and self.rows.margin_width.sign > 0:
            duals = duals * min(1.0, self.rows.margin_width.cost / max(float(duals.sum()), 1e-300))
        return duals

    def central(self, duals: FloatArray) -> FloatArray:
        """Optimal duals without columns: spread evenly, if that is optimal too."""
        even, given = self.repaired(self.rows.slack_costs), self.repaired(duals)
        targets = self.rows.targets
        return even if targets @ even >= targets @ given * (1 - 1e-12) else given


def check_margin(fit: Fit) -> None:
    """Raise if the margin of a nu fit is 0."""
    if fit.margin_width <= _NO_MARGIN:
        raise ValueError("the classes cannot be separated at this nu (the margin is 0); raise nu.")


def scale_margin(fit: Fit) -> Fit:
    """A nu fit with its margin rho scaled to 1; unchanged while the margin is 0."""
    rho = fit.margin_width
    if rho <= _NO_MARGIN:
        return fit
    return replace(fit, coef=fit.coef / rho, bias=fit.bias / rho, decision=fit.decision / rho)


def best_scale(penalty: float, margins: FloatArray, rows: MarginRows) -> float:
    """The s >= 0 that minimises `s penalty + sum_i cost_i max(0, target_i - s margin_i)`.

    Convex and piecewise linear in s: the slope rises at the breakpoints target / margin.
    """
    active = rows.targets > 0  # rows with slack at s = 0
    slope = penalty - float(rows.slack_costs[active] @ margins[active])
    turns = np.flatnonzero((rows.targets > 0) == (margins > 0))
    turns = turns[margins[turns] != 0.0]
    where = rows.targets[turns] / margins[turns]
    order = np.argsort(where, kind="stable")
    rises = slope + np.cumsum((rows.slack_costs[turns] * np.abs(margins[turns]))[order])
    if slope >= 0.0:
        return 0.0
    stop = int(np.searchsorted(rises, 0.0))
    return float(where[order][min(stop, len(order) - 1)]) if len(order) else 1.0
