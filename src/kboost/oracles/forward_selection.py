"""Forward selection of one basis vector per step (SYB II-B, (27), (28)).

    random    the next column in a random order
    mp        the largest drop of the objective, others fixed, among `n_candidates` random columns
    boost     the steepest descent in the RKHS, among as many
    max-res   the row with the largest residual

A column of norm 0 (a linear kernel at a row of zeros) lowers no objective: if the best candidate is
one, all such columns are dropped and candidates are drawn again.

With several kernels, candidates are pairs of a kernel and a centre; at the row with the largest
residual the kernels compete by the drop of the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kboost._typing import IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.protocols import ColumnPricer, Problem, Proposal
from kboost.formulations import TargetRows
from kboost.oracles.candidates import CenterCandidates, CenterSearch

Selection = Literal["random", "mp", "boost", "max-res"]


@dataclass(frozen=True)
class ForwardOracle:
    """One basis vector per step."""

    selection: Selection = "mp"
    n_candidates: int | None = 60
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem[CandidateColumns, TargetRows]) -> ForwardSearch:
        return ForwardSearch(self, CenterCandidates(problem, self.max_columns, self.seed))


class ForwardSearch(CenterSearch):
    """The columns not yet taken."""

    def __init__(self, oracle: ForwardOracle, candidates: CenterCandidates) -> None:
        super().__init__(candidates)
        self._oracle = oracle

    def propose(self, run: ColumnPricer) -> Proposal:
        candidates, rule = self._candidates, self._oracle.selection
        if candidates.room < 1 or not candidates.available.any():
            return candidates.empty_proposal()
        ids = self._drawn(run)
        values = candidates.library.values(ids)
        prices = run.price_of(ids, values, "boost" if rule == "boost" else "mp")
        best = int(np.argmax(prices))
        if not prices[best] > 0:
            if candidates.drop_zero_norm():
                return self.propose(run)
            return candidates.empty_proposal()
        return candidates.proposal(ids[[best]], values[:, [best]], float(prices[best]), len(ids))

    def proposed(self, ids: IntArray) -> Proposal:
        candidates = self._candidates
        return candidates.proposal(ids, candidates.library.values(ids), 0.0, len(ids))

    def _drawn(self, run: ColumnPricer) -> IntArray:
        """The columns to price in this step."""
        candidates = self._candidates
        if self._oracle.selection == "max-res":
            by_kernel = candidates.by_kernel
            residual = np.where(by_kernel.any(axis=0), candidates.residual(run), -1.0)
            center = int(np.argmax(residual))
            return np.flatnonzero(by_kernel[:, center]) * candidates.library.n_centers + center
        ids = np.flatnonzero(candidates.available)
        count = 1 if self._oracle.selection == "random" else self._oracle.n_candidates
        if count is None or count >= len(ids):
            return ids
        return np.sort(candidates.rng.choice(ids, count, replace=False))
