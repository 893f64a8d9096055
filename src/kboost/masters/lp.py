"""The 1-norm master of CG-Boost (4)/(5) and SSMK (9)/(10): the exact vertex at every step.

The margin LP over the columns so far (problem, dual, price and bound: margin.py), solved again by
simplex from the last basis. Each step is the exact optimum of its columns, as the stop rules of the
papers assume.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost.core.protocols import Problem, Proposal
from kboost.formulations import MarginRows
from kboost.masters._restricted_lp import RestrictedLP
from kboost.masters.margin import MarginPenalty, MarginRun
from kboost.solvers.margin_lp import ColumnShape, MarginLP, SampleShape


@dataclass(frozen=True)
class LPMaster(MarginPenalty):
    """Simplex; with at most `few_rows` margin rows, on the primal (solvers/margin_lp.py)."""

    few_rows: int = 50

    def start(self, problem: Problem[object, MarginRows]) -> LPRun:
        return LPRun(self, problem)


class LPRun(MarginRun):
    """The columns and a warm LP solver."""

    def __init__(self, master: LPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        few = len(self.rows.signs) <= master.few_rows
        self._lp: MarginLP = SampleShape(self.data) if few else ColumnShape(self.data)
        self._restricted = RestrictedLP(self, self._lp, np.zeros(0, dtype=np.intp))
        vertex = self._lp.solve()
        self.set_fit(vertex.coef, vertex.bias, self.central(vertex.duals), vertex.margin_width)

    def extend(self, proposal: Proposal) -> None:
        self.columns = np.hstack([self.columns, proposal.values])
        self._solve()

    def scale_slack_costs(self, factor: float) -> None:
        super().scale_slack_costs(factor)
        self._lp.scale_slack_costs(self.data)
        self._solve()

    def _solve(self) -> None:
        vertex = self._restricted.solve()
        self.set_fit(vertex.coef, vertex.bias, vertex.duals, vertex.margin_width)
