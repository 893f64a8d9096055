"""Boosted support vector machines for all binary problems of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.boosting.adaboost import AdaBoost
from kboost.boosting.rounds import (
    BoostedSVMs,
    BoostingRounds,
    RoundSettings,
    boost,
    constant_rounds,
)
from kboost.boosting.svm_ensemble import TINY, SVMEnsemble
from kboost.boosting.svm_learners import SVMLearners
from kboost.columns.gram import Gram, rows_within, sample_bytes
from kboost.core.deadline import Deadline, now
from kboost.core.iterate import Listener
from kboost.core.outputs import solve_outputs
from kboost.data.svm_data import SVMData
from kboost.exceptions import OutOfTimeError
from kboost.solvers.libsvm import STEPS_OF_A_VOTE, solve_dual

_MAX_DRAWN = 2.0**62  # rows per round, so that their number is an integer
_SAMPLE = 200  # rows whose kernel values are timed
_FEW_ROWS = 2_000  # up to here a round takes about a second
LEAST_BUDGET = 1 << 26  # bytes that a machine may take under any budget
_ROUND = 3  # a round may take this part of a time limit: 1 / 3


@dataclass(frozen=True)
class BoostingPlan:
    """The settings of boosted SVMs."""

    vote: bool  # the weighted vote of all SVMs of a round, or the best of them
    kernel_decay: float
    C: float
    sample_ratio: float
    max_iter: int
    tol: float  # of libsvm
    memory_budget: int
    n_jobs: int  # threads over the kernels of a round


class KernelUse(NamedTuple):
    """How a kernel was used: rounds it is in, its share of their weights, SVMs trained."""

    rounds: int
    weight: float
    trained: int


def boost_svms(
    plan: BoostingPlan,
    data: SVMData,
    seeds: IntArray,
    deadline: Deadline,
    listeners: Callable[[int], Sequence[Listener]] = lambda output: (),
) -> list[BoostedSVMs]:
    """Boost each binary problem in turn, with one seed and the listeners of each."""
    n_kernels = len(data.kernels)
    n_jobs = min(plan.n_jobs, n_kernels)
    drawn = [_distinct_rows(plan, data, problem.rows) for problem in data.problems]
    fit_in_memory = rows_in_memory(plan, data, max(drawn), deadline)
    grams = _GramOfRows(data, plan, deadline.check, min(max(drawn), fit_in_memory))
    with ThreadPool(n_jobs) if n_jobs > 1 else nullcontext() as pool:

        def solve(output: int, until: Deadline) -> BoostedSVMs:
            problem = data.problems[output]
            weight = data.rows.weight[problem.rows]
            n_drawn = _n_drawn(plan, weight)
            if drawn[output] > fit_in_memory:
                n_drawn = fit_in_memory
            adaboost = AdaBoost(problem.signs, weight)
            try:
                gram = grams.of(problem.rows)
                n_drawn = int(min(n_drawn, affordable(gram, until)))
            except OutOfTimeError:
                return constant_rounds(adaboost, n_kernels, until)

            def train(K: FloatArray, signs: FloatArray, upper: FloatArray) -> Any:
                share = until.remaining / (2 * n_kernels)
                return solve_dual(K, signs, upper, plan.tol, share, STEPS_OF_A_VOTE)

            method = BoostingRounds(
                SVMLearners(gram, problem.signs, plan.C, train),
                adaboost,
                n_kernels,
                RoundSettings(plan.vote, plan.kernel_decay, plan.max_iter, n_drawn),
                np.random.RandomState(seeds[output]),
                pool,
                n_jobs,
            )
            return boost(method, until, listeners(output))

        return solve_outputs(solve, len(data.problems), deadline, n_jobs=1)


def _n_drawn(plan: BoostingPlan, weight: FloatArray) -> int:
    """The rows that a round draws, with repetitions."""
    return max(2, round(min(plan.sample_ratio * float(weight.sum()), _MAX_DRAWN)))


def _distinct_rows(plan: BoostingPlan, data: SVMData, rows: IntArray) -> int:
    """The most distinct rows that a round may draw."""
    return min(_n_drawn(plan, data.rows.weight[rows]), len(rows))


def rows_in_memory(plan: BoostingPlan, data: SVMData, n_rows: int, deadline: Deadline) -> int:
    """The most rows of a support vector machine that fit into the memory budget.

    Fewer than the wanted ones are an error, but not under a time limit, which lowers their number
    anyway.
    """
    n_jobs = min(plan.n_jobs, len(data.kernels))
    needed = sample_bytes(data.kernels, n_rows, n_jobs)
    if needed <= max(plan.memory_budget, LEAST_BUDGET):
        return n_rows
    if deadline.seconds is None:
        raise ValueError(
            f"memory_budget must be at least {needed} bytes for support vector machines on "
            f"{n_rows} rows; got memory_budget={plan.memory_budget}."
        )
    return max(2, rows_within(data.kernels, max(plan.memory_budget, LEAST_BUDGET), n_jobs))


def affordable(gram: Gram, deadline: Deadline) -> float:
    """The number of rows that a round may draw so that there is time for a few rounds."""
    n = gram.n_rows
    if deadline.seconds is None or n <= _FEW_ROWS:
        return np.inf
    start, sample = now(), np.linspace(0, n - 1, _SAMPLE).astype(np.intp)
    for _ in gram.submatrices(range(len(gram.kernels)), sample):
        pass
    values = deadline.remaining / _ROUND / (now() - start) * _SAMPLE**2
    # s rows take s^2 values to train on and about s n / 2 at all rows
    return max(2, int(np.sqrt(n**2 / 16 + values) - n / 4))


class _GramOfRows:
    """The kernel matrices of a subset of the rows; one subset at a time is in memory."""

    def __init__(
        self, data: SVMData, plan: BoostingPlan, before_block: Callable[[], None], sample: int
    ) -> None:
        self._data, self._plan, self._before_block = data, plan, before_block
        self._sample = sample
        self._gram: Gram | None = None

    def of(self, rows: IntArray) -> Gram:
        """The matrices of these rows; those of all rows are computed once."""
        data = self._data
        if self._gram is None or len(rows) != data.rows.X.shape[0]:
            self._gram = None  # free the memory first
            X, centers = data.rows.X[rows], data.centers[rows]
            n_jobs = min(self._plan.n_jobs, len(data.kernels))
            self._gram = Gram(
                data.kernels,
                X,
                centers,
                self._plan.memory_budget,
                self._before_block,
                self._sample,
                n_jobs,
            )
        return self._gram


def assemble(data: SVMData, boosted: Sequence[BoostedSVMs]) -> SVMEnsemble:
    """One model of all problems."""
    outputs = [
        [
            ([replace(svm, support=problem.rows[svm.support]) for svm in svms], votes)
            for svms, votes in result.rounds
        ]
        for problem, result in zip(data.problems, boosted, strict=True)
    ]
    return SVMEnsemble.assemble(data.kernels, data.centers, outputs)


def kernel_usage(n_kernels: int, boosted: Sequence[BoostedSVMs]) -> list[KernelUse]:
    """How each kernel was used, over all problems."""
    rounds, weight = np.zeros(n_kernels, dtype=np.intp), np.zeros(n_kernels)
    for result in boosted:
        for (svms, votes), round_weight in zip(result.rounds, result.weights, strict=True):
            shares = np.abs(votes) / max(float(np.abs(votes).sum()), TINY)
            for svm, share in zip(svms, shares, strict=True):
                if len(svm.support):
                    rounds[svm.kernel] += 1
                    weight[svm.kernel] += round_weight * share
    trained = sum((result.n_trained for result in boosted), np.zeros(n_kernels, dtype=np.intp))
    columns = zip(rounds.tolist(), weight.tolist(), trained.tolist(), strict=True)
    return [KernelUse(*use) for use in columns]
