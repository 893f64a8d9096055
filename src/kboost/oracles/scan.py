"""The full scan: price every column of the library, offer the best ones.

Which of the columns with a positive price go first is a matter of speed, not of correctness. On
unscaled columns the largest price is the largest column; per unit of root mean square it is the
steepest direction, so columns are ranked by `price / rms` (the same order where columns are
scaled to unit root mean square).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Dictionary, MasterRun, Problem, Proposal


@dataclass(frozen=True)
class ScanOracle:
    """Look at all columns; offer `columns_per_step` at a time, `max_columns` in all."""

    columns_per_step: int = 1
    max_columns: int | None = None

    def start(self, problem: Problem) -> ScanSearch:
        return ScanSearch(self, problem.columns)


class ScanSearch:
    """Remembers which columns were taken."""

    def __init__(self, oracle: ScanOracle, library: Dictionary) -> None:
        self._library = library
        self._available = library.rms > 0
        self._per_step = oracle.columns_per_step
        self._room = library.n_columns if oracle.max_columns is None else oracle.max_columns

    def propose(self, run: MasterRun) -> Proposal:
        edges = self._library.edges(run.fit.weights)
        prices = np.where(self._available, run.price(edges), 0.0)
        ids = self._best(prices)
        self._available[ids] = False
        self._room -= len(ids)
        return Proposal(
            ids=ids,
            hypotheses=self._library.hypotheses(ids),
            values=self._library.values(ids),
            price=max(0.0, float(np.max(prices, initial=0.0))),
            bound=run.bound(edges),
            n_priced=len(edges),
        )

    def _best(self, prices: FloatArray) -> IntArray:
        """The steepest of the columns with a positive price; ties go to the lower number."""
        candidates = np.flatnonzero(prices > 0)
        steepness = prices[candidates] / self._library.rms[candidates]
        count = min(self._per_step, self._room, len(candidates))
        order = np.argsort(-steepness, kind="stable")[:count]
        return candidates[order]
