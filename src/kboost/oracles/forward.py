"""Forward selection, one basis vector a step (SYB II-B, (27), (28)).

    random    the next in a random order
    mp        the largest drop of the objective, others fixed, among `n_candidates` random ones
    boost     the steepest descent in the RKHS, among as many
    max-res   the row with the largest residual

A column of norm 0 (a linear kernel at a row of zeros) is worth nothing to anyone: where the best
candidate is, columns like it leave the stock and others are looked at.

With several kernels, candidates are drawn among all pairs of a kernel and a centre; at the row
with the largest residual the kernels compete by the drop of the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.protocols import Fit, Problem, Proposal

Selection = Literal["random", "mp", "boost", "max-res"]

_AT_A_TIME = 4096  # columns whose norms are asked for


class ColumnPricer(Protocol):
    """What forward oracles ask of a master at work."""

    @property
    def fit(self) -> Fit: ...

    def price_of(self, ids: IntArray, values: FloatArray, rule: Any) -> FloatArray:
        """What columns at hand are worth."""


class Stock:
    """The columns that are left, and proposals of them."""

    def __init__(self, problem: Problem, max_columns: int | None, seed: int) -> None:
        self.candidates: CandidateColumns = problem.columns
        self.rng = np.random.default_rng(seed)
        self.weight: FloatArray = problem.rows.sample_weight
        self.free: BoolArray = np.ones(self.candidates.n_columns, dtype=bool)
        self.room = self.candidates.n_columns if max_columns is None else max_columns
        self._sorted_out = False

    def residual(self, run: ColumnPricer) -> FloatArray:
        """The size of the residual at each centre: the largest of its rows, over all outputs."""
        size = np.sqrt(np.sum(run.fit.weights**2, axis=1)) / self.weight
        largest: FloatArray = np.maximum.reduceat(size, self.candidates.center_rows)
        return largest

    def sort_out(self) -> bool:
        """Take columns of norm 0 off the stock; says whether there were any, and not before."""
        if self._sorted_out:
            return False
        self._sorted_out, before = True, np.count_nonzero(self.free)
        left = np.flatnonzero(self.free)
        for start in range(0, len(left), _AT_A_TIME):
            ids = left[start : start + _AT_A_TIME]
            self.free[ids] = self.candidates.diagonal(ids) > 0
        return bool(np.count_nonzero(self.free) < before)

    def offer(self, ids: IntArray, values: FloatArray, price: float, n_priced: int) -> Proposal:
        """Take columns off the stock."""
        self.free[ids] = False
        self.room -= len(ids)
        hypotheses = self.candidates.hypotheses(ids)
        return Proposal(ids, hypotheses, values, price, None, n_priced)

    def nothing(self) -> Proposal:
        """An empty proposal."""
        none = np.zeros(0, dtype=np.intp)
        return Proposal(none, [], np.zeros((self.candidates.n_rows, 0)), 0.0, None, 0)


@dataclass(frozen=True)
class ForwardOracle:
    """One basis vector a step."""

    selection: Selection = "mp"
    n_candidates: int | None = 60
    max_columns: int | None = None
    seed: int = 0

    def start(self, problem: Problem) -> ForwardSearch:
        return ForwardSearch(self, Stock(problem, self.max_columns, self.seed))


class ForwardSearch:
    """What is left to choose from."""

    def __init__(self, oracle: ForwardOracle, stock: Stock) -> None:
        self._oracle, self._stock = oracle, stock

    def propose(self, run: Any) -> Proposal:
        stock, rule = self._stock, self._oracle.selection
        if stock.room < 1 or not stock.free.any():
            return stock.nothing()
        ids = self._candidates(run)
        values = stock.candidates.values(ids)
        prices = run.price_of(ids, values, "boost" if rule == "boost" else "mp")
        best = int(np.argmax(prices))
        if not prices[best] > 0:
            return self.propose(run) if stock.sort_out() else stock.nothing()
        return stock.offer(ids[[best]], values[:, [best]], float(prices[best]), len(ids))

    def bound(self, run: Any) -> float | None:
        return None

    def _candidates(self, run: ColumnPricer) -> IntArray:
        stock = self._stock
        if self._oracle.selection == "max-res":
            open_ = stock.free.reshape(-1, stock.candidates.n_centers)  # (kernels, centres)
            left = open_.any(axis=0)
            center = int(np.argmax(np.where(left, stock.residual(run), -1.0)))
            return np.flatnonzero(open_[:, center]) * stock.candidates.n_centers + center
        ids = np.flatnonzero(stock.free)
        count = 1 if self._oracle.selection == "random" else self._oracle.n_candidates
        if count is None or count >= len(ids):
            return ids
        return np.sort(stock.rng.choice(ids, count, replace=False))
