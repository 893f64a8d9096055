"""Active kernels: the centre and width of a Gaussian column are optimised, not picked from a list.

SRE (24): maximise `|edge| = |sum_n p_n k(x_n)|` over the centre s and the width (the library is
infinite; see columns/active.py). Each step

1. scans the library of Gaussians at the rows, and starts from the best centres of every width, at
   least one width apart, and from the columns the model uses;
2. moves the centres by the fixed point (25), `s <- sum_n q_n x_n`, `q_n ~ p_n k(x_n)`. For p of
   both signs this is not an ascent method: a move is accepted only if the edge rises, else halved;
3. moves centres and widths by gradient ascent (solvers/gradient_ascent.py), all starts at once;
   after a few steps only the best continue, finally twice as many as may be proposed;
4. if no column of a sufficient price was found, repeats the search from more starts, and then from
   very many: a narrow column between two rows may have an edge that neither row shows, and the fit
   must not end because the search was too short.

Centres stay in the bounding box of the rows and widths in a closed interval: Corollary 6 requires a
compact set. The maximum is local: price and bound hold for the points searched (`relative`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.active import ActiveLibrary
from kboost.core.coefficients import in_use
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.protocols import EdgePricer, Problem, Proposal
from kboost.oracles.candidates import distinct
from kboost.solvers.gradient_ascent import maximise

_FIXED_POINTS = 1  # iterations of (25) before the gradient
_FIRST_STEPS, _FEW_STEPS = 16, 4  # gradient steps of all starts, and if these are very many
# Factors on the starts and on the steps, and the price that ends the search.
_ROUNDS = ((1, 1, 1e-3), (4, 2, 1e-4), (16, 2, 0.0))
_NEAR = 0.4  # in widths: nearer columns lead to the same maximum
_SAME = 1e-3  # columns with a correlation above 1 - _SAME count as equal


@dataclass(frozen=True)
class ActiveOracle:
    """Search centre and width from `n_starts` points per width; otherwise as ScanOracle."""

    columns_per_step: int = 1
    max_columns: int | None = None
    n_starts: int = 16
    max_steps: int = 30
    tol: float = 1e-6
    least: float = 0.0  # columns of a lower price are proposed only if none has a higher one

    def start(self, problem: Problem[ActiveLibrary, object]) -> ActiveSearch:
        return ActiveSearch(self, problem.columns, problem.deadline)


class ActiveSearch:
    """The columns taken, as points (centre, log width) to start from."""

    def __init__(
        self, oracle: ActiveOracle, library: ActiveLibrary, deadline: Deadline = NO_LIMIT
    ) -> None:
        self._oracle, self._deadline = oracle, deadline
        self._library = library
        self._taken = np.zeros((0, len(library.lower)))

    def propose(self, run: EdgePricer) -> Proposal:
        library, weights = self._library, run.fit.weights
        scanned = library.edges(weights)
        theta, edges = self._search(run, scanned)
        prices = run.price(edges)
        values, scales = library.values_at(theta)
        rms = np.sqrt(library.sample_weight @ values**2 / library.sample_weight.sum())
        chosen = self._choose(prices, values, rms)
        first = len(self._taken)
        self._taken = np.concatenate([self._taken, theta[chosen]])
        all_edges = np.concatenate([scanned, edges])
        return Proposal(
            ids=first + np.arange(len(chosen)),
            hypotheses=library.hypotheses_at(theta[chosen], scales[chosen], first),
            values=values[:, chosen],
            price=max(0.0, float(run.price(all_edges).max())),
            bound=run.bound(all_edges),
            n_priced=len(all_edges),
            relative=True,
        )

    def bound(self, run: EdgePricer) -> float | None:
        scanned = self._library.edges(run.fit.weights)
        _, edges = self._search(run, scanned)
        return run.bound(np.concatenate([scanned, edges]))

    def restore(self, proposal: Proposal) -> None:
        """Forget the last columns proposed; the search finds them again."""
        self._taken = self._taken[: len(self._taken) - len(proposal.ids)]

    def _search(self, run: EdgePricer, scanned: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points and their edges; with more starts until one has a sufficient price."""
        for starts_factor, effort, enough in _ROUNDS:
            starts = self._starts(run, scanned, starts_factor * self._oracle.n_starts)
            points, edges = self._refine(starts, run.fit.weights, effort)
            if np.max(run.price(edges), initial=0.0) > enough:
                break
        return points, edges

    def _starts(self, run: EdgePricer, scanned: FloatArray, count: int) -> FloatArray:
        """Points to start from: the `count` best per width, and the columns in use."""
        library = self._library
        prices = np.where(library.rms > 0, run.price(scanned), -1.0)
        points = [self._apart(stratum, prices, count) for stratum in library.strata]
        points.append(self._in_use(np.abs(run.fit.coef)))
        return np.concatenate(points)

    def _in_use(self, share: FloatArray) -> FloatArray:
        """The columns in use; of those near each other the one with the largest coefficient."""
        used = np.flatnonzero(in_use(share))
        remaining = self._taken[used[np.argsort(-share[used], kind="stable")]]
        points = []
        while len(remaining):
            points.append(remaining[0])
            distance = (remaining - remaining[0]) ** 2
            distance[:, :-1] /= np.exp(2 * remaining[0, -1])
            remaining = remaining[distance.sum(axis=1) > _NEAR**2]
        return np.array(points).reshape(-1, self._taken.shape[1])

    def _apart(self, stratum: slice, prices: FloatArray, count: int) -> FloatArray:
        """The best columns of one width, none within one width of a better one."""
        points = self._library.as_points(np.arange(stratum.start, stratum.stop))
        remaining, picked = prices[stratum].copy(), []
        for _ in range(count):
            best = int(np.argmax(remaining))
            if remaining[best] <= -1.0:
                break
            picked.append(best)
            distance = ((points[:, :-1] - points[best, :-1]) ** 2).sum(axis=1)
            remaining[distance <= np.exp(2 * points[best, -1])] = -1.0
        return points[picked]

    def _refine(
        self, start: FloatArray, weights: FloatArray, effort: int
    ) -> tuple[FloatArray, FloatArray]:
        """Points where the search ended, and their edges; `effort` multiplies the steps allowed."""
        library = self._library
        theta = np.clip(start, library.lower, library.upper)
        edge, _, fixed = library.edges_at(theta, weights)
        sign = np.where(edge < 0, -1.0, 1.0)
        for _ in range(effort * _FIXED_POINTS):
            trial = np.clip(np.column_stack([fixed, theta[:, -1]]), library.lower, library.upper)
            trial_edge, _, further = library.edges_at(trial, weights)
            better = sign * trial_edge > sign * edge
            fixed[~better] = 0.5 * (theta[~better, :-1] + fixed[~better])
            theta[better], edge[better], fixed[better] = (
                trial[better],
                trial_edge[better],
                further[better],
            )
        value, kept, before = sign * edge, np.arange(len(theta)), 0
        for steps, count in self._stages(len(theta), effort):
            kept = kept[np.argsort(-value[kept], kind="stable")[:count]]
            theta[kept], value[kept] = self._climb(theta[kept], sign[kept], weights, steps - before)
            before = steps
        return theta, sign * value

    def _stages(self, n_starts: int, effort: int) -> list[tuple[int, int]]:
        """Stages of the ascent: total steps, and how many of the best points get that far."""
        oracle = self._oracle
        stages = [(_FIRST_STEPS, n_starts)]
        if effort > 1:  # very many starts: most can be dropped early
            stages = [(_FEW_STEPS, n_starts), (_FIRST_STEPS, n_starts // 4)]
        return [*stages, (effort * oracle.max_steps, 2 * oracle.columns_per_step)]

    def _climb(
        self, theta: FloatArray, sign: FloatArray, weights: FloatArray, max_steps: int
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient ascent of `sign * edge` from every point."""
        library = self._library
        unit = np.ones_like(theta)  # a centre moves in units of its width
        unit[:, :-1] = np.exp(theta[:, -1:])

        def functions(points: FloatArray, which: IntArray) -> tuple[FloatArray, FloatArray]:
            self._deadline.check()
            trial_edge, slope, _ = library.edges_at(points * unit[which], weights)
            signs = sign[which]
            return signs * trial_edge, signs[:, None] * slope * unit[which]

        end, value = maximise(
            functions,
            theta / unit,
            library.lower / unit,
            library.upper / unit,
            max_steps=max_steps,
            tol=self._oracle.tol,
        )
        return end * unit, value

    def _choose(self, prices: FloatArray, values: FloatArray, rms: FloatArray) -> IntArray:
        """The best columns of a positive price, each distinct from the better ones."""
        oracle = self._oracle
        room = len(prices)
        if oracle.max_columns is not None:
            room = oracle.max_columns - len(self._taken)
        least = oracle.least if np.max(prices, initial=0.0) > oracle.least else 0.0
        usable = np.flatnonzero((prices > least) & (rms > 0))
        order = usable[np.argsort(-prices[usable] / rms[usable], kind="stable")]
        different = distinct(values[:, order], 1 - _SAME)
        return order[different[: min(room, oracle.columns_per_step)]]
