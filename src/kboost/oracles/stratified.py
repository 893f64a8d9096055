"""Stratified pricing: price likely columns and simple kernels first.

CG-Boost, Algorithm 5.1, with the kernels K_1 ... K_P in order of priority:

    step 5   for p = 1 ... P: the columns of K_p centred at error points (slack > 0);
    step 6   none violated: stop, if TR1 applies (`errors_only`);
    step 7   for p = 1 ... P: all columns of K_p;
    step 8   none violated: the optimum (TR2).

Each loop ends at the first kernel with a violated column; its most violated columns, by price as in
(12), are proposed. A column is violated if its price exceeds `tol`, the tolerance of the stop
rules: with 0, as in the paper, rounding errors would keep the search at the first kernel. Columns
priced in step 5 are not priced again in step 7.

Only a step that has priced all columns has a bound; the last step before the optimum is one.
If the master reports no error points, every row counts as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kboost._typing import BoolArray, IntArray
from kboost.core.protocols import Dictionary, EdgePricer, Problem, Proposal
from kboost.oracles.candidates import DictionaryCandidates, DictionarySearch


@dataclass(frozen=True)
class StratifiedOracle:
    """Algorithm 5.1: `columns_per_step` per step from one kernel, `max_columns` in total."""

    columns_per_step: int = 1
    max_columns: int | None = None
    tol: float = 0.0
    errors_only: bool = False

    def start(self, problem: Problem[Dictionary, object]) -> StratifiedSearch:
        return StratifiedSearch(
            self, DictionaryCandidates(problem.columns, self.columns_per_step, self.max_columns)
        )


class StratifiedSearch(DictionarySearch):
    """The columns not yet taken."""

    def __init__(self, oracle: StratifiedOracle, candidates: DictionaryCandidates) -> None:
        super().__init__(candidates)
        self._oracle = oracle

    def propose(self, run: EdgePricer) -> Proposal:
        candidates, library = self._candidates, self._candidates.library
        edges = np.zeros(library.n_columns)
        priced = np.zeros(library.n_columns, dtype=bool)
        at_errors = candidates.at_errors(run.fit)
        for columns in self._groups(at_errors):
            new = columns[~priced[columns]]
            edges[new] = library.edges(run.fit.weights, new)
            priced[new] = True
            # columns not yet priced have an edge of 0; their prices are not used
            prices = candidates.prices(run, edges)
            violated = columns[prices[columns] > self._oracle.tol]
            if len(violated):
                break
        return candidates.proposal(
            candidates.take_best(violated, prices[violated]),
            prices,
            bound=run.bound(edges) if priced.all() else None,
            priced=priced,
            at_errors=at_errors,
        )

    def _groups(self, at_errors: BoolArray | None) -> Iterator[IntArray]:
        """Groups of columns in the order of steps 5 and 7."""
        numbers = np.arange(self._candidates.library.n_columns)
        strata = [numbers[stratum] for stratum in self._candidates.library.strata]
        if at_errors is not None:
            for stratum in strata:
                yield stratum[at_errors[stratum]]
        if at_errors is None or not self._oracle.errors_only:
            yield from strata
