"""Halfspaces as base learners: the classification LP (26) of SRE, then the best threshold.

The signs of the weights p are classes and their sizes the costs of an error (`sum_n |p_n| = 1`):

    minimise    delta sum_d |w_d| + (1 - delta) sum_n |p_n| zeta_n
    subject to  sign(p_n) (w.x_n + b) >= 1 - zeta_n,    zeta >= 0

This is a margin LP (solvers/margin_lp.py) with slack costs `|p_n| (1 - delta) / delta`. w is not 0
if and only if `delta < m / (1 + m)`, `m = max_d |sum_n p_n x_nd|`, so delta is given as the share
`sparsity` of that limit: near 1 few features enter, near 0 many (if p does not sum to 0, the
heavier side is scaled down for m). The threshold along w is then moved to where the price itself is
largest, on either side: the b of the LP is optimal for the costs of the LP only.

With a free offset a halfspace and its complement are equivalent, and the better one is proposed;
otherwise both may be (`both_sides`). If the price of the best halfspace is below `enough`, those
along single features are priced too: at a vertex the columns in use have an edge of 1 up to
rounding, and finding one of them again must not end the search. Price and bound hold for the
halfspaces searched (`relative`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.columns.halfspaces import HalfspaceSpace
from kboost.core.protocols import EdgePricer, Problem, Proposal
from kboost.solvers.margin_lp import ColumnShape, MarginData, MarginLP, SampleShape

_NEGLIGIBLE = 1e-9  # of the largest coefficient, and as a price: rounding


@dataclass(frozen=True)
class HalfspaceOracle:
    """One halfspace per step, or two with its complement.

    If the best price is below `enough`, halfspaces along single features are priced too.
    """

    sparsity: float = 0.7
    both_sides: bool = False
    max_columns: int | None = None
    enough: float = 1e-4

    def start(self, problem: Problem[HalfspaceSpace, object]) -> HalfspaceSearch:
        return HalfspaceSearch(self, problem)


class HalfspaceSearch:
    """The number of columns taken."""

    def __init__(self, oracle: HalfspaceOracle, problem: Problem[HalfspaceSpace, object]) -> None:
        self._oracle = oracle
        self._space = problem.columns
        self._deadline = problem.deadline
        self._n_taken = 0

    def propose(self, run: EdgePricer) -> Proposal:
        directions, cuts, edges = self._search(run)
        hypotheses, values = self._space.columns(directions, cuts, self._n_taken)
        self._n_taken += len(cuts)
        return Proposal(
            ids=self._n_taken - len(cuts) + np.arange(len(cuts)),
            hypotheses=hypotheses,
            values=values,
            price=max(0.0, float(run.price(edges).max(initial=0.0))),
            bound=run.bound(edges),
            n_priced=len(edges),
            relative=True,
        )

    def bound(self, run: EdgePricer) -> float | None:
        return run.bound(self._search(run)[2])

    def restore(self, proposal: Proposal) -> None:
        """Forget the last columns proposed; the search finds them again."""
        self._n_taken -= len(proposal.ids)

    def _search(self, run: EdgePricer) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Directions and thresholds of a positive price, and the edges of all halfspaces priced."""
        directions = self._direction(run.fit.weights)
        best = self._best_cut(directions, run)
        if np.max(run.price(best[2]), initial=0.0) > self._oracle.enough:
            return best
        singles = np.eye(self._space.rows.shape[1])
        return self._best_cut(np.concatenate([directions, singles]), run)

    def _best_cut(
        self, directions: FloatArray, run: EdgePricer
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The best halfspace along the directions, with its complement for `both_sides`.

        Empty if its price is not positive. The third value is the edges of all halfspaces priced.
        """
        space, weights = self._space, run.fit.weights
        both = np.concatenate([directions, -directions])
        edges, cuts = space.edges_of_cuts(space.rows @ both.T, weights)
        if not edges.size:
            return both[:0], np.zeros(0), np.zeros(0)
        prices = run.price(edges.ravel()).reshape(edges.shape)
        cut_number, column = np.unravel_index(int(np.argmax(prices)), prices.shape)
        sides = [(both[column], cuts[cut_number, column])]
        if self._oracle.both_sides:
            sides.append((-both[column], -cuts[cut_number, column]))
        w, cut = np.stack([s[0] for s in sides]), np.array([s[1] for s in sides])
        _, values = space.columns(w, cut, 0)
        own_edges = values.T @ weights
        kept = np.flatnonzero(run.price(own_edges) > _NEGLIGIBLE)[: self._room()]
        return w[kept], cut[kept], np.concatenate([edges.ravel(), own_edges])

    def _room(self) -> int:
        limit = self._oracle.max_columns
        return 2 if limit is None else limit - self._n_taken

    def _direction(self, weights: FloatArray) -> FloatArray:
        """The w of (26), (1, d); empty, (0, d), if there is nothing to separate."""
        rows, none = np.flatnonzero(weights), self._space.rows[:0]
        signs = np.sign(weights[rows])
        if not (signs > 0).any() or not (signs < 0).any():
            return none
        cost, columns = np.abs(weights[rows]) / np.abs(weights).sum(), self._space.rows[rows]
        up, down = cost[signs > 0].sum(), cost[signs < 0].sum()
        balance = np.where(signs > 0, min(1.0, down / up), min(1.0, up / down)) * cost
        largest_edge = float(np.abs((signs * balance) @ columns).max(initial=0.0))
        if largest_edge <= _NEGLIGIBLE:
            return none
        # (1 - delta) / delta at delta = sparsity * reach / (1 + reach)
        ratio = (1.0 + largest_edge) / (self._oracle.sparsity * largest_edge) - 1.0
        data = MarginData(signs, np.ones(len(rows)), ratio * cost, False, "free")
        lp: MarginLP = (SampleShape if len(rows) < columns.shape[1] else ColumnShape)(data)
        lp.extend(signs[:, None] * columns)
        w = lp.solve(self._deadline.remaining).coef
        largest = float(np.abs(w).max(initial=0.0))
        if largest == 0.0:
            return none
        return np.where(np.abs(w) > _NEGLIGIBLE * largest, w / largest, 0.0)[None, :]
