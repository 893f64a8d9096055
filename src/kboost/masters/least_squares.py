"""The least-squares master: squared loss, penalised in the RKHS, block by block.

    minimise  1/2 sum_i w_i (y_i - f_i)^2 + ridge/2 coef' Q coef,    f = H coef + bias

Q holds the inner products of the hypotheses: `k_p(c_i, c_j)` within a kernel, 0 across kernels.
All coefficients are re-fitted at every step from one growing factor of

    G = [1 H]' W [1 H] + ridge diag(0, Q)      (the bias, if any, is the first column).

Weights for the oracle are the weighted residuals `w r`. A column with edge `e = h' w r` is worth
the drop of the objective with the others held fixed (SYB (28); MATH.md):

    price = 1/2 (e - ridge (Q coef)_j)^2 / (ridge q_j + sum_i w_i h_ij^2).

Certificate: for `v = t w r` (its sum is 0 when there is a bias), K the sum of all kernels,

    bound = v'y - 1/2 sum_i v_i^2 / w_i - v'K v / (2 ridge),

at the best t; v'K v comes from the edges of the same scan. No ridge, no certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.formulations import SquaredRows
from kboost.solvers.growing_cholesky import GrowingCholesky


@dataclass(frozen=True)
class LeastSquaresMaster:
    """Squared loss with a ridge in the RKHS."""

    ridge: float = 1.0
    fit_intercept: bool = True

    def start(self, problem: Problem) -> LeastSquaresRun:
        if not problem.inner_products.is_psd:
            raise ValueError(
                "the squared loss is penalised in the RKHS, which needs positive semidefinite "
                "kernels; leave out the one that is not (Sigmoid, say)."
            )
        return LeastSquaresRun(self, problem)


class LeastSquaresRun:
    """The factor, the columns and the last fit."""

    def __init__(self, master: LeastSquaresMaster, problem: Problem) -> None:
        rows: SquaredRows = problem.rows
        self._master = master
        self._rows = rows
        self._inner = problem.inner_products
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        self._factor = GrowingCholesky()
        self._design = np.zeros((len(rows.targets), 0))
        if master.fit_intercept:
            ones = np.ones((len(rows.targets), 1))
            self._append(ones, np.zeros((0, 1)), np.zeros((1, 1)))
        self.fit = self._solve()

    def price(self, edges: FloatArray) -> FloatArray:
        ridge = self._master.ridge
        pull = self._inner.pull(self._ids, self.fit.coef)
        curvature = ridge * self._inner.diagonal + self._inner.power
        gain = (edges - ridge * pull) ** 2
        usable = np.where(curvature > 0, curvature, np.inf)  # a dead column is worth nothing
        drop: FloatArray = 0.5 * gain / usable
        return drop

    def bound(self, edges: FloatArray) -> float | None:
        ridge, residual, w = self._master.ridge, self.fit.weights, self._rows.sample_weight
        if ridge == 0.0:
            return None
        gain = float(residual @ self._rows.targets)
        cost = float(residual @ (residual / w)) + self._inner.energy(residual, edges) / ridge
        return 0.5 * gain * gain / cost if cost > 0 else 0.0

    def extend(self, proposal: Proposal) -> None:
        cross = self._inner.gram(self._ids, proposal.ids)
        if self._master.fit_intercept:
            cross = np.vstack([np.zeros((1, len(proposal.ids))), cross])
        self._append(proposal.values, cross, self._inner.gram(proposal.ids, proposal.ids))
        self._ids = np.concatenate([self._ids, proposal.ids])
        self.fit = self._solve()

    def finish(self) -> Fit:
        return self.fit

    def complete(self, fit: Fit) -> Fit:
        return fit

    def cut_short(self, fit: Fit) -> Fit:
        return self.complete(fit)

    def _append(self, values: FloatArray, cross: FloatArray, corner: FloatArray) -> None:
        ridge = self._master.ridge
        weighted = self._rows.sample_weight[:, None] * values
        self._factor.append(
            self._design.T @ weighted + ridge * cross, values.T @ weighted + ridge * corner
        )
        self._design = np.hstack([self._design, values])

    def _solve(self) -> Fit:
        w, y = self._rows.sample_weight, self._rows.targets
        raw = self._factor.solve(self._design.T @ (w * y)) if self._factor.size else np.zeros(0)
        decision = self._design @ raw
        bias, coef = (float(raw[0]), raw[1:]) if self._master.fit_intercept else (0.0, raw)
        residual = y - decision
        weights = w * residual
        if self._master.fit_intercept:  # the certificate needs a sum of 0 beyond rounding
            weights -= w * (weights.sum() / w.sum())
        pull = self._inner.gram(self._ids, self._ids) @ coef
        return Fit(
            coef=coef,
            bias=bias,
            decision=decision,
            weights=weights,
            objective=0.5 * float(w @ residual**2) + 0.5 * self._master.ridge * float(coef @ pull),
        )
