"""Boosted support vector machines for all binary problems of a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from kboost._typing import IntArray
from kboost.boosting.adaboost import AdaBoost
from kboost.boosting.rounds import BoostedSVMs, BoostingRounds, RoundSettings, boost
from kboost.boosting.svm_ensemble import TINY, SVMEnsemble
from kboost.boosting.svm_learners import SVMLearners
from kboost.columns.gram import Gram
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.outputs import solve_outputs
from kboost.data.svm_data import SVMData
from kboost.solvers.libsvm import solve_dual

_MAX_DRAWN = 2.0**62  # rows per round, so that their number is an integer


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
    grams = _GramOfRows(data, plan.memory_budget)
    with ThreadPoolExecutor(n_jobs) if n_jobs > 1 else nullcontext() as pool:

        def solve(output: int, until: Deadline) -> BoostedSVMs:
            problem = data.problems[output]
            weight = data.rows.weight[problem.rows]
            n_drawn = min(plan.sample_ratio * float(weight.sum()), _MAX_DRAWN)
            method = BoostingRounds(
                SVMLearners(
                    grams.of(problem.rows), problem.signs, plan.C, partial(solve_dual, tol=plan.tol)
                ),
                AdaBoost(problem.signs, weight),
                n_kernels,
                RoundSettings(plan.vote, plan.kernel_decay, plan.max_iter, max(2, round(n_drawn))),
                np.random.RandomState(seeds[output]),
                pool,
                n_jobs,
            )
            return boost(method, until, listeners(output))

        return solve_outputs(solve, len(data.problems), deadline, n_jobs=1)


class _GramOfRows:
    """The kernel matrices of a subset of the rows; one subset at a time is in memory."""

    def __init__(self, data: SVMData, memory_budget: int) -> None:
        self._data, self._budget = data, memory_budget
        self._gram: Gram | None = None

    def of(self, rows: IntArray) -> Gram:
        """The matrices of these rows; those of all rows are computed once."""
        data = self._data
        if self._gram is None or len(rows) != data.rows.X.shape[0]:
            self._gram = None  # free the memory first
            X, centers = data.rows.X[rows], data.centers[rows]
            self._gram = Gram(data.kernels, X, centers, self._budget)
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
