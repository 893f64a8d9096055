"""What a search of a library has left to offer, and how it makes a proposal of it."""

from __future__ import annotations

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.protocols import Dictionary, Fit, MasterRun, Proposal

_WIDER = 3  # times as many columns as may go are compared


class Shelf:
    """Columns not yet taken; at most `columns_per_step` at a time go, `max_columns` in all.

    Of columns whose correlation is above `alike`, one goes at a time.
    """

    def __init__(
        self,
        library: Dictionary,
        columns_per_step: int,
        max_columns: int | None,
        max_correlation: float = 1.0,
    ) -> None:
        self.library, self._max_correlation = library, max_correlation
        self._available = library.rms > 0
        self._per_step = columns_per_step
        self._room = library.n_columns if max_columns is None else max_columns

    def prices(self, run: MasterRun, edges: FloatArray) -> FloatArray:
        """Prices of all columns, 0 for those that are not on offer."""
        return np.where(self._available, run.price(edges), 0.0)

    def take(self, candidates: IntArray, rank: FloatArray) -> IntArray:
        """The candidates of the highest rank; ties go to the lower number."""
        count = min(self._per_step, self._room, len(candidates))
        ids = candidates[np.argsort(-rank, kind="stable")]
        if self._max_correlation < 1.0 and count > 1:
            ids = ids[: _WIDER * count]
            ids = ids[distinct(self.library.values(ids, keep=False), self._max_correlation)]
        ids = ids[:count]
        self._available[ids] = False
        self._room -= len(ids)
        return ids

    def restore(self, ids: IntArray) -> None:
        """Columns that were taken and not used."""
        self._available[ids] = True
        self._room += len(ids)

    def at_errors(self, fit: Fit) -> BoolArray | None:
        """The columns centred at error points; None where the fit or the library names none."""
        return None if fit.errors is None else self.library.centered_at(fit.errors)

    def bound(self, run: MasterRun) -> float | None:
        """The certificate at the present fit, from all columns."""
        return run.bound(self.library.edges(run.fit.weights))

    def proposal(
        self,
        ids: IntArray,
        prices: FloatArray,
        *,
        bound: float | None,
        seen: BoolArray | None = None,
        at_errors: BoolArray | None = None,
    ) -> Proposal:
        """A proposal of the columns `ids`; `seen` are those looked at, all if not given."""
        seen = np.ones(len(prices), dtype=bool) if seen is None else seen
        error_price = None if at_errors is None else _best(prices[seen & at_errors])
        return Proposal(
            ids=ids,
            hypotheses=self.library.hypotheses(ids),
            values=self.library.values(ids),
            price=_best(prices[seen]),
            bound=bound,
            n_priced=int(seen.sum()),
            complete=bool(seen.all()),
            error_price=error_price,
        )


def _best(prices: FloatArray) -> float:
    return max(0.0, float(np.max(prices, initial=0.0)))


def distinct(columns: FloatArray, max_correlation: float) -> list[int]:
    """Columns (n, m) one after the other, without those too much like one that came before."""
    centered = columns - columns.mean(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", centered, centered))
    centered /= np.where(size > 0.0, size, 1.0)
    close = np.abs(centered.T @ centered) > max_correlation
    chosen, covered = [], np.zeros(len(close), dtype=bool)
    for j in range(len(close)):
        if not covered[j]:
            chosen.append(j)
            covered |= close[j]
    return chosen
