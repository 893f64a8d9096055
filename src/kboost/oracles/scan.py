"""The full scan: price every column of the library and propose the best.

Which of the columns with a positive price come first is a matter of speed, not of correctness. With
unscaled columns the largest price belongs to the largest column; per unit of root mean square it is
the steepest direction, so columns are ranked by `price / rms` (the order of the prices if columns
have unit root mean square). The best columns are often neighbours and nearly equal; with
`max_correlation` only one of them is proposed per step, the others later if still worth it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import IntArray
from kboost.core.coefficients import in_use
from kboost.core.protocols import Dictionary, EdgePricer, Problem, Proposal
from kboost.oracles.candidates import DictionaryCandidates, DictionarySearch


@dataclass(frozen=True)
class ScanOracle:
    """Price all columns; propose `columns_per_step` per step, `max_columns` in total."""

    columns_per_step: int = 1
    max_columns: int | None = None
    max_correlation: float = 1.0  # above it, two columns are not proposed in the same step
    first: tuple[int, ...] = ()  # columns of the first proposal, whatever their price
    growth: float = 0.0  # propose this share of the columns with a coefficient, if that is more

    def start(self, problem: Problem[Dictionary, object]) -> ScanSearch:
        return ScanSearch(
            DictionaryCandidates(
                problem.columns, self.columns_per_step, self.max_columns, self.max_correlation
            ),
            np.array(self.first, dtype=np.intp),
            self.growth,
        )


class ScanSearch(DictionarySearch):
    """The columns not yet taken."""

    def __init__(
        self, candidates: DictionaryCandidates, first: IntArray, growth: float = 0.0
    ) -> None:
        super().__init__(candidates)
        self._first, self._growth = first, growth

    def propose(self, run: EdgePricer) -> Proposal:
        candidates, library = self._candidates, self._candidates.library
        edges = library.edges(run.fit.weights)
        prices = candidates.prices(run, edges)
        if len(self._first):
            ids, self._first = self._first, self._first[:0]
            candidates.take(ids)
        else:
            positive = np.flatnonzero(prices > 0)
            scores = prices[positive] / library.rms[positive]
            ids = candidates.take_best(positive, scores, self._least(run))
        return candidates.proposal(
            ids, prices, bound=run.bound(edges), at_errors=candidates.at_errors(run.fit)
        )

    def _least(self, run: EdgePricer) -> int:
        """Columns to propose at least, by the number of those in use."""
        if not self._growth:
            return 0
        return int(self._growth * np.count_nonzero(in_use(run.fit.coef)))

    def proposed(self, ids: IntArray) -> Proposal:
        self._first = self._first[:0]
        return super().proposed(ids)
