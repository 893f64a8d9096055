"""S basis vectors per step: the initialisation of a base learner (SYB III-C, III-D 3).

A step draws T rows, selects S of them by forward selection against the residual on these rows
(solvers/forward_selection.py), and proposes their columns. With several kernels each one selects,
and the one that lowers the local objective most is taken. Rows are drawn uniformly, as in the
paper, or in proportion to their squared residual, which puts basis vectors where the model is wrong
(on KIN40K, 2,000 such vectors reach the error of 3,000 uniform ones). "random" proposes S random
columns. If the rows drawn give nothing to select, because the loss (of the hinge) or their columns
are 0, rows with a positive residual are drawn instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.protocols import ColumnPricer, Problem, Proposal
from kboost.formulations import TargetRows
from kboost.oracles.candidates import CenterCandidates, CenterSearch
from kboost.solvers.forward_selection import LocalRule, select

Draw = Literal["even", "residual"]

_MOST_ROWS = 1200  # drawn by default at most; the selection is cubic in them
_CHOICE = 1.5  # rows drawn per basis vector, below which there is nothing to select


@dataclass(frozen=True)
class EnsembleOracle:
    """Groups of basis vectors; `curvature` bounds the second derivative of the loss."""

    selection: LocalRule | Literal["random"] = "max-res"
    per_step: int = 50
    n_init_rows: int | None = 500  # None: twice the number of basis vectors
    growth: float = 0.0  # a step adds at least this share of the columns in the model
    draw: Draw = "even"
    ridge: float = 1.0
    curvature: float = 1.0
    evaluate: bool = True  # False: the master computes the columns itself
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem[CandidateColumns, TargetRows]) -> EnsembleSearch:
        return EnsembleSearch(self, CenterCandidates(problem, self.max_columns, self.seed))


class EnsembleSearch(CenterSearch):
    """The columns not yet taken."""

    def __init__(self, oracle: EnsembleOracle, candidates: CenterCandidates) -> None:
        super().__init__(candidates)
        self._oracle, self._n_taken = oracle, 0

    def propose(self, run: ColumnPricer) -> Proposal:
        candidates, oracle = self._candidates, self._oracle
        count = max(oracle.per_step, int(oracle.growth * self._n_taken))
        if oracle.growth and candidates.room < 1.5 * count:
            count = candidates.room  # no small last step
        count = min(count, candidates.room)
        available = candidates.by_kernel
        if count < 1 or not available.any():
            return candidates.empty_proposal()
        if oracle.selection == "random":
            kernel = int(candidates.rng.choice(np.flatnonzero(available.any(axis=1))))
            centers = candidates.rng.permutation(np.flatnonzero(available[kernel]))[:count]
            price = 0.0
        else:
            among: BoolArray = np.any(available, axis=0)
            kernel, centers, price = self._selected(run, count, among, oracle.selection)
            if not len(centers):
                candidates.drop_zero_norm()
                among = np.any(available, axis=0) & (candidates.residual(run) > 0)
                kernel, centers, price = self._selected(run, count, among, oracle.selection)
        if not len(centers):
            return candidates.empty_proposal()
        return replace(self.proposed(kernel * candidates.library.n_centers + centers), price=price)

    def proposed(self, ids: IntArray) -> Proposal:
        self._n_taken += len(ids)
        values = self._candidates.library.values(ids if self._oracle.evaluate else ids[:0])
        return self._candidates.proposal(ids, values, 0.0, len(ids))

    def _selected(
        self, run: ColumnPricer, count: int, among: BoolArray, rule: LocalRule
    ) -> tuple[int, IntArray, float]:
        """The kernel, the centres (drawn from `among`) and the drop of the local objective."""
        candidates, oracle = self._candidates, self._oracle
        available = candidates.by_kernel
        T = min(2 * count, _MOST_ROWS) if oracle.n_init_rows is None else oracle.n_init_rows
        if oracle.n_init_rows is None and _CHOICE * count > T and len(available) == 1:
            useful = among & bool(run.fit.weights.any())
            return 0, self._drawn(run, useful, count), 0.0
        drawn = self._drawn(run, among, max(count, T))
        best: tuple[int, IntArray, float] = (0, drawn[:0], 0.0)
        for p in range(len(candidates.library.kernels)):
            centers = drawn[available[p, drawn]]
            rows = candidates.library.center_rows[centers]
            weight = oracle.curvature * candidates.weight[rows]
            picks, drop = select(
                candidates.library.values(p * candidates.library.n_centers + centers, rows),
                run.fit.weights[rows] / weight[:, None],
                weight,
                oracle.ridge,
                count,
                rule,
            )
            if drop > best[2]:
                best = (p, centers[picks], drop)
        return best

    def _drawn(self, run: ColumnPricer, among: BoolArray, count: int) -> IntArray:
        """Centres to select from, sorted; drawn without replacement by exponential clocks."""
        candidates = self._candidates
        rate: FloatArray = among.astype(np.float64)
        if self._oracle.draw == "residual":
            size = candidates.residual(run)
            top = float(size.max(initial=0.0))
            rate *= (size / top) ** 2 + 1e-12 if top > 0 else 1.0
        clocks = candidates.rng.exponential(size=len(rate)) / np.where(rate > 0, rate, 1e-300)
        drawn = np.argpartition(clocks, min(count, len(clocks)) - 1)[:count]
        return np.sort(drawn[among[drawn]])
