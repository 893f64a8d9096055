"""Multiple kernel learning: SVM and kernel weights alternate until the gap is closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kboost._typing import FloatArray
from kboost.columns.gram import MixtureFunction, kernel_matrices
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.outputs import solve_outputs
from kboost.core.stopping import (
    AnyOf,
    GapBelow,
    MaxIterations,
    StopReason,
    no_columns,
)
from kboost.core.trace import Step, Trace
from kboost.data.svm_data import SVMData
from kboost.exceptions import OutOfTimeError
from kboost.mkl.hessian import HessianSearch
from kboost.mkl.level import LevelSearch
from kboost.mkl.lp_norm import LpSearch
from kboost.mkl.silp import SilpSearch
from kboost.mkl.simple import SimpleSearch
from kboost.mkl.svm import MixtureSVM, MKLPoint, dual_norm

METHODS: dict[str, Callable[[MixtureSVM], WeightSearch]] = {
    "simple": SimpleSearch,
    "silp": SilpSearch,
    "level": LevelSearch,
    "hessian": HessianSearch,
}
_PATIENCE = 25  # steps that improve neither bound


class WeightSearch(Protocol):
    """A method that moves the kernel weights."""

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None if the method finds none."""


@dataclass(frozen=True)
class MKLPlan:
    """The settings of multiple kernel learning."""

    method: str  # one of METHODS; with p > 1, the closed form replaces it
    p: float  # norm of the kernel weights
    C: float
    tol: float
    max_iter: int
    n_jobs: int  # threads over the binary problems


@dataclass(frozen=True)
class MKLResult:
    """The best point of one binary problem, and how it was reached."""

    function: MixtureFunction
    point: MKLPoint
    trace: Trace
    reason: StopReason
    n_svms: int


class KernelWeighting(Method[Step]):
    """Kernel weights and support vector machine in turns."""

    trace: Trace

    def __init__(self, svm: MixtureSVM, method: str, p: float) -> None:
        """Start at equal weights; p = 1 for every method but the closed form.

        At p = 1 the closed form needs thousands of steps, so Newton's method replaces it.
        """
        P = svm.n_kernels
        self._svm, self._p = svm, p
        self._search: WeightSearch = (
            LpSearch(svm, p) if p > 1 else METHODS.get(method, HessianSearch)(svm)
        )
        self._started, self._bound = time.monotonic(), 0.0
        self._point = svm.at(np.full(P, P ** (-1.0 / p)))
        self.best = self._point
        self.trace = Trace()

    def advance(self) -> Step | StopReason:
        if self.trace:
            if _stalled(self.trace):
                return _no_descent(self.trace)
            point = self._search.step(self._point) if self._svm.n_kernels > 1 else None
            if point is None:
                return _no_descent(self.trace)
            self._point = point
        self.best = min(self.best, self._point, key=lambda point: point.upper)
        bound = self._point.lower_bound(self._p)
        self._bound = max(self._bound, bound, getattr(self._search, "bound", 0.0))
        return self._record()

    def _record(self) -> Step:
        """Columns are kernels here; the price is the relative descent along the gradient."""
        best = self.best
        descent = (dual_norm(best.quadratic, self._p) - float(best.theta @ best.quadratic)) / 2
        return Step(
            iteration=len(self.trace),
            n_columns=int(np.count_nonzero(best.theta)),
            objective=best.upper,
            bound=min(self._bound, best.upper),
            price=max(0.0, descent) / best.upper if best.upper > 0 else 0.0,
            n_priced=len(best.theta),
            seconds=time.monotonic() - self._started,
        )


def learn_mixtures(
    plan: MKLPlan,
    data: SVMData,
    deadline: Deadline,
    listeners: Callable[[int], Sequence[Listener]] = lambda output: (),
) -> list[MKLResult]:
    """Learn kernel weights and an SVM for each binary problem."""

    def solve(output: int, until: Deadline) -> MKLResult:
        problem = data.problems[output]
        rows, upper = problem.rows, plan.C * data.rows.weight[problem.rows]
        stop = AnyOf((GapBelow(plan.tol), MaxIterations(plan.max_iter)))
        X, centers = data.rows.X[rows], data.centers[rows]
        try:
            matrices = kernel_matrices(data.kernels, X, centers, until.check)
            svm = MixtureSVM(matrices, problem.signs, upper, plan.tol, until)
            weighting = KernelWeighting(svm, plan.method, plan.p)
        except OutOfTimeError:
            return _constant(len(data.kernels), plan.p, problem.signs, upper, until)
        reason = iterate(weighting, stop, deadline=until, listeners=listeners(output))
        return _result(weighting, svm, reason)

    return solve_outputs(solve, len(data.problems), deadline, plan.n_jobs)


def _result(weighting: KernelWeighting, svm: MixtureSVM, reason: StopReason) -> MKLResult:
    point = weighting.best
    support = np.flatnonzero(point.duals)
    coef = (svm.signs * point.duals)[support]
    function = MixtureFunction(support, coef, point.theta, point.bias)
    return MKLResult(function, point, weighting.trace, reason, svm.n_solved)


def _constant(
    n_kernels: int, p: float, signs: FloatArray, upper: FloatArray, deadline: Deadline
) -> MKLResult:
    """The model without the time for an SVM: equal weights, and the majority class."""
    theta, n = np.full(n_kernels, n_kernels ** (-1.0 / p)), len(signs)
    bias = float(signs @ upper / upper.sum())
    nothing, zeros = np.zeros(0), np.zeros(n_kernels)
    point = MKLPoint(theta, np.zeros(n), bias, zeros, np.zeros((n_kernels, n)), 0.0, np.inf)
    function = MixtureFunction(np.zeros(0, dtype=np.intp), nothing, theta, bias)
    return MKLResult(function, point, Trace(), no_columns(deadline), 0)


def _stalled(trace: Trace) -> bool:
    """Whether neither objective nor bound improved over the last steps."""
    if len(trace) <= _PATIENCE:
        return False
    before, now = trace[-1 - _PATIENCE], trace[-1]
    moved = before.objective > now.objective or (before.bound or 0.0) < (now.bound or 0.0)
    return not moved


def _no_descent(trace: Trace) -> StopReason:
    return StopReason(
        "stalled",
        "no step lowers the objective within rounding; it is within "
        f"{trace[-1].gap:.1e} of the optimum.",
    )
