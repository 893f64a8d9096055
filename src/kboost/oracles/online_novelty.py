"""Selection in one pass over the columns by novelty: ALD and RAN (SYB II-B, footnotes 4 and 5).

ALD: approximate linear dependence. RAN: resource-allocating network. Each candidate is seen once,
in random order. With Q = L L' the inner products of the basis so far,

    novelty(x) = k(x, x) - k_M(x)' Q_M^-1 k_M(x) = k(x, x) - |L^-1 k_M(x)|^2

    ALD takes x if  novelty > threshold
    RAN takes x if  novelty * (drop of the objective after a full update) > threshold,

the drop in units of the variance of the targets. Candidates are tested in chunks; a candidate that
is taken adds one row to the triangular solution of those after it in its chunk, so the decisions
are those of the one-by-one rule. The pass stops before a chunk when the time limit is reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.protocols import ColumnPricer, Problem, Proposal
from kboost.formulations import TargetRows
from kboost.oracles.candidates import CenterCandidates
from kboost.solvers.growing_cholesky import GrowingCholesky

_CHUNK = {"ald": 256, "ran": 32}
_AHEAD = 8  # candidates that RAN prices at once
_LEAST = 1e-10  # of k(x, x): the least novelty of a basis vector, whatever its price


@dataclass(frozen=True)
class NoveltyOracle:
    """ALD or RAN."""

    selection: Literal["ald", "ran"] = "ald"
    threshold: float = 1e-2
    per_step: int = 1
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem[CandidateColumns, TargetRows]) -> NoveltySearch:
        return NoveltySearch(self, CenterCandidates(problem, self.max_columns, self.seed), problem)


class NoveltySearch:
    """The position in the pass, and a factor of the basis per kernel."""

    def __init__(
        self,
        oracle: NoveltyOracle,
        candidates: CenterCandidates,
        problem: Problem[CandidateColumns, TargetRows],
    ) -> None:
        self._oracle, self._candidates = oracle, candidates
        n_kernels = len(candidates.library.kernels)
        self._factors = [GrowingCholesky() for _ in range(n_kernels)]
        self._taken: list[IntArray] = [np.zeros(0, dtype=np.intp) for _ in range(n_kernels)]
        self._unit, self._deadline = _variance(problem.rows), problem.deadline
        self._run: ColumnPricer | None = None
        self._remaining = self._pass()

    def propose(self, run: ColumnPricer) -> Proposal:
        candidates, self._run = self._candidates, run
        count = min(self._oracle.per_step, candidates.room)
        passed = list(islice(self._remaining, count)) if count > 0 else []
        if not passed:
            return candidates.empty_proposal()
        ids = np.array([j for j, _ in passed], dtype=np.intp)
        kinds = candidates.library.kernel_of(ids)
        if np.any(kinds != kinds[0]):
            ids = ids[np.argsort(kinds, kind="stable")]
        price = max(score for _, score in passed)
        return candidates.proposal(ids, candidates.library.values(ids), price, len(ids))

    def bound(self, run: ColumnPricer) -> float | None:
        return None

    def _pass(self) -> Iterator[tuple[int, float]]:
        """The columns that pass the test, with their scores."""
        library = self._candidates.library
        order = self._candidates.rng.permutation(library.n_columns)
        size = _CHUNK[self._oracle.selection]
        for start in range(0, len(order), size):
            if self._deadline.remaining == 0.0:
                return
            chunk = order[start : start + size]
            kinds = library.kernel_of(chunk)
            for p in np.unique(kinds):  # inner products across kernels are 0
                yield from self._chunk(int(p), chunk[kinds == p])

    def _chunk(self, p: int, ids: IntArray) -> Iterator[tuple[int, float]]:
        """The columns of one kernel in a chunk that pass, with their scores."""
        library, factor = self._candidates.library, self._factors[p]
        rows, norm = library.rows_of(ids), library.diagonal(ids)
        basis = self._taken[p]
        cross = library.values(basis, rows).T  # (m, k)
        half = factor.half_solve(cross) if len(basis) else cross
        among = library.values(ids, rows)  # (k, k)
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
            self._taken[p] = np.concatenate([basis, ids[accepted]])

    def _tested(
        self, ids: IntArray, novelty: FloatArray, norm: FloatArray
    ) -> Iterator[tuple[int, float]]:
        """Positions in the chunk that pass, one by one; the caller updates `novelty` in between."""
        threshold = self._oracle.threshold
        if self._oracle.selection == "ald":
            for i in range(len(ids)):
                if novelty[i] > max(threshold, _LEAST * norm[i]):
                    yield i, float(novelty[i])
            return
        values = self._candidates.library.values(ids)  # (n, k)
        position = 0
        while position < len(ids):
            ahead = slice(position, min(position + _AHEAD, len(ids)))
            assert self._run is not None
            drops = self._run.price_of(ids[ahead], values[:, ahead], "full") / self._unit
            scores = novelty[ahead] * drops
            passed = np.flatnonzero((scores > threshold) & (novelty[ahead] > _LEAST * norm[ahead]))
            if not len(passed):
                position = ahead.stop
                continue
            position += int(passed[0]) + 1
            yield position - 1, float(scores[passed[0]])


def _variance(rows: TargetRows) -> float:
    """The variance of the targets, summed over outputs; 1 if they are constant."""
    share = rows.sample_weight / rows.sample_weight.sum()
    centered = rows.targets - share @ rows.targets
    variance = float(np.sum(share @ centered**2))
    return variance if variance > 0 else 1.0
