"""The full scan: price every column of the library, offer the best ones.

Which of the columns with a positive price go first is a matter of speed, not of correctness. On
unscaled columns the largest price is the largest column; per unit of root mean square it is the
steepest direction, so columns are ranked by `price / rms` (the same order where columns are
scaled to unit root mean square). The best columns are often neighbours that say the same; with
`alike` only one of those goes a step, and the others come later if they are still worth it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost.core.protocols import MasterRun, Problem, Proposal
from kboost.oracles.candidates import Shelf


@dataclass(frozen=True)
class ScanOracle:
    """Look at all columns; offer `columns_per_step` at a time, `max_columns` in all."""

    columns_per_step: int = 1
    max_columns: int | None = None
    max_correlation: float = 1.0  # correlation above which two columns do not go in the same step

    def start(self, problem: Problem) -> ScanSearch:
        return ScanSearch(
            Shelf(problem.columns, self.columns_per_step, self.max_columns, self.max_correlation)
        )


class ScanSearch:
    """Remembers which columns were taken."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def propose(self, run: MasterRun) -> Proposal:
        shelf, library = self._shelf, self._shelf.library
        edges = library.edges(run.fit.weights)
        prices = shelf.prices(run, edges)
        candidates = np.flatnonzero(prices > 0)
        ids = shelf.take(candidates, prices[candidates] / library.rms[candidates])
        return shelf.proposal(
            ids, prices, bound=run.bound(edges), at_errors=shelf.at_errors(run.fit)
        )

    def bound(self, run: MasterRun) -> float | None:
        return self._shelf.bound(run)

    def restore(self, proposal: Proposal) -> None:
        self._shelf.restore(proposal.ids)
