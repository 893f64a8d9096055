"""The 2-norm optimum over the whole library from its n x n dual: one step, all columns.

The problem, its dual, the recovery of the coefficients and the certificate are at the head of
solvers/gram_dual.py. In short, with K = H H' of all scaled columns H and the duals u,

    v_i = sum of sign_r u_r over the rows of sample i,     coef = H'v,     f = K v + bias.

Columns are then pruned: those with the smallest coefficients go as long as the objective of the
rest, with the best bias, stays within half of `tol` of the bound. (Without the columns Z, at the
same duals, the bound of the rest rises by 1/2 sum_Z coef^2, so that is the least that Z may cost.)

The matrix is the same for all outputs of a library, and is made once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Dictionary, Problem, Proposal
from kboost.formulations import MarginRows
from kboost.masters.qp import QPMaster, QPRun
from kboost.solvers.gram_dual import GramDual, GramPoint

_ACCURACY = 1e-9  # relative gap that the solver aims at
_SHARES = (0.5, 0.1, 0.02)  # of what pruning may cost, for the squares of the columns that go


class ProductLibrary(Dictionary, Protocol):
    """A library that can multiply all its columns."""

    def products(self) -> FloatArray:
        """`H H'` of all columns, (n, n)."""

    def combined(self, coef: FloatArray) -> FloatArray:
        """`H coef`, (n,)."""


class SharedProducts:
    """`H H'` of a library, made at the first call."""

    def __init__(self, library: ProductLibrary) -> None:
        self._library, self._lock = library, Lock()
        self._matrix: FloatArray | None = None

    def __call__(self) -> FloatArray:
        with self._lock:
            if self._matrix is None:
                self._matrix = self._library.products()
        return self._matrix


@dataclass(frozen=True)
class GramDualMaster(QPMaster):
    """The whole library in one step; `tol` is the relative gap that pruning may leave."""

    products: Any = field(default=None, compare=False)  # SharedProducts of the library
    tol: float = 1e-4

    def start(self, problem: Problem[Any, MarginRows]) -> GramDualRun:
        return GramDualRun(self, problem)


class GramDualRun(QPRun):
    """The fit without columns, and from `extend` on the one over all of them."""

    def __init__(self, master: GramDualMaster, problem: Problem[ProductLibrary, MarginRows]):
        super().__init__(master, problem)
        self._library, self._products, self._tol = problem.columns, master.products, master.tol

    def extend(self, proposal: Proposal) -> None:
        rows, matrix = self.rows, self._products()
        self.deadline.check()
        if not np.isfinite(np.trace(matrix)):  # with the diagonal of H H' the rest is finite
            self._give_up(np.inf)
            return
        dual = GramDual(matrix, rows.signs, rows.targets, rows.slack_costs, rows.sample)
        point = dual.solve(min(_ACCURACY, self._tol), self.deadline.remaining)
        if not point.gap <= max(self._tol, _ACCURACY):
            self._give_up(point.gap)
            return
        coef = self._library.edges(point.weights)[proposal.ids]
        self.duals = self.repaired(point.duals)
        self.fit = self._fit_of(point, coef)
        self._prune(dual, point, proposal.ids, coef)

    def _give_up(self, gap: float) -> None:
        """Keep the fit without columns; the loop ends for want of precision."""
        self.fit = replace(self.fit, converged=False, solver_gap=gap)

    def _fit_of(self, point: GramPoint, coef: FloatArray) -> Any:
        """The fit with these coefficients and the decision values of the point."""
        rows, decision = self.rows, point.values + point.bias
        return replace(
            self.fit,
            coef=coef,
            bias=point.bias,
            decision=decision,
            weights=rows.weights(self.duals),
            objective=self.penalty_of(coef) + float(rows.slack_costs @ rows.slack(decision)),
            errors=rows.errors(decision),
        )

    def _prune(self, dual: GramDual, point: GramPoint, ids: IntArray, coef: FloatArray) -> None:
        """Drop the smallest coefficients while the gap stays within the tolerance."""
        most = point.dual + self._tol / 2 * abs(point.dual)
        order = np.argsort(np.abs(coef), kind="stable")
        mass = np.cumsum(0.5 * coef[order] ** 2)
        for share in _SHARES:
            count = int(np.searchsorted(mass, share * max(0.0, most - point.primal)))
            if not count:
                return
            dropped = order[:count]
            lost = np.zeros(self._library.n_columns)
            lost[ids[dropped]] = coef[dropped]
            kept = coef.copy()
            kept[dropped] = 0.0
            values = point.values - self._library.combined(lost)
            pruned = self._fit_of(replace(point, values=values, bias=dual.best_bias(values)), kept)
            if pruned.objective <= most:
                self.fit = pruned
                return
