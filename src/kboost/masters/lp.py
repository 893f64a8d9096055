"""The 1-norm master of CG-Boost (4)/(5) and SSMK (9)/(10): the exact vertex at every step.

The margin LP over the columns so far (margin.py), re-solved from the last basis by simplex. Each
step is the exact optimum of the columns generated, which is what the papers' stop rules speak of.
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
    """Simplex; up to `few_rows` samples are themselves the LP's rows."""

    few_rows: int = 50

    def start(self, problem: Problem[object, MarginRows]) -> LPRun:
        return LPRun(self, problem)


class LPRun(MarginRun):
    """The LP at work: a warm solver beside the columns."""

    def __init__(self, master: LPMaster, problem: Problem[object, MarginRows]) -> None:
        super().__init__(master, problem)
        few = len(self.rows.signs) <= master.few_rows
        self._lp: MarginLP = SampleShape(self.data) if few else ColumnShape(self.data)
        self._vertices = RestrictedLP(self, self._lp, np.zeros(0, dtype=np.intp))
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
        vertex = self._vertices.solve()
        self.set_fit(vertex.coef, vertex.bias, vertex.duals, vertex.margin_width)
