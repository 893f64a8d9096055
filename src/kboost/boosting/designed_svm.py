"""Support vector machines on designed kernels (kernel_design.py), one per binary problem.

The designed kernel is `K(x, x') = scale sum_t alpha_t h_t(x) h_t(x')`. With the duals u of the
machine and v = s u, its function is a function of the base kernels k_p again:

    f(x) = sum_t scale alpha_t (v'h_t) h_t(x) + bias,     h_t(x) = sum_p k_p(x, centers) coef_t
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.boosting.kernel_design import DesignedKernel, design, most_rank
from kboost.columns.gram import MixtureFunction, kernel_sum
from kboost.core.deadline import Deadline, now
from kboost.core.iterate import Listener
from kboost.core.outputs import solve_outputs
from kboost.core.rounds import Rounds
from kboost.core.stopping import StopReason, no_columns
from kboost.data.svm_data import SVMData
from kboost.exceptions import OutOfTimeError
from kboost.kernels.base import Kernel
from kboost.solvers.libsvm import solve_dual

_LEAST_SECONDS = 0.2  # for the SVM on the designed kernel
_FIRST, _LAST = 1.2, 0.5  # a round and the SVM at the end, in passes over all pairs of rows
_PAIR = 5e-8  # seconds of a pass per pair of rows, at least
_FLOPS = 5e9  # of a factorisation, per second


@dataclass(frozen=True)
class DesignPlan:
    """The settings of kernel design."""

    loss: str
    max_iter: int
    C: float
    scaling: str  # "mean" or "trace" of the designed kernel
    tol: float  # of libsvm
    n_jobs: int  # threads over the binary problems


@dataclass(frozen=True)
class DesignResult:
    """The SVM of one binary problem on its designed kernel."""

    function: MixtureFunction
    kernel: DesignedKernel
    objective: float  # of the SVM's dual
    trace: Rounds
    reason: StopReason


def fit_designed_svms(
    plan: DesignPlan,
    data: SVMData,
    deadline: Deadline,
    listeners: Callable[[int], Sequence[Listener]] = lambda output: (),
) -> list[DesignResult]:
    """Design a kernel for each binary problem and fit an SVM on it."""

    def solve(output: int, until: Deadline) -> DesignResult:
        problem = data.problems[output]
        rows, signs = problem.rows, problem.signs
        X, centers, weight = data.rows.X[rows], data.centers[rows], data.rows.weight[rows]
        try:
            base: list[Any] = [*_kernel_in_time(data.kernels, X, centers, until)]
        except OutOfTimeError:
            return _constant(len(data.kernels), signs, weight, until)
        kernel = design(  # which releases the matrix as soon as it can
            base.pop(0), signs, weight, plan.loss, plan.max_iter, deadline=base[0],
            listeners=listeners(output),
        )  # fmt: skip
        weights = kernel.weights * _scale(kernel, weight, plan.scaling)
        K = np.ascontiguousarray((kernel.values * weights) @ kernel.values.T)
        seconds_left = max(until.remaining, _LEAST_SECONDS)
        duals, bias, _ = solve_dual(K, signs, plan.C * weight, plan.tol, seconds_left)
        v = signs * duals
        coef = kernel.coef @ (weights * (v @ kernel.values))
        function = MixtureFunction(kernel.centers, coef, np.ones(len(data.kernels)), bias)
        objective = float(duals.sum() - v @ K @ v / 2)
        return DesignResult(function, kernel, objective, kernel.trace, kernel.reason)

    return solve_outputs(solve, len(data.problems), deadline, plan.n_jobs)


def _kernel_in_time(
    kernels: Sequence[Kernel], X: Any, centers: Any, deadline: Deadline
) -> tuple[FloatArray, Deadline]:
    """The base kernel between all rows, and the end of the time for rounds.

    Raises if the time left would not do for a round and the SVM.
    """
    start, n = now(), X.shape[0]
    K = kernel_sum(kernels, X, centers, deadline.check)
    if deadline.seconds is None:
        return K, deadline
    a_pass, seconds_left = max(now() - start, _PAIR * n * n), deadline.remaining
    first = _FIRST * a_pass + n * min(n, most_rank(kernels, X, n)) ** 2 / _FLOPS
    if seconds_left < first + _LAST * a_pass:
        raise OutOfTimeError("no time is left for a round.")
    return K, deadline.share(seconds_left / (seconds_left - _LAST * a_pass))


def _constant(
    n_kernels: int, signs: FloatArray, weight: FloatArray, deadline: Deadline
) -> DesignResult:
    """The model without the time for a kernel: the majority class."""
    none, bias = np.zeros(0, dtype=np.intp), float(signs @ weight / weight.sum())
    function = MixtureFunction(none, np.zeros(0), np.ones(n_kernels), bias)
    reason, no_columns_yet = no_columns(deadline), np.zeros((0, 0))
    kernel = DesignedKernel(
        none, no_columns_yet, np.zeros((len(signs), 0)), np.zeros(0), np.ones(1), Rounds(), reason
    )
    return DesignResult(function, kernel, 0.0, kernel.trace, reason)


def _scale(kernel: DesignedKernel, weight: FloatArray, scaling: str) -> float:
    """The factor that gives the designed kernel a mean diagonal, or a trace, of 1."""
    trace = float(weight @ (kernel.values**2 @ kernel.weights))
    total = float(weight.sum()) if scaling == "mean" else 1.0
    return total / trace if trace > 0 else 1.0
