"""The optimal vertex over all columns so far from an LP over some of them.

Columns with coefficient 0 do not bind, but simplex pays for each of them at each pivot. The LP
holds the columns that matter; the others are added when the duals violate them. The result is the
optimum over all columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kboost._typing import IntArray
from kboost.masters.margin import MarginRun
from kboost.solvers.margin_lp import ColumnShape, MarginLP, MarginVertex

_LEAST_PRICE = 1e-9  # above it a column is added to the LP
_PATIENCE = 5  # solves with coefficient 0, after which a column is dropped
_SHARE = 0.25  # of the columns must be dropped at once: it costs a factorisation


class RestrictedLP:
    """A warm simplex solver of a run; `active` are the columns it holds at first.

    A vertex with an objective of at most `enough` is accepted although columns are violated.
    """

    def __init__(
        self, run: MarginRun, lp: MarginLP, active: IntArray, enough: float = -np.inf
    ) -> None:
        self._run, self.lp, self._enough = run, lp, enough
        self._active = active  # in the order of the LP
        self._idle = np.zeros(len(active), dtype=np.intp)  # solves with coefficient 0

    def solve(self) -> MarginVertex:
        """The optimal vertex over all columns of the run."""
        run = self._run
        violated = self._violated() if len(self._active) else np.arange(run.columns.shape[1])
        while True:
            self.lp.extend(run.rows.signed(run.columns[:, violated]))
            self._active = np.concatenate([self._active, violated])
            vertex = self.lp.solve(run.deadline.remaining)
            run.duals = run.repaired(vertex.duals)
            violated = self._violated()
            if not len(violated) or float(run.rows.targets @ vertex.duals) <= self._enough:
                break
        coef = np.zeros(run.columns.shape[1])
        coef[self._active] = vertex.coef
        self._idle = np.append(self._idle, np.zeros(len(self._active) - len(self._idle), np.intp))
        self._idle = np.where(vertex.coef != 0.0, 0, self._idle + 1)
        self._drop()
        return replace(vertex, coef=coef, duals=run.duals)

    def _violated(self) -> IntArray:
        """Columns not in the LP with a positive price."""
        run = self._run
        violated = run.price(run.columns.T @ run.rows.weights(run.duals)) > _LEAST_PRICE
        violated[self._active] = False
        return np.flatnonzero(violated)

    def _drop(self) -> None:
        """Drop idle columns, once they are many."""
        idle = self._idle >= _PATIENCE
        if isinstance(self.lp, ColumnShape) and idle.sum() > _SHARE * len(idle):
            self.lp.drop(np.flatnonzero(idle))
            self._active, self._idle = self._active[~idle], self._idle[~idle]
