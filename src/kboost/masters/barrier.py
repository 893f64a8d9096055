"""The barrier master of SRE (20): the margin LP from the inside, its slacks eliminated exactly.

The exponential barrier gives every slack its best value in closed form, which leaves a softplus a
row; coefficients of either sign are differences of two parts >= 0, and a logarithmic barrier gives
those their best values too:

    minimise  sum_j phi(coef_j) [+ phi(bias)] [+ level_price level - mu log level]
              + sum_r cap_r beta log(1 + exp(z_r / beta)),
              z_r = target_r - sign_r f(x_s) - level_sign level        (formulations.py)

    phi(c) = q - mu log(q + mu),  q = sqrt(mu^2 + c^2)      (nonnegative: c - mu log c)

a smooth problem, minimised by damped Newton steps (solvers/damped_newton.py). The duals are

    u_r = cap_r / (1 + exp(-z_r / beta)),

inside their box by themselves and, at the minimum, balanced as bias and level want them, with
edges `phi'(coef_j)` inside (-1, 1): the certificate of margin.py holds for every beta once the last
rounding is repaired.

beta falls by Lemma 8: only when the largest corrected edge `|edge| - 1` over the library and the
derivatives that Newton has left are below it. That compares a number without a unit with one of
the targets' unit, so beta is measured in the loss a row that is left without columns (as if the
targets had been standardised first); mu is a tenth of beta times an average sample's slack price.
The fit is the best one so far for the LP itself, so the objective never rises; `settled` says that
the barrier alone is off by less than `tol` of it.

A point inside spreads a coefficient over columns that say nearly the same. At the end simplex finds
the vertex of the columns in use, from the basis that the last point names: no more of them than
rows (Corollary 4).
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

_SHARPER = 0.1  # Newton's derivatives, against beta
_ROUNDING = 1e-12  # of the slack prices' sum: no derivative below it can be asked for
_STEPS = 100
_MU = 0.1  # mu, in betas times the slack price of an average sample
_SMALL = 10.0  # coefficients below so many mu are the barrier's, not the optimum's
_SPARSER = 1e-6  # relative, what dropping them may cost
_FINE = 1e-5  # beta in its unit; below, Newton may run out of digits
_LEAST = 1e-12  # beta in its unit


@dataclass(frozen=True)
class BarrierMaster(MarginPenalty):
    """Begin at `first` beta, take `fall` of it at a time; `tol` is when it is small enough.

    With `basic` the fit of every step has no more columns than rows, as the last one has anyhow
    (masters/_basic_solution.py): for fits that are judged on other rows, of which any may be kept.
    """

    first: float = 0.3
    fall: float = 0.3
    tol: float = 1e-4
    basic: bool = False

    def start(self, problem: Problem[object, MarginRows]) -> BarrierRun:
        return BarrierRun(self, problem)


class BarrierRun(MarginRun):
    """The columns, the point inside (bias and level first), and beta."""

    def __init__(self, master: BarrierMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        self._master = master
        start = ColumnShape(self.data).solve()
        self.set_fit(start.coef, start.bias, self.central(start.duals), start.margin_width)
        self._total_cost = float(self.rows.slack_costs.sum())
        self._unit = self.fit.objective / self._total_cost or 1.0
        self._share = master.first  # beta in that unit
        self._left = self._goal = 0.0  # of Newton's derivatives, and what was asked of them
        self._newton = DampedNewton()
        self._coef: FloatArray = np.zeros(0)  # (k,), inside, not the incumbent
        self._bias, self._margin_width = start.bias, max(start.margin_width, self._unit)
        self._solve()

    @property
    def barrier(self) -> float:
        """The present beta."""
        return self._share * self._unit

    def extend(self, proposal: Proposal) -> None:
        self.deadline.check()
        out_of_digits = not proposal.hypotheses and self._share < _FINE
        solved = self._left <= max(self._share, self._goal)  # more cannot be asked
        if proposal.price <= self._share and (solved or out_of_digits):
            self._share *= self._master.fall
            self._newton.forget()
        new = proposal.values.shape[1]
        self.columns = np.asfortranarray(np.hstack([self.columns, proposal.values]))
        self._coef = np.append(self._coef, np.full(new, self._newcomer(proposal.values)))
        self._solve()

    def _newcomer(self, values: FloatArray) -> float:
        """Where coefficients begin: at 0, or inside by as much as moves f by beta at the most.

        Further on the softplus has no curvature left, and Newton no way back.
        """
        if not self.penalty.nonnegative:
            return 0.0
        reach = float(np.abs(values).max(axis=0, initial=0.0).sum())
        return min(self._mu, self.barrier / reach) if reach > 0 else self._mu

    def _solve(self) -> None:
        """Minimise at the present beta; keep the best fit so far, with the duals of now."""
        softened = SmoothedLP(self.columns, self.rows, self.penalty, self.barrier, self._mu)
        start = softened.join(self._bias, self._margin_width, self._coef)
        unit = min(1.0, self._total_cost)  # the derivatives by bias and level are of that size
        self._goal = max(_SHARPER * min(self._share, 1.0) * unit, _ROUNDING * self._total_cost)
        x, self._left = self._newton.minimise(softened, start, tol=self._goal, max_steps=_STEPS)
        self._bias, self._margin_width, self._coef = softened.split(x)
        self.duals = self.repaired(softened.duals(x))
        now = self.make_fit(self._coef, self._bias, self.duals, self._margin_width)
        large = np.where(np.abs(self._coef) > _SMALL * self._mu, self._coef, 0.0)
        sparse = self.make_fit(large, self._bias, self.duals, self._margin_width)
        now = sparse if sparse.objective <= now.objective * (1 + _SPARSER) else now
        now = basic_fit(self, now) if self._master.basic else now
        if now.objective > self.fit.objective:
            grown = np.zeros(len(self._coef))
            grown[: len(self.fit.coef)] = self.fit.coef
            now = replace(self.fit, coef=grown, weights=now.weights)
        off = np.log(2.0) * self.barrier * self._total_cost
        small = off <= self._master.tol * abs(now.objective) or self._share <= _LEAST
        self.fit = replace(now, converged=small)

    def finish(self) -> Fit:
        """The vertex of the columns in use; the point inside, basic_fit, where simplex fails."""
        used = np.flatnonzero(self.fit.coef)
        share = np.abs(self.fit.coef[used]) / np.abs(self.fit.coef).max(initial=0.0)
        away = np.abs(self.price(self.columns[:, used].T @ self.fit.weights))
        lp = ColumnShape(self.data)
        lp.extend(self.rows.signed(self.columns[:, used]))
        lp.crash(np.where(away < share, self.fit.coef[used], 0.0), self.duals)
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
