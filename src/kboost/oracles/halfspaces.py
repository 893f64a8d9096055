"""Halfspaces as base learners: the classification LP (26) of SRE, then the best cut.

The signs of the weights p are classes, their sizes the costs of a mistake (`sum_n |p_n| = 1`):

    minimise    delta sum_d |w_d| + (1 - delta) sum_n |p_n| zeta_n
    subject to  sign(p_n) (w.x_n + b) >= 1 - zeta_n,    zeta >= 0

It is a margin LP (solvers/margin_lp.py) with slack prices `|p_n| (1 - delta) / delta`. w is not 0 just if
`delta < m / (1 + m)`, `m = max_d |sum_n p_n x_nd|`, so delta is given as the share `sparsity` of
that: near 1 few features enter, near 0 many (where p does not sum to 0, the heavier side is scaled
down for m). Along w the cut is then put where the price itself is largest, on either side: the
LP's b is the best one for its own costs only.

With a free offset a halfspace and its complement say the same, and the better one is offered;
otherwise both may be (`both_sides`). If the LP's halfspace is hardly worth its price, those along
single features are looked at too: at a vertex the columns in use have an edge of 1 up to rounding,
and one of them, found again, must not end the search. Price and bound are relative to this search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.columns.halfspaces import HalfspaceSpace
from kboost.core.protocols import MasterRun, Problem, Proposal
from kboost.solvers.margin_lp import ColumnShape, MarginData, MarginLP, SampleShape

_NOTHING = 1e-9  # of the largest coefficient, and as a price: rounding


@dataclass(frozen=True)
class HalfspaceOracle:
    """One halfspace a round, or two: with its complement.

    `enough` is the price that is: below it the search goes on to single features.
    """

    sparsity: float = 0.7
    both_sides: bool = False
    max_columns: int | None = None
    enough: float = 1e-4

    def start(self, problem: Problem) -> HalfspaceSearch:
        return HalfspaceSearch(self, problem)


class HalfspaceSearch:
    """Counts what was taken."""

    def __init__(self, oracle: HalfspaceOracle, problem: Problem) -> None:
        self._oracle = oracle
        self._space: HalfspaceSpace = problem.columns
        self._deadline = problem.deadline
        self._n_taken = 0

    def propose(self, run: MasterRun) -> Proposal:
        directions, cuts, seen = self._search(run)
        hypotheses, values = self._space.columns(directions, cuts, self._n_taken)
        self._n_taken += len(cuts)
        return Proposal(
            ids=self._n_taken - len(cuts) + np.arange(len(cuts)),
            hypotheses=hypotheses,
            values=values,
            price=max(0.0, float(run.price(seen).max(initial=0.0))),
            bound=run.bound(seen),
            n_priced=len(seen),
            relative=True,
        )

    def bound(self, run: MasterRun) -> float | None:
        return run.bound(self._search(run)[2])

    def restore(self, proposal: Proposal) -> None:
        """Forget the last columns offered; they are found again."""
        self._n_taken -= len(proposal.ids)

    def _search(self, run: MasterRun) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Directions and cuts worth their price, and the edges of all that were looked at."""
        directions = self._direction(run.fit.weights)
        found = self._best_cut(directions, run)
        if np.max(run.price(found[2]), initial=0.0) > self._oracle.enough:
            return found
        singles = np.eye(self._space.rows.shape[1])
        return self._best_cut(np.concatenate([directions, singles]), run)

    def _best_cut(
        self, directions: FloatArray, run: MasterRun
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The best halfspace across some directions, with its complement if wanted.

        None if it is not worth its price. Returned too: the edges of all the halfspaces.
        """
        space, weights = self._space, run.fit.weights
        both = np.concatenate([directions, -directions])
        edges, cuts = space.edges_of_cuts(space.rows @ both.T, weights)
        if not edges.size:
            return both[:0], np.zeros(0), np.zeros(0)
        prices = run.price(edges.ravel()).reshape(edges.shape)
        place, column = np.unravel_index(int(np.argmax(prices)), prices.shape)
        sides = [(both[column], cuts[place, column])]
        if self._oracle.both_sides:
            sides.append((-both[column], -cuts[place, column]))
        w, cut = np.stack([s[0] for s in sides]), np.array([s[1] for s in sides])
        _, values = space.columns(w, cut, 0)
        own = values.T @ weights
        worth = np.flatnonzero(run.price(own) > _NOTHING)[: self._room()]
        return w[worth], cut[worth], np.concatenate([edges.ravel(), own])

    def _room(self) -> int:
        limit = self._oracle.max_columns
        return 2 if limit is None else limit - self._n_taken

    def _direction(self, weights: FloatArray) -> FloatArray:
        """The w of (26), (1, d); none, (0, d), if there is nothing to separate."""
        rows, none = np.flatnonzero(weights), self._space.rows[:0]
        signs = np.sign(weights[rows])
        if not (signs > 0).any() or not (signs < 0).any():
            return none
        cost, columns = np.abs(weights[rows]) / np.abs(weights).sum(), self._space.rows[rows]
        up, down = cost[signs > 0].sum(), cost[signs < 0].sum()
        balance = np.where(signs > 0, min(1.0, down / up), min(1.0, up / down)) * cost
        reach = float(np.abs((signs * balance) @ columns).max(initial=0.0))
        if reach <= _NOTHING:
            return none
        # (1 - delta) / delta at delta = sparsity * reach / (1 + reach)
        ratio = (1.0 + reach) / (self._oracle.sparsity * reach) - 1.0
        data = MarginData(signs, np.ones(len(rows)), ratio * cost, False, "free")
        lp: MarginLP = (SampleShape if len(rows) < columns.shape[1] else ColumnShape)(data)
        lp.extend(signs[:, None] * columns)
        w = lp.solve(self._deadline.remaining).coef
        largest = float(np.abs(w).max(initial=0.0))
        if largest == 0.0:
            return none
        return np.where(np.abs(w) > _NOTHING * largest, w / largest, 0.0)[None, :]
