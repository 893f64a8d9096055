"""The vertex of all columns so far from an LP over some of them.

Columns without a coefficient do not bind, but simplex pays for each of them at each pivot. So the
LP holds the columns that matter; the others wait outside and come in when the duals violate them.
What is returned is the optimum of all columns, whichever were inside.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kboost._typing import IntArray
from kboost.masters.margin import MarginRun
from kboost.solvers.margin_lp import ColumnShape, MarginLP, MarginVertex

_WORTH = 1e-9  # least price of a column outside
_WAIT = 5  # solves without a coefficient, after which a column goes
_SHARE = 0.25  # of the columns inside must go, for it costs a factorisation


class RestrictedLP:
    """A warm simplex solver beside a run; `inside` are the columns it starts with.

    A vertex whose objective is at most `enough` is taken as it is, whatever waits outside.
    """

    def __init__(
        self, run: MarginRun, lp: MarginLP, inside: IntArray, enough: float = -np.inf
    ) -> None:
        self._run, self.lp, self._enough = run, lp, enough
        self._inside = inside  # in the order of the LP
        self._idle = np.zeros(len(inside), dtype=np.intp)  # solves without a coefficient

    def solve(self) -> MarginVertex:
        """The vertex of the columns of the run, new ones included."""
        run = self._run
        late = self._violated() if len(self._inside) else np.arange(run.columns.shape[1])
        while True:
            self.lp.extend(run.rows.signed(run.columns[:, late]))
            self._inside = np.concatenate([self._inside, late])
            vertex = self.lp.solve(run.deadline.remaining)
            run.duals = run.repaired(vertex.duals)
            late = self._violated()
            if not len(late) or float(run.rows.targets @ vertex.duals) <= self._enough:
                break
        coef = np.zeros(run.columns.shape[1])
        coef[self._inside] = vertex.coef
        self._idle = np.append(self._idle, np.zeros(len(self._inside) - len(self._idle), np.intp))
        self._idle = np.where(vertex.coef != 0.0, 0, self._idle + 1)
        self._drop()
        return replace(vertex, coef=coef, duals=run.duals)

    def _violated(self) -> IntArray:
        """Columns outside that are worth adding."""
        run = self._run
        worth = run.price(run.columns.T @ run.rows.weights(run.duals)) > _WORTH
        worth[self._inside] = False
        return np.flatnonzero(worth)

    def _drop(self) -> None:
        """Let columns go that have been idle, once they are many."""
        goes = self._idle >= _WAIT
        if isinstance(self.lp, ColumnShape) and goes.sum() > _SHARE * len(goes):
            self.lp.drop(np.flatnonzero(goes))
            self._inside, self._idle = self._inside[~goes], self._idle[~goes]
