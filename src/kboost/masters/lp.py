"""The 1-norm master: the margin LP over the columns so far (CG-Boost (4)/(5), SSMK (9)/(10)).

    minimise  sum_j |coef_j| [+ |bias|] + sum_i cap_i slack_i,   sign_i f_i + slack_i >= target_i

Weights for the oracle are `sign_i u_i` with the duals u; a column is worth `|edge| - 1`
(nonnegative coefficients: `edge - 1`). Certificate over the whole library: u divided by
`max(1, largest |edge|)` is feasible for every column at once, so

    bound = sum_i target_i u_i / max(1, max_j |edge_j|)   <=   optimum.

For that the duals must satisfy the box and the bias row exactly; solver tolerances are repaired
by clipping and by scaling down the heavier side. A penalised bias is a column of ones whose sign
is free; its row, `|sum_i u_i sign_i| <= 1`, is kept by the same repair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Problem, Proposal
from kboost.formulations import MarginRows
from kboost.solvers.lp import (
    ColumnShape,
    Intercept,
    MarginData,
    MarginLP,
    MarginVertex,
    SampleShape,
)

# How far `|sum_i u_i sign_i|` may be from 0.
_BALANCE: dict[Intercept, float] = {"free": 0.0, "penalized": 1.0, "none": np.inf}


@dataclass(frozen=True)
class LPMaster:
    """1-norm penalty, linear slacks; up to `few_rows` samples are themselves the LP's rows."""

    nonnegative: bool = False
    intercept: Intercept = "free"
    few_rows: int = 50

    def start(self, problem: Problem) -> LPRun:
        return LPRun(self, problem)


class LPRun:
    """The LP at work: a warm solver, the columns so far, and the last vertex as a `Fit`."""

    def __init__(self, master: LPMaster, problem: Problem) -> None:
        rows: MarginRows = problem.rows
        self._master = master
        self._rows = rows
        self._deadline = problem.deadline
        self._columns = np.zeros((len(rows.signs), 0))
        data = MarginData(rows.signs, rows.targets, rows.caps, master.nonnegative, master.intercept)
        few = len(rows.signs) <= master.few_rows
        self._lp: MarginLP = SampleShape(data) if few else ColumnShape(data)
        vertex = self._lp.solve()
        self.fit = self._fit(vertex, self._central(vertex.duals))

    def price(self, edges: FloatArray) -> FloatArray:
        return (edges if self._master.nonnegative else np.abs(edges)) - 1.0

    def bound(self, edges: FloatArray) -> float:
        reach = 1.0 + float(np.max(self.price(edges), initial=0.0))
        duals = self._rows.signs * self.fit.weights
        return float(self._rows.targets @ duals) / reach

    def extend(self, proposal: Proposal) -> None:
        self._lp.extend(proposal.values)
        columns = np.hstack([self._columns, proposal.values])
        vertex = self._lp.solve(self._deadline.remaining)
        self._columns = columns
        self.fit = self._fit(vertex, self._repaired(vertex.duals))

    def _fit(self, vertex: MarginVertex, duals: FloatArray) -> Fit:
        coef = np.maximum(vertex.coef, 0.0) if self._master.nonnegative else vertex.coef
        decision = self._columns @ coef + vertex.bias
        penalty = float(np.abs(coef).sum())
        if self._master.intercept == "penalized":
            penalty += abs(vertex.bias)
        return Fit(
            coef=coef,
            bias=vertex.bias,
            decision=decision,
            weights=self._rows.signs * duals,
            objective=penalty + float(self._rows.caps @ self._rows.slack(decision)),
        )

    def _repaired(self, duals: FloatArray) -> FloatArray:
        """Inside the box, the heavier side scaled down to what the bias row allows."""
        duals = np.clip(duals, 0.0, self._rows.caps)
        positive = self._rows.signs > 0
        up, down = float(duals[positive].sum()), float(duals[~positive].sum())
        allowed = min(up, down) + _BALANCE[self._master.intercept]
        shares = [min(1.0, allowed / max(side, 1e-300)) for side in (up, down)]
        return duals * np.where(positive, *shares)

    def _central(self, duals: FloatArray) -> FloatArray:
        """Without columns the LP has many optimal duals; spread them evenly if that is one."""
        even, found = self._repaired(self._rows.caps), self._repaired(duals)
        targets = self._rows.targets
        return even if targets @ even >= targets @ found * (1 - 1e-12) else found
