"""The columns an oracle may still propose."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.protocols import (
    ColumnPricer,
    Dictionary,
    EdgePricer,
    Fit,
    MasterRun,
    Problem,
    Proposal,
)
from kboost.formulations import TargetRows

_COMPARED = 3  # times as many columns as are proposed are checked for correlation
_BLOCK = 4096  # columns whose norms are computed at a time


class Candidates:
    """Columns not yet taken, and how many more may be."""

    def __init__(self, available: BoolArray, max_columns: int | None) -> None:
        self.available = available  # (n_columns,)
        self.room = len(available) if max_columns is None else max_columns

    def take(self, ids: IntArray) -> None:
        """Mark columns as taken."""
        self.available[ids] = False
        self.room -= len(ids)

    def restore(self, ids: IntArray) -> None:
        """Make taken columns available again."""
        self.available[ids] = True
        self.room += len(ids)

    @property
    def n_columns(self) -> int:
        """Columns of the library."""
        return len(self.available)


class DictionaryCandidates(Candidates):
    """Candidates of a dictionary, priced from their edges.

    At most `columns_per_step` are taken at a time, and of columns whose correlation exceeds
    `max_correlation` one at a time.
    """

    def __init__(
        self,
        library: Dictionary,
        columns_per_step: int,
        max_columns: int | None,
        max_correlation: float = 1.0,
    ) -> None:
        super().__init__(library.rms > 0, max_columns)
        self.library = library
        self._columns_per_step, self._max_correlation = columns_per_step, max_correlation

    def prices(self, run: EdgePricer, edges: FloatArray) -> FloatArray:
        """Prices of all columns, 0 for those not available."""
        return np.where(self.available, run.price(edges), 0.0)

    def take_best(self, ids: IntArray, scores: FloatArray, least: int = 0) -> IntArray:
        """Take the columns of the highest scores; ties go to the lower number.

        As many as there are per step, or `least` if that is more.
        """
        count = min(max(self._columns_per_step, least), self.room, len(ids))
        best = ids[np.argsort(-scores, kind="stable")]
        if self._max_correlation < 1.0 and count > 1:
            best = best[: _COMPARED * count]
            best = best[distinct(self.library.values(best, keep=False), self._max_correlation)]
        best = best[:count]
        self.take(best)
        return best

    def at_errors(self, fit: Fit) -> BoolArray | None:
        """The columns centred at error points; None if the fit or the library has no such thing."""
        return None if fit.errors is None else self.library.centered_at(fit.errors)

    def bound(self, run: EdgePricer) -> float | None:
        """The certificate at the present fit, from the edges of all columns."""
        return run.bound(self.library.edges(run.fit.weights))

    def proposed(self, ids: IntArray) -> Proposal:
        """An earlier proposal of these columns, but for its price."""
        self.take(ids)
        hypotheses, values = self.library.hypotheses(ids), self.library.values(ids)
        return Proposal(ids, hypotheses, values, 0.0, None, 0)

    def proposal(
        self,
        ids: IntArray,
        prices: FloatArray,
        *,
        bound: float | None,
        priced: BoolArray | None = None,
        at_errors: BoolArray | None = None,
    ) -> Proposal:
        """A proposal of the columns `ids`; `priced` marks the columns priced (None: all)."""
        priced = np.ones(len(prices), dtype=bool) if priced is None else priced
        error_price = None if at_errors is None else _best(prices[priced & at_errors])
        return Proposal(
            ids=ids,
            hypotheses=self.library.hypotheses(ids),
            values=self.library.values(ids),
            price=_best(prices[priced]),
            bound=bound,
            n_priced=int(priced.sum()),
            complete=bool(priced.all()),
            error_price=error_price,
        )


class DictionarySearch:
    """A search of a dictionary, whose next proposal depends on the prices only."""

    def __init__(self, candidates: DictionaryCandidates) -> None:
        self._candidates = candidates

    def bound(self, run: EdgePricer) -> float | None:
        return self._candidates.bound(run)

    def restore(self, proposal: Proposal) -> None:
        self._candidates.restore(proposal.ids)

    @property
    def n_columns(self) -> int:
        return self._candidates.n_columns

    def proposed(self, ids: IntArray) -> Proposal:
        return self._candidates.proposed(ids)

    def position(self) -> None:
        """Nothing: the prices decide."""

    def resume(self, position: None) -> None:
        """Nothing to do."""


class CenterCandidates(Candidates):
    """Candidates of a library of kernel columns centred at training rows, drawn at random."""

    def __init__(
        self, problem: Problem[CandidateColumns, TargetRows], max_columns: int | None, seed: int
    ) -> None:
        self.library, self.weight = problem.columns, problem.rows.sample_weight
        super().__init__(np.ones(self.library.n_columns, dtype=bool), max_columns)
        self.rng = np.random.default_rng(seed)
        self._has_dropped = False

    @property
    def by_kernel(self) -> BoolArray:
        """A view of `available`, (n_kernels, n_centers)."""
        return self.available.reshape(-1, self.library.n_centers)

    def residual(self, run: MasterRun) -> FloatArray:
        """Size of the residual at each centre: the largest over its rows, norm over outputs."""
        size = np.sqrt(np.sum(run.fit.weights**2, axis=1)) / self.weight
        largest: FloatArray = np.maximum.reduceat(size, self.library.center_rows)
        return largest

    def drop_zero_norm(self) -> bool:
        """Drop columns of norm 0, once; returns whether this call dropped any."""
        if self._has_dropped:
            return False
        self._has_dropped, before = True, np.count_nonzero(self.available)
        remaining = np.flatnonzero(self.available)
        for start in range(0, len(remaining), _BLOCK):
            ids = remaining[start : start + _BLOCK]
            self.available[ids] = self.library.diagonal(ids) > 0
        return bool(np.count_nonzero(self.available) < before)

    def proposal(self, ids: IntArray, values: FloatArray, price: float, n_priced: int) -> Proposal:
        """Take columns and propose them."""
        self.take(ids)
        return Proposal(ids, self.library.hypotheses(ids), values, price, None, n_priced)

    def position(self) -> Any:
        """The random numbers, and whether columns of norm 0 were dropped."""
        return {"random": self.rng.bit_generator.state, "dropped": self._has_dropped}

    def resume(self, position: Any) -> None:
        """Continue from a position."""
        if position["dropped"]:
            self.drop_zero_norm()
        self.rng.bit_generator.state = position["random"]

    def empty_proposal(self) -> Proposal:
        """A proposal of no column."""
        ids = np.zeros(0, dtype=np.intp)
        return Proposal(ids, [], np.zeros((self.library.n_rows, 0)), 0.0, None, 0)


class CenterSearch:
    """A search among random columns, without a bound."""

    def __init__(self, candidates: CenterCandidates) -> None:
        self._candidates = candidates

    def bound(self, run: ColumnPricer) -> float | None:
        return None

    @property
    def n_columns(self) -> int:
        return self._candidates.n_columns

    def position(self) -> Any:
        return self._candidates.position()

    def resume(self, position: Any) -> None:
        self._candidates.resume(position)


def _best(prices: FloatArray) -> float:
    return max(0.0, float(np.max(prices, initial=0.0)))


def distinct(columns: FloatArray, max_correlation: float) -> list[int]:
    """Columns of (n, m), in order, without those too correlated with one kept before."""
    centered = columns - columns.mean(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", centered, centered))
    centered /= np.where(size > 0.0, size, 1.0)
    close = np.abs(centered.T @ centered) > max_correlation
    kept, covered = [], np.zeros(len(close), dtype=bool)
    for j in range(len(close)):
        if not covered[j]:
            kept.append(j)
            covered |= close[j]
    return kept
