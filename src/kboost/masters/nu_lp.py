"""The 1-norm nu master: the margin is maximised at a given nu (nu-SVM and one-class, 1-norm).

    maximise    rho - 1/(nu W) sum_i w_i slack_i
    subject to  sum_j |coef_j| <= 1,   sign_i f_i + slack_i >= rho,   slack >= 0

As a penalty the 1-norm would make the problem homogeneous (the optimum 0 or unbounded), so it is a
constraint. Simplex keeps the dual warm, which has one row per column and side:

    minimise    tau
    subject to  |sum_i u_i sign_i h_ij| <= tau      (nonnegative coef: without the bars)
                sum_i u_i = 1,   0 <= u_i <= w_i/(nu W),   sum_i u_i sign_i = 0   (bias free)

            u_1 ... u_n   tau
    sum   [   1'           0  ]  = 1
    bias  [  sign'         0  ]  = 0            (or absent)
    col j [ +g_j'         -1  ] <= 0
    col j [ -g_j'         -1  ] <= 0            (absent for nonnegative coefficients)

The price of a column is `(|edge| - tau) / |tau|`. For every feasible u, minus the largest |edge| is
a lower bound of minus the optimum, so no scaling is needed. At the end the fit is divided by rho:
its margin is then 1, as in the other masters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.base_run import BaseRun
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.formulations import MarginRows
from kboost.masters.margin import check_margin, scale_margin
from kboost.solvers.highs import INFINITY, GrowingLP
from kboost.solvers.margin_lp import both_signs


@dataclass(frozen=True)
class NuLPMaster:
    """The largest margin for a share `nu` of outliers, with the 1-norm bounded by 1."""

    nu: float
    nonnegative: bool = False
    free_bias: bool = True

    def start(self, problem: Problem[object, MarginRows]) -> NuLPRun:
        return NuLPRun(self, problem)


class NuLPRun(BaseRun):
    """The columns and a warm solver of the dual LP."""

    def __init__(self, master: NuLPMaster, problem: Problem[object, MarginRows]) -> None:
        rows = problem.rows  # slack costs are w/W
        self._master, self._rows, self._deadline = master, rows, problem.deadline
        self._columns = np.zeros((rows.n_samples, 0))
        self._upper = rows.slack_costs / master.nu
        n = len(self._upper)
        self._lp = GrowingLP(
            np.append(np.zeros(n), 1.0),
            np.append(np.zeros(n), -INFINITY),
            np.append(self._upper, INFINITY),
        )
        one, zero = np.ones(1), np.zeros(1)
        self._lp.add_rows(np.append(np.ones(n), 0.0)[None, :], one, one)
        if master.free_bias:
            self._lp.add_rows(np.append(rows.signs, 0.0)[None, :], zero, zero)
        self._tau = 0.0
        self.fit = self._make_fit(np.zeros(0), 0.0, 0.0, self._even())

    def price(self, edges: FloatArray) -> FloatArray:
        return (self._signed_edges(edges) - self._tau) / max(abs(self._tau), 1e-12)

    def bound(self, edges: FloatArray) -> float:
        return -float(self._signed_edges(edges).max())

    def extend(self, proposal: Proposal) -> None:
        signed = self._rows.signed(proposal.values)
        sides = signed if self._master.nonnegative else both_signs(signed)
        block = np.vstack([sides, -np.ones((1, sides.shape[1]))]).T
        self._lp.add_rows(block, np.full(len(block), -INFINITY), np.zeros(len(block)))
        solution = self._lp.solve(self._deadline.remaining)
        self._columns = np.hstack([self._columns, proposal.values])
        # multipliers in the order of the rows: rho, bias, the sides of the columns
        rho, rest, bias = float(solution.row_duals[0]), -solution.row_duals[1:], 0.0
        if self._master.free_bias:
            bias, rest = float(rest[0]), rest[1:]
        coef = np.maximum(rest, 0.0) if self._master.nonnegative else rest[0::2] - rest[1::2]
        self._tau = float(solution.values[-1])
        self.fit = self._make_fit(coef, bias, rho, np.clip(solution.values[:-1], 0.0, self._upper))

    def finish(self) -> Fit:
        return scale_margin(self.fit)

    def check_optimum(self) -> None:
        check_margin(self.fit)

    def complete(self, fit: Fit) -> Fit:
        return scale_margin(fit)

    def _signed_edges(self, edges: FloatArray) -> FloatArray:
        return edges if self._master.nonnegative else np.abs(edges)

    def _make_fit(self, coef: FloatArray, bias: float, rho: float, duals: FloatArray) -> Fit:
        decision = self._columns @ coef + bias
        slack = self._rows.slack(decision, rho)
        return Fit(
            coef=coef,
            bias=bias,
            decision=decision,
            weights=self._rows.weights(duals),
            objective=float(self._upper @ slack) - rho,
            margin_width=rho,
        )

    def _even(self) -> FloatArray:
        """Duals of sum 1 proportional to the weights; with a bias, half per sign."""
        slack_costs, positive = self._upper, self._rows.signs > 0
        if not self._master.free_bias:
            share: FloatArray = slack_costs / slack_costs.sum()
            return share
        side = np.where(positive, slack_costs[positive].sum(), slack_costs[~positive].sum())
        even: FloatArray = 0.5 * slack_costs / side
        return even
