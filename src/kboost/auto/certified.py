"""Column generation as an engine of the search: a small model with a certificate.

The library has every kernel of a mixture of learned kernels at every distinct row. With columns
k_j of root mean square s_j and f = sum_j a_j k_j + b, the problem is that of the KernelBoost
estimators:

    labels    minimise  sum_j s_j |a_j| + C sum_i w_i max(0, 1 - y_i f(x_i)),   one per class
    numbers   minimise  sum_j s_j |a_j| + C sum_i w_i (max(0, |y_i - f(x_i)| - e) + e/2),   e >= 0

Column generation adds columns until no other one has a price worth paying. Its duals u_i, scaled so
that |sum_i u_i k_j(x_i)| <= s_j for every column of the library, are a point of the dual problem:
their value is a lower bound of the optimum over the whole library, and `dual_gap_` the relative
distance of the objective from it.

C rises on a path that all folds follow. Each value gives a number of columns and values at the rows
left out, which compete with joint fits of few basis vectors (auto/basis_size.py). The path ends
when the error has not fallen for a few values, or when there are too many columns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.auto.final_fit import CUT_SHORT, FITTED
from kboost.auto.trial import Comparison, SizeTrial
from kboost.core.coefficients import in_use
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.stopping import StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.exceptions import OutOfTimeError, SolverError
from kboost.kernels.base import Kernel
from kboost.metric.compare import Judged
from kboost.metric.rounds import Fold
from kboost.plans.library import has_columns
from kboost.plans.margin import fit_margin
from kboost.plans.margin_path import start_path
from kboost.plans.margin_plan import MarginFit, MarginPlan
from kboost.plans.training_data import TrainingData
from kboost.selection.c_path import MAX_VALUES, RATIO
from kboost.selection.path_fit import PathFit

_PATIENCE = 4  # values of C without a lower error
_NEAR = 0.05  # gap up to which a model stands although the fit was cut short
FAILED = "solver"  # the rule of a solver that failed; a joint fit may replace it
_FOLLOWED = StopReason("path", "the error has not fallen, or there are too many columns.")
_NO_COLUMNS = StopReason("path", "there are no columns.")

# The plan and the rows of a KernelBoost estimator, from kernels, rows, targets (n, q) and weights
Problem = Callable[
    [Sequence[Kernel], Any, FloatArray, FloatArray], tuple[Any, MarginPlan, TrainingData]
]


class CostTrials(Method[SizeTrial]):
    """One step solves the problem of every fold at the next value of C."""

    trace: list[SizeTrial]

    def __init__(
        self,
        problem: Problem,
        mixture: Sequence[Judged],
        folds: Sequence[Fold],
        comparison: Comparison,
        *,
        most: int,
        deadline: Deadline = NO_LIMIT,
    ) -> None:
        self._problem, self._mixture, self._folds = problem, mixture, folds
        self._comparison, self._most, self._deadline = comparison, most, deadline
        self._paths: list[PathFit] = []
        self._shifts: list[float] = []  # taken from the targets of each fold
        self._first = np.inf
        self.trace = []

    def advance(self) -> SizeTrial | StopReason:
        """Solve for the next value of C."""
        try:
            return self._next()
        except SolverError as error:  # joint fits are left
            return _failed(error)

    def _next(self) -> SizeTrial | StopReason:
        if not self._paths:
            pairs = [self._path(fold) for fold in self._folds]
            self._paths, self._shifts = [path for path, _ in pairs], [shift for _, shift in pairs]
            self._first = min(path.first_cost for path in self._paths)
        if not np.isfinite(self._first):
            return _NO_COLUMNS
        C = float(self._first * RATIO ** (len(self.trace) + 1))  # the first has no columns
        models = []
        for path in self._paths:
            results = path.solve(C).results
            models.append(AdditiveModel.stack([(r.hypotheses, r.fit) for r in results]))
        parts = zip(models, self._folds, self._shifts, strict=True)
        values = np.concatenate([m.decision(fold.X_left_out) + shift for m, fold, shift in parts])
        n_columns = int(np.ceil(np.mean([_n_in_use(model.coef) for model in models])))
        return self._comparison.trial(n_columns, values, C)

    def limit(self, trace: Sequence[SizeTrial]) -> StopReason | None:
        """The stop rule of the path."""
        best = int(np.argmin([trial.error for trial in trace]))
        ends = len(trace) - 1 - best >= _PATIENCE or len(trace) == MAX_VALUES
        return _FOLLOWED if ends or trace[-1].n_columns > self._most else None

    def _path(self, fold: Fold) -> tuple[PathFit, float]:
        """The path of a fold, and what its problem takes from the targets."""
        kernels = [judged.kernel(fold.X, fold.weight) for judged in self._mixture]
        _, plan, data = self._problem(kernels, fold.X, fold.targets + fold.mean, fold.weight)
        library = plan.library.build(data.rows, self._deadline, among=len(self._folds))
        if not has_columns(library):
            raise OutOfTimeError("the time limit is reached.")
        return start_path(plan, library, data.rows, self._deadline), plan.shift


def _failed(error: SolverError) -> StopReason:
    return StopReason(FAILED, f"column generation failed: {error}")


def _n_in_use(coef: FloatArray) -> int:
    """Columns with a coefficient, in some output, that is not negligible there."""
    return int(np.count_nonzero(in_use(coef).any(axis=1)))


@dataclass(frozen=True)
class CertifiedResult:
    """A model of column generation: the estimator whose problem it solves, the plan and the fit."""

    estimator: Any
    plan: MarginPlan
    fit: MarginFit
    reason: StopReason

    @property
    def model(self) -> AdditiveModel:
        """The sum of the columns."""
        return self.fit.model


class CertifiedFit(Method[str]):
    """One step solves the problem of all rows."""

    def __init__(
        self, plan: MarginPlan, data: TrainingData, listeners: Sequence[Listener] = ()
    ) -> None:
        self._plan, self._data, self._listeners = plan, data, listeners
        self.fit: MarginFit | None = None
        self.trace: list[str] = []

    def advance(self) -> str | StopReason:
        """Solve it; the reason if it was cut short."""
        if self.fit is not None:
            return FITTED
        try:
            self.fit = fit_margin(self._plan, self._data, lambda number, snapshot: self._listeners)
        except SolverError as error:  # a joint fit replaces it
            return _failed(error)
        reasons = [result.reason for result in self.fit.results]
        ends = (*CUT_SHORT, FAILED)
        cut = next((reason for reason in reasons if reason.rule in ends), None)
        return cut or "column generation is complete"


def fit_certified(
    problem: Problem,
    kernels: Sequence[Kernel],
    X: Any,
    rows: IndexedRows,
    C: float,
    *,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> tuple[CertifiedResult | None, StopReason]:
    """Solve the problem of all rows; no model if something ends the fit far from the optimum."""
    estimator, plan, data = problem(kernels, X[rows.order], rows.targets, rows.weight)
    estimator.set_params(C=C)
    plan = replace(plan, C=C, calibration=None, max_seconds=deadline.seconds)
    if listeners:
        plan = replace(plan, n_jobs=1)  # they are called with one step at a time
    method = CertifiedFit(plan, data, listeners)
    reason = iterate(method, level=logging.DEBUG)
    if method.fit is None:
        return None, reason
    if reason.rule in (*CUT_SHORT, FAILED):
        gap = max(np.inf if r.gap is None else r.gap for r in method.fit.results)
        if gap > _NEAR:
            return None, reason
        fitted = f"{method.fit.model.n_columns} columns, gap {gap:.1%},"
        words = CUT_SHORT.get(reason.rule, "a solver failed: {} are fitted.")
        reason = StopReason(reason.rule, words.format(fitted))
    return CertifiedResult(estimator, plan, method.fit, reason), reason
