"""Stratified pricing: look at few columns, the likely ones and the simple ones first.

CG-Boost, Algorithm 5.1, with the kernels K_1 ... K_P in order of priority:

    step 5   for p = 1 ... P: the columns of K_p centred at error points (slack > 0);
    step 6   nothing found: stop, if TR1 is in force (`errors_only`);
    step 7   for p = 1 ... P: all columns of K_p;
    step 8   nothing found: the optimum (TR2).

Either loop ends at the first kernel that has a violated column; its most violated columns are
offered, by price as in (12), and no other kernel is looked at. A column is violated if its price
is above `tol`, the same number that the stop rules use: with 0, as in the paper, rounding would
hold the search at the first kernel. Columns that step 5 has priced are not priced again in step 7.

Only a step that has looked at all columns has a bound, the last one before the optimum among them.
Masters that name no error points have every point for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kboost._typing import BoolArray, IntArray
from kboost.core.protocols import MasterRun, Problem, Proposal
from kboost.oracles.candidates import Shelf


@dataclass(frozen=True)
class StratifiedOracle:
    """Algorithm 5.1; `columns_per_step` at a time from one kernel, `max_columns` in all."""

    columns_per_step: int = 1
    max_columns: int | None = None
    tol: float = 0.0
    errors_only: bool = False

    def start(self, problem: Problem) -> StratifiedSearch:
        shelf = Shelf(problem.columns, self.columns_per_step, self.max_columns)
        return StratifiedSearch(self, shelf)


class StratifiedSearch:
    """Remembers which columns were taken."""

    def __init__(self, oracle: StratifiedOracle, shelf: Shelf) -> None:
        self._oracle = oracle
        self._shelf = shelf

    def propose(self, run: MasterRun) -> Proposal:
        shelf, library = self._shelf, self._shelf.library
        edges = np.zeros(library.n_columns)
        seen = np.zeros(library.n_columns, dtype=bool)
        at_errors = shelf.at_errors(run.fit)
        for columns in self._passes(at_errors):
            new = columns[~seen[columns]]
            edges[new] = library.edges(run.fit.weights, new)
            seen[new] = True
            # columns not looked at have an edge of 0 here, and their prices are not used
            prices = shelf.prices(run, edges)
            violated = columns[prices[columns] > self._oracle.tol]
            if len(violated):
                break
        return shelf.proposal(
            shelf.take(violated, prices[violated]),
            prices,
            bound=run.bound(edges) if seen.all() else None,
            seen=seen,
            at_errors=at_errors,
        )

    def bound(self, run: MasterRun) -> float | None:
        return self._shelf.bound(run)

    def restore(self, proposal: Proposal) -> None:
        self._shelf.restore(proposal.ids)

    def _passes(self, at_errors: BoolArray | None) -> Iterator[IntArray]:
        """The columns to look at, group by group: steps 5 and 7."""
        numbers = np.arange(self._shelf.library.n_columns)
        strata = [numbers[stratum] for stratum in self._shelf.library.strata]
        if at_errors is not None:
            for stratum in strata:
                yield stratum[at_errors[stratum]]
        if at_errors is None or not self._oracle.errors_only:
            yield from strata
