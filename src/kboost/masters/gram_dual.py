"""The 2-norm optimum over the whole library from its n x n dual: one step, all columns.

The problem, its dual, the recovery of the coefficients and the certificate are at the head of
solvers/gram_dual.py. In short, with K = H H' of all scaled columns H and the duals u,

    v_i = sum of sign_r u_r over the rows of sample i,     coef = H'v,     f = K v + bias.

A column has the coefficient 0 only if it is orthogonal to v: the optimum is dense, and all columns
are kept. The bound comes from the edges of the library, as in column generation (qp.py).

The matrix is the same for all outputs of a library, and is made once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Dictionary, Problem, Proposal
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginRun
from kboost.masters.qp import QPMaster, QPRun
from kboost.solvers.gram_dual import GramDual, GramPoint, best_bias

_ACCURACY = 1e-9  # relative gap that the solver aims at


class ProductLibrary(Dictionary, Protocol):
    """A library that can multiply all its columns."""

    def products(self) -> FloatArray:
        """`H H'` of all columns, (n, n)."""


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
    """The whole library in one step, solved to a relative gap of `tol` at most."""

    products: Any = field(default=None, compare=False)  # SharedProducts of the library
    tol: float = 1e-4

    def start(self, problem: Problem[Any, MarginRows]) -> GramDualRun:
        return GramDualRun(self, problem)


class GramDualRun(QPRun):
    """The fit without columns, and from `extend` on the one over all of them."""

    def __init__(self, master: GramDualMaster, problem: Problem[ProductLibrary, MarginRows]):
        if problem.rows.sample is None:  # a hinge: balanced bounds are optimal without columns
            MarginRun.__init__(self, master, problem)
            rows = self.rows
            bias = best_bias(rows.signs * rows.targets, rows.signs, rows.slack_costs)
            self.set_fit(np.zeros(0), bias, self.repaired(rows.slack_costs), 0.0)
        else:
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
