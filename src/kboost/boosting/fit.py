"""Boosted support vector machines for all binary problems of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

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
from kboost.columns.gram import Gram
from kboost.core.deadline import Deadline, now
from kboost.core.iterate import Listener
from kboost.core.outputs import solve_outputs
from kboost.data.svm_data import SVMData
from kboost.exceptions import OutOfTimeError
from kboost.solvers.libsvm import solve_dual

_MAX_DRAWN = 2.0**62  # rows per round, so that their number is an integer
_SAMPLE = 200  # rows whose kernel values are timed
_FEW_ROWS = 2_000  # up to here a round takes about a second
_ROUND = 3  # a round may take one part in so many of a limited time


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
    grams = _GramOfRows(data, plan.memory_budget, deadline.check)
    with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:

        def solve(output: int, until: Deadline) -> BoostedSVMs:
            problem = data.problems[output]
            weight = data.rows.weight[problem.rows]
            n_drawn = max(2, round(min(plan.sample_ratio * float(weight.sum()), _MAX_DRAWN)))
            adaboost = AdaBoost(problem.signs, weight)
            try:
                gram = grams.of(problem.rows)
                n_drawn = int(min(n_drawn, affordable(gram, until)))
            except OutOfTimeError:
                return constant_rounds(adaboost, n_kernels, until)

            def train(K: FloatArray, signs: FloatArray, upper: FloatArray) -> Any:
                share = until.remaining / (2 * n_kernels)
                return solve_dual(K, signs, upper, plan.tol, share)

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

    def __init__(self, data: SVMData, memory_budget: int, before_block: Callable[[], None]) -> None:
        self._data, self._budget, self._before_block = data, memory_budget, before_block
        self._gram: Gram | None = None

    def of(self, rows: IntArray) -> Gram:
        """The matrices of these rows; those of all rows are computed once."""
        data = self._data
        if self._gram is None or len(rows) != data.rows.X.shape[0]:
            self._gram = None  # free the memory first
            X, centers = data.rows.X[rows], data.centers[rows]
            self._gram = Gram(data.kernels, X, centers, self._budget, self._before_block)
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
