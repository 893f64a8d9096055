"""The barrier master of SRE (20): the margin LP by an interior method with its slacks eliminated.

The exponential barrier gives every slack its optimal value in closed form, which leaves a softplus
per row; coefficients of either sign are differences of two parts >= 0, and a logarithmic barrier
gives their optimal values too:

    minimise  sum_j phi(coef_j) [+ phi(bias)] [+ width_cost margin_width - mu log margin_width]
              + sum_r slack_cost_r beta log(1 + exp(z_r / beta)),
              z_r = target_r - sign_r f(x_s) - width_sign margin_width        (formulations.py)

    phi(c) = q - mu log(q + mu),  q = sqrt(mu^2 + c^2)      (nonnegative: c - mu log c)

This smooth problem is minimised by damped Newton steps (solvers/damped_newton.py). The duals are

    u_r = slack_cost_r / (1 + exp(-z_r / beta)),

strictly inside their box and, at the minimum, balanced for bias and margin width, with edges
`phi'(coef_j)` in (-1, 1): the certificate of margin.py holds for every beta after rounding is
repaired. The price is that of margin.py, `|edge| - 1`.

beta falls by Lemma 8: only when the largest price over the library and the remaining gradient are
below it. That compares a number without a unit with one in the unit of the targets, so beta is
measured in units of the mean loss per row without columns (as if the targets were standardised);
mu is a tenth of beta times the slack cost of an average sample. The fit is the best one so far for
the LP itself, so the objective never rises; it has `converged` when the error of the barrier alone
is below `tol` of the objective.

An interior solution spreads a coefficient over columns that are nearly equal. At the end simplex
finds a vertex over the columns in use from the basis of the last point: no more columns than rows
(Corollary 4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.exceptions import SolverError
from kboost.formulations import MarginRows
from kboost.masters._basic_solution import basic_fit
from kboost.masters._smoothed_lp import SmoothedLP
from kboost.masters.margin import MarginPenalty, MarginRun
from kboost.solvers.damped_newton import DampedNewton
from kboost.solvers.margin_lp import ColumnShape

_GRADIENT_TOL = 0.1  # of beta
_ROUNDING = 1e-12  # of the sum of the slack costs: the least gradient that can be reached
_STEPS = 100
_MU = 0.1  # mu, in units of beta times the slack cost of an average sample
_SMALL = 10.0  # coefficients below so many mu are due to the barrier
_SPARSER = 1e-6  # relative rise of the objective that dropping them may cost
_FINE = 1e-5  # beta in its unit; below, Newton may not reach its tolerance
_LEAST = 1e-12  # beta in its unit


@dataclass(frozen=True)
class BarrierMaster(MarginPenalty):
    """Start at `first_beta` and multiply by `beta_factor` until its error is below `tol`.

    With `basic` the fit of every step has no more columns than rows (_basic_solution.py), not only
    the last one: for fits with held-out rows, where any step may be kept.
    """

    first_beta: float = 0.3
    beta_factor: float = 0.3
    tol: float = 1e-4
    basic: bool = False

    def start(self, problem: Problem[object, MarginRows]) -> BarrierRun:
        return BarrierRun(self, problem)


class BarrierRun(MarginRun):
    """The columns, the interior point, and beta."""

    def __init__(self, master: BarrierMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._master = master
        start = ColumnShape(self.data).solve()
        self.set_fit(start.coef, start.bias, self.central(start.duals), start.margin_width)
        self._total_cost = float(self.rows.slack_costs.sum())
        self._unit = self.fit.objective / self._total_cost or 1.0
        self._beta = master.first_beta  # in that unit
        self._gradient_size = self._gradient_tol = (
            0.0  # largest derivative, and the tolerance asked for
        )
        self._newton = DampedNewton()
        self._coef: FloatArray = np.zeros(0)  # (k,), the interior point, not the best fit
        self._bias, self._margin_width = start.bias, max(start.margin_width, self._unit)
        self._solve()

    @property
    def barrier(self) -> float:
        """The present beta."""
        return self._beta * self._unit

    def extend(self, proposal: Proposal) -> None:
        self.deadline.check()
        out_of_digits = not proposal.hypotheses and self._beta < _FINE
        solved = self._gradient_size <= max(self._beta, self._gradient_tol)
        if proposal.price <= self._beta and (solved or out_of_digits):
            self._beta *= self._master.beta_factor
            self._newton.forget()
        new = proposal.values.shape[1]
        self.columns = np.asfortranarray(np.hstack([self.columns, proposal.values]))
        self._coef = np.append(self._coef, np.full(new, self._first_value(proposal.values)))
        self._solve()

    def _first_value(self, values: FloatArray) -> float:
        """The first value of new coefficients: 0, or if nonnegative, what moves f by at most beta.

        Further away the softplus has no curvature and Newton's method would stall.
        """
        if not self.penalty.nonnegative:
            return 0.0
        reach = float(np.abs(values).max(axis=0, initial=0.0).sum())
        return min(self._mu, self.barrier / reach) if reach > 0 else self._mu

    def _solve(self) -> None:
        """Minimise at the present beta; keep the best fit so far, with the present duals."""
        smoothed = SmoothedLP(self.columns, self.rows, self.penalty, self.barrier, self._mu)
        start = smoothed.join(self._bias, self._margin_width, self._coef)
        unit = min(1.0, self._total_cost)  # the size of the derivatives by bias and width
        self._gradient_tol = max(
            _GRADIENT_TOL * min(self._beta, 1.0) * unit, _ROUNDING * self._total_cost
        )
        x, self._gradient_size = self._newton.minimise(
            smoothed, start, tol=self._gradient_tol, max_steps=_STEPS
        )
        self._bias, self._margin_width, self._coef = smoothed.split(x)
        self.duals = self.repaired(smoothed.duals(x))
        now = self.make_fit(self._coef, self._bias, self.duals, self._margin_width)
        large = np.where(np.abs(self._coef) > _SMALL * self._mu, self._coef, 0.0)
        sparse = self.make_fit(large, self._bias, self.duals, self._margin_width)
        now = sparse if sparse.objective <= now.objective * (1 + _SPARSER) else now
        now = basic_fit(self, now) if self._master.basic else now
        if now.objective > self.fit.objective:
            grown = np.zeros(len(self._coef))
            grown[: len(self.fit.coef)] = self.fit.coef
            now = replace(self.fit, coef=grown, weights=now.weights)
        barrier_error = np.log(2.0) * self.barrier * self._total_cost
        converged = barrier_error <= self._master.tol * abs(now.objective) or self._beta <= _LEAST
        self.fit = replace(now, converged=converged)

    def finish(self) -> Fit:
        """A vertex over the columns in use; if simplex fails, a basic form of the last fit."""
        used = np.flatnonzero(self.fit.coef)
        share = np.abs(self.fit.coef[used]) / np.abs(self.fit.coef).max(initial=0.0)
        distance = np.abs(self.price(self.columns[:, used].T @ self.fit.weights))
        lp = ColumnShape(self.data)
        lp.extend(self.rows.signed(self.columns[:, used]))
        lp.start_from_solution(np.where(distance < share, self.fit.coef[used], 0.0), self.duals)
        try:
            vertex = lp.solve(self.deadline.remaining)
        except SolverError:
            return basic_fit(self, self.fit)
        coef = np.zeros(len(self.fit.coef))
        coef[used] = vertex.coef
        fit = self.make_fit(coef, vertex.bias, self.repaired(vertex.duals), vertex.margin_width)
        return replace(fit, converged=self.fit.converged)

    def cut_short(self, fit: Fit) -> Fit:
        return basic_fit(self, fit)

    @property
    def _mu(self) -> float:
        return _MU * self.barrier * self._total_cost / self.rows.n_samples
