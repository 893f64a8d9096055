"""The full scan: price every column of the library and propose the best.

Which of the columns with a positive price come first is a matter of speed, not of correctness. With
unscaled columns the largest price belongs to the largest column; per unit of root mean square it is
the steepest direction, so columns are ranked by `price / rms` (the order of the prices if columns
have unit root mean square). The best columns are often neighbours and nearly equal; with
`max_correlation` only one of them is proposed per step, the others later if still worth it.

In a large library a scan takes longer than the master. Columns that come next are mostly those
whose prices were next in the last scan: with `near` that share of the columns is priced alone for a
few steps, as long as one of them has a fair part of the best price of that scan. Such a step has no
bound, and the last one prices all columns. First columns are proposed without a scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.coefficients import in_use
from kboost.core.protocols import Dictionary, EdgePricer, Problem, Proposal
from kboost.oracles.candidates import DictionaryCandidates, DictionarySearch

MANY = 10**8  # values in all columns, from which on a scan is not for every step
_STEPS = 3  # at most, between two scans
_FAIR = 0.25  # of the best price of the last scan


@dataclass(frozen=True)
class ScanOracle:
    """Price all columns; propose `columns_per_step` per step, `max_columns` in total."""

    columns_per_step: int = 1
    max_columns: int | None = None
    max_correlation: float = 1.0  # above it, two columns are not proposed in the same step
    first: tuple[int, ...] = ()  # columns of the first proposal, whatever their price
    growth: float = 0.0  # propose this share of the columns with a coefficient, if that is more
    near: float = 0.0  # share of the columns priced between two scans of a large library

    def start(self, problem: Problem[Dictionary, object]) -> ScanSearch:
        return ScanSearch(
            DictionaryCandidates(
                problem.columns, self.columns_per_step, self.max_columns, self.max_correlation
            ),
            np.array(self.first, dtype=np.intp),
            self.growth,
            self.near,
        )


@dataclass
class _Near:
    """The columns of the best prices in the last scan."""

    ids: IntArray
    least: float  # price for which they are worth another step
    steps: int = 0


class ScanSearch(DictionarySearch):
    """The columns not yet taken."""

    def __init__(
        self,
        candidates: DictionaryCandidates,
        first: IntArray,
        growth: float = 0.0,
        near: float = 0.0,
    ) -> None:
        super().__init__(candidates)
        self._first, self._growth, self._share = first, growth, near
        self._near: _Near | None = None

    def propose(self, run: EdgePricer) -> Proposal:
        candidates, library = self._candidates, self._candidates.library
        is_large = self._share > 0.0 and len(run.fit.weights) * library.n_columns >= MANY
        if is_large and (proposal := self._of_a_part(run)) is not None:
            return proposal
        edges = library.edges(run.fit.weights)
        prices = candidates.prices(run, edges)
        if len(self._first):
            ids, self._first = self._first, self._first[:0]
            candidates.take(ids)
        else:
            ids = self._best(run, prices)
            self._near = self._nearest(prices) if is_large else None
        return candidates.proposal(
            ids, prices, bound=run.bound(edges), at_errors=candidates.at_errors(run.fit)
        )

    def _best(self, run: EdgePricer, prices: FloatArray) -> IntArray:
        """Take the best columns with a positive price."""
        positive = np.flatnonzero(prices > 0)
        scores = prices[positive] / self._candidates.library.rms[positive]
        return self._candidates.take_best(positive, scores, self._least(run))

    def _of_a_part(self, run: EdgePricer) -> Proposal | None:
        """A proposal without a scan: the first columns, or some near them in the last scan."""
        candidates, near = self._candidates, self._near
        part = self._first if near is None else near.ids
        if not len(part):
            return None
        edges, priced = np.zeros((2, candidates.n_columns))
        priced[part], edges[part] = 1.0, candidates.library.edges(run.fit.weights, part)
        prices = candidates.prices(run, edges) * priced
        if near is None:
            ids, self._first = self._first, self._first[:0]
            candidates.take(ids)
        elif near.steps < _STEPS and prices.max() > near.least:
            near.steps += 1
            ids = self._best(run, prices)
        else:
            return None
        return candidates.proposal(ids, prices, bound=None, priced=priced > 0.0)

    def _nearest(self, prices: FloatArray) -> _Near:
        """The columns to price until the next scan, by the prices of this one."""
        candidates = self._candidates
        left = np.flatnonzero(candidates.available)
        count = min(int(self._share * candidates.n_columns), len(left))
        order = np.argsort(-prices[left] / candidates.library.rms[left], kind="stable")
        return _Near(np.sort(left[order[:count]]), _FAIR * float(prices.max(initial=0.0)))

    def _least(self, run: EdgePricer) -> int:
        """Columns to propose at least, by the number of those in use."""
        if not self._growth:
            return 0
        return int(self._growth * np.count_nonzero(in_use(run.fit.coef)))

    def restore(self, proposal: Proposal) -> None:
        self._near = None
        super().restore(proposal)

    def proposed(self, ids: IntArray) -> Proposal:
        self._first = self._first[:0]
        return super().proposed(ids)

    def position(self) -> Any:
        """The part of the library that is priced next; otherwise the prices decide."""
        near = self._near
        return None if near is None else {"ids": near.ids, "least": near.least, "steps": near.steps}

    def resume(self, position: Any) -> None:
        """Continue from a position."""
        self._near = None if position is None else _Near(**position)
