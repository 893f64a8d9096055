"""All columns at once, for a master that solves for every column of the library together.

The first proposal has all columns with an edge to offer; the master makes their values itself, so
the proposal has none. Every later one is empty: it has the bound, from the edges of the new fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost.core.protocols import Dictionary, EdgePricer, Problem, Proposal


@dataclass(frozen=True)
class WholeLibraryOracle:
    """Propose every column in the first step."""

    def start(self, problem: Problem[Dictionary, object]) -> WholeLibrarySearch:
        return WholeLibrarySearch(problem.columns)


class WholeLibrarySearch:
    """Whether the columns are taken."""

    def __init__(self, library: Dictionary) -> None:
        self._library = library
        self._left = np.flatnonzero(library.rms > 0)

    def propose(self, run: EdgePricer) -> Proposal:
        ids, library = self._left, self._library
        edges = library.edges(run.fit.weights)
        self._left = ids[:0]
        return Proposal(
            ids=ids,
            hypotheses=library.hypotheses(ids),
            values=np.zeros((len(run.fit.decision), 0)),
            price=float(np.max(run.price(edges)[ids], initial=0.0)),
            bound=run.bound(edges),
            n_priced=library.n_columns,
        )

    def bound(self, run: EdgePricer) -> float | None:
        return run.bound(self._library.edges(run.fit.weights))
