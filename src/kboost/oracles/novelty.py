"""ColumnGeneration in one pass: ALD and RAN (SYB II-B, footnotes 4 and 5).

Candidates come once each, in random order. With Q = L L' the inner products of the basis so far,

    novelty(x) = k(x, x) - k_M(x)' Q_M^-1 k_M(x) = k(x, x) - |L^-1 k_M(x)|^2

    ALD takes x if  novelty > ald_threshold
    RAN takes x if  novelty * (drop of the objective after a full update) > ran_threshold,

the drop in units of the variance of the targets. Candidates are looked at in chunks; a candidate
that is taken extends the triangular solution of those after it in its chunk by one row, so the
decisions are those of the one-by-one rule. A pass that finds little is a long one, so it ends
before a chunk when the time is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Problem, Proposal
from kboost.oracles.forward import ColumnPricer, Stock
from kboost.solvers.growing_cholesky import GrowingCholesky

_CHUNK = {"ald": 256, "ran": 32}
_AHEAD = 8  # candidates that RAN prices at once
_LEAST = 1e-10  # of k(x, x): a basis vector needs some novelty, whatever its price


@dataclass(frozen=True)
class NoveltyOracle:
    """ALD or RAN."""

    selection: Literal["ald", "ran"] = "ald"
    threshold: float = 1e-2
    per_step: int = 1
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem) -> NoveltySearch:
        return NoveltySearch(self, Stock(problem, self.max_columns, self.seed), problem)


class NoveltySearch:
    """The place in the pass, and the factor of each kernel's basis."""

    def __init__(self, oracle: NoveltyOracle, stock: Stock, problem: Problem) -> None:
        self._oracle, self._stock = oracle, stock
        self._factors = [GrowingCholesky() for _ in stock.candidates.kernels]
        self._taken: list[IntArray] = [np.zeros(0, dtype=np.intp) for _ in stock.candidates.kernels]
        self._unit, self._deadline = _variance(problem), problem.deadline
        self._run: ColumnPricer | None = None
        self._coming = self._pass()

    def propose(self, run: Any) -> Proposal:
        self._run = run
        count = min(self._oracle.per_step, self._stock.room)
        found = list(islice(self._coming, count)) if count > 0 else []
        if not found:
            return self._stock.nothing()
        ids = np.array([j for j, _ in found], dtype=np.intp)
        if np.any(
            self._stock.candidates.kernel_of(ids) != self._stock.candidates.kernel_of(ids)[0]
        ):
            ids = ids[np.argsort(self._stock.candidates.kernel_of(ids), kind="stable")]
        price = max(score for _, score in found)
        return self._stock.offer(ids, self._stock.candidates.values(ids), price, len(ids))

    def bound(self, run: Any) -> float | None:
        return None

    def _pass(self) -> Iterator[tuple[int, float]]:
        """The columns that pass the test, with their scores."""
        candidates = self._stock.candidates
        order = self._stock.rng.permutation(candidates.n_columns)
        size = _CHUNK[self._oracle.selection]
        for start in range(0, len(order), size):
            if self._deadline.remaining == 0.0:
                return
            chunk = order[start : start + size]
            kinds = candidates.kernel_of(chunk)
            for p in np.unique(kinds):  # kernels do not see each other
                yield from self._chunk(int(p), chunk[kinds == p])

    def _chunk(self, p: int, ids: IntArray) -> Iterator[tuple[int, float]]:
        candidates, factor = self._stock.candidates, self._factors[p]
        rows, norm = candidates.rows_of(ids), candidates.diagonal(ids)
        known = self._taken[p]
        cross = candidates.values(known, rows).T  # (m, k)
        half = factor.half_solve(cross) if len(known) else cross
        among = candidates.values(ids, rows)  # (k, k)
        novelty = norm - np.einsum("ij,ij->j", half, half)
        accepted: list[int] = []
        for i, score in self._tested(ids, novelty, norm):
            accepted.append(i)
            row = (among[i] - half[:, i] @ half) / np.sqrt(novelty[i])
            half = np.vstack([half, row])
            novelty -= row**2
            yield int(ids[i]), score
        if accepted:
            factor.append(cross[:, accepted], among[np.ix_(accepted, accepted)])
            self._taken[p] = np.concatenate([known, ids[accepted]])

    def _tested(
        self, ids: IntArray, novelty: FloatArray, norm: FloatArray
    ) -> Iterator[tuple[int, float]]:
        """Places in the chunk that pass, one by one; `novelty` changes after each."""
        threshold = self._oracle.threshold
        if self._oracle.selection == "ald":
            for i in range(len(ids)):
                if novelty[i] > max(threshold, _LEAST * norm[i]):
                    yield i, float(novelty[i])
            return
        values = self._stock.candidates.values(ids)  # (n, k)
        place = 0
        while place < len(ids):
            ahead = slice(place, min(place + _AHEAD, len(ids)))
            assert self._run is not None
            drops = self._run.price_of(ids[ahead], values[:, ahead], "full") / self._unit
            scores = novelty[ahead] * drops
            passed = np.flatnonzero((scores > threshold) & (novelty[ahead] > _LEAST * norm[ahead]))
            if not len(passed):
                place = ahead.stop
                continue
            place += int(passed[0]) + 1
            yield place - 1, float(scores[passed[0]])


def _variance(problem: Problem) -> float:
    """Of the targets, over all outputs; 1 where they are constant."""
    rows = problem.rows
    share = rows.sample_weight / rows.sample_weight.sum()
    away = rows.targets - share @ rows.targets
    variance = float(np.sum(share @ away**2))
    return variance if variance > 0 else 1.0
