"""S basis vectors a step: the initialisation of a base learner (SYB III-C, III-D 3).

A step draws T rows, selects S of them there against the present residual (local.py), and offers
these; with several kernels each selects, and the one that lowers the local objective most is
taken. Rows are drawn evenly, as in the paper, or in proportion to their squared residual, which
sends the basis where the model is wrong: on KIN40K 2,000 such vectors do what 3,000 even ones do.
"random" offers S random columns. Where the rows that were drawn have nothing to tell, since the
loss is 0 there (the hinge's) or their columns are, those that have are drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.core.protocols import Problem, Proposal
from kboost.oracles.forward import ColumnPricer, Stock
from kboost.solvers.forward_selection import LocalRule, select

Draw = Literal["even", "residual"]

_MOST_ROWS = 1200  # that are looked at without being asked for; the selection is cubic in them
_CHOICE = 1.5  # rows drawn a basis vector, below which there is nothing to select


@dataclass(frozen=True)
class EnsembleOracle:
    """Groups of basis vectors; `curvature` is the bound of the loss's second derivative."""

    selection: LocalRule | Literal["random"] = "max-res"
    per_step: int = 50
    n_init_rows: int | None = 500  # None: twice as many as are to be selected
    growth: float = 0.0  # a step takes at least this share of the columns there are
    draw: Draw = "even"
    ridge: float = 1.0
    curvature: float = 1.0
    evaluate: bool = True  # False: the master computes the columns itself
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem) -> EnsembleSearch:
        return EnsembleSearch(self, Stock(problem, self.max_columns, self.seed))


class EnsembleSearch:
    """What is left to choose from."""

    def __init__(self, oracle: EnsembleOracle, stock: Stock) -> None:
        self._oracle, self._stock = oracle, stock
        self._n_taken = 0

    def propose(self, run: Any) -> Proposal:
        stock, oracle = self._stock, self._oracle
        count = max(oracle.per_step, int(oracle.growth * self._n_taken))
        if oracle.growth and stock.room < 1.5 * count:
            count = stock.room  # no small step at the end
        count = min(count, stock.room)
        left = stock.free.reshape(len(stock.candidates.kernels), -1)
        if count < 1 or not left.any():
            return stock.nothing()
        if oracle.selection == "random":
            kernel = int(stock.rng.choice(np.flatnonzero(left.any(axis=1))))
            centers = stock.rng.permutation(np.flatnonzero(left[kernel]))[:count]
            price = 0.0
        else:
            among: BoolArray = np.any(left, axis=0)
            kernel, centers, price = self._selected(run, count, among)
            if not len(centers):
                stock.sort_out()
                among = np.any(left, axis=0) & (stock.residual(run) > 0)
                kernel, centers, price = self._selected(run, count, among)
        if not len(centers):
            return stock.nothing()
        ids = kernel * stock.candidates.n_centers + centers
        self._n_taken += len(ids)
        none = ids[:0]
        values = stock.candidates.values(ids if oracle.evaluate else none)
        return stock.offer(ids, values, price, len(ids))

    def bound(self, run: Any) -> float | None:
        return None

    def _selected(
        self, run: ColumnPricer, count: int, among: BoolArray
    ) -> tuple[int, IntArray, float]:
        """The kernel, the centres (drawn `among` some) and the local drop of the objective."""
        stock, oracle = self._stock, self._oracle
        left = stock.free.reshape(len(stock.candidates.kernels), -1)
        T = min(2 * count, _MOST_ROWS) if oracle.n_init_rows is None else oracle.n_init_rows
        if oracle.n_init_rows is None and _CHOICE * count > T and len(left) == 1:
            useful = among & bool(run.fit.weights.any())
            return 0, self._drawn(run, useful, count), 0.0
        drawn = self._drawn(run, among, max(count, T))
        best: tuple[int, IntArray, float] = (0, drawn[:0], 0.0)
        for p in range(len(stock.candidates.kernels)):
            centers = drawn[left[p, drawn]]
            rows = stock.candidates.center_rows[centers]
            weight = oracle.curvature * stock.weight[rows]
            picks, drop = select(
                stock.candidates.values(p * stock.candidates.n_centers + centers, rows),
                run.fit.weights[rows] / weight[:, None],
                weight,
                oracle.ridge,
                count,
                oracle.selection,  # type: ignore[arg-type]  # "random" does not come here
            )
            if drop > best[2]:
                best = (p, centers[picks], drop)
        return best

    def _drawn(self, run: ColumnPricer, left: Any, count: int) -> IntArray:
        """Centres to select among, in their order; without replacement, by exponential clocks."""
        stock = self._stock
        rate: FloatArray = left.astype(np.float64)
        if self._oracle.draw == "residual":
            size = stock.residual(run)
            top = float(size.max(initial=0.0))
            rate *= (size / top) ** 2 + 1e-12 if top > 0 else 1.0
        rings = stock.rng.exponential(size=len(rate)) / np.where(rate > 0, rate, 1e-300)
        chosen = np.argpartition(rings, min(count, len(rings)) - 1)[:count]
        return np.sort(chosen[left[chosen]])
