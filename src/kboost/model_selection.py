"""The whole path of models over C, each point the optimum for its C.

The search and the solvers stay warm from one C to the next, as they do for `C="auto"`; here each
point is solved on all rows, as `fit` would solve it, and kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, overload

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning

from kboost._estimator.progress import show_progress
from kboost._rules import COUNT, POSITIVE
from kboost._typing import FloatArray, IntArray
from kboost.columns.hypothesis import stack_rows
from kboost.core.deadline import Deadline, now
from kboost.core.stopping import INTERRUPTED
from kboost.data.merged_rows import MergedRows
from kboost.estimators._kernel_boost import (
    MarginEstimator,
    ValidationInput,
    prepare,
    set_fitted,
    solver_settings,
)
from kboost.exceptions import OutOfTimeError, SolverError
from kboost.kernels.base import Kernel
from kboost.plans.margin import (
    calibrated,
    constants_of,
    limited,
    with_learned_kernels,
    without_columns,
)
from kboost.plans.margin_path import follow_path
from kboost.plans.margin_plan import MarginFit, MarginPlan, with_results
from kboost.plans.training_data import TrainingData, check_prices
from kboost.selection.c_path import RATIO, last_best
from kboost.selection.path_fit import PathFit, PathPoint
from kboost.settings import ActiveGaussians, Barrier, EarlyStopping, Halfspaces
from kboost.solvers.threads import blas_threads_for

_COUNT = 10  # values of C where none are given


@dataclass(frozen=True, eq=False)
class PathResult:
    """Models along a rising C, over the union of their columns, as :func:`path` returns them.

    Parameters
    ----------
    C : ndarray of shape (n_C,)
        The values of C, rising.
    coef : ndarray of shape (n_C, n_columns) or (n_C, n_columns, n_classes)
        Coefficients of the unscaled columns in the order of `kernels`; 0 for unused columns.
    intercept : ndarray of shape (n_C,) or (n_C, n_classes)
        The intercepts.
    kernels : tuple of Kernel
        The library with its fitted widths.
    kernel_of_column : ndarray of shape (n_columns,)
        Index in `kernels` of each column's kernel.
    centers : ndarray or CSR matrix of shape (n_columns, n_features)
        Centre of each column (its row number, for precomputed kernels).
    n_columns : ndarray of shape (n_C,)
        Columns in each model.
    objective, dual_gap : ndarray of shape (n_C,) or (n_C, n_classes)
        As `objective_` and `dual_gap_` of the estimators.
    train_error : ndarray of shape (n_C,)
        Weighted fraction of wrong labels, or mean squared error, on the training rows.
    validation_error : ndarray of shape (n_C,) or None
        The same on the validation rows.
    validation_loss : ndarray of shape (n_C,) or None
        Log loss of the labels, at the best slope and offsets of the decision values, or mean
        squared error, on the validation rows.
    best : int or None
        Index of the lowest validation loss (the last, if several are equal).
    estimators : sequence of estimators
        A fitted estimator for each C. The probabilities of a classifier are calibrated when it is
        first accessed, within another `max_seconds`; pickling calibrates all of them.
    """

    C: FloatArray
    coef: FloatArray
    intercept: FloatArray
    kernels: tuple[Kernel, ...]
    kernel_of_column: IntArray
    centers: Any
    n_columns: IntArray
    objective: FloatArray
    dual_gap: FloatArray
    train_error: FloatArray
    validation_error: FloatArray | None
    validation_loss: FloatArray | None
    best: int | None
    estimators: Sequence[Any]


class _LazyEstimators(Sequence[Any]):
    """Estimators that are made when they are first accessed."""

    def __init__(self, count: int, make: Callable[[int], Any]) -> None:
        self._count, self._make = count, make
        self._made: dict[int, Any] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(len(self))[index])
        i = range(len(self))[index]
        if i not in self._made:
            self._made[i] = self._make(i)
        return self._made[i]

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


def path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    Cs: Any = None,
    sample_weight: Any = None,
    X_val: Any = None,
    y_val: Any = None,
    sample_weight_val: Any = None,
) -> PathResult:
    """Follow a classifier or regressor along C.

    Each point is the model that ``fit`` with that C would find, within `tol`, at a fraction of the
    cost of separate fits. If `max_seconds` is reached, the path ends with the last finished point;
    without one it is a single model without columns.

    Parameters
    ----------
    estimator : KernelBoostClassifier or KernelBoostRegressor
        What is solved; it is not changed. Its `C` is not used. `max_columns`, early stopping and
        the `nu` of a classifier must be None, and the library finite.
    X : array-like or CSR matrix of shape (n, n_features)
        Training rows.
    y : array-like of shape (n,)
        Labels or targets.
    Cs : int or array-like of float, optional
        The values of C, or their number (10 by default): then they rise by factors of
        ``10 ** (1 / 3)`` from the C at which the first column becomes worth its price.
    sample_weight : array-like of shape (n,), optional
        Weights.
    X_val : array-like or CSR matrix of shape (n_val, n_features), optional
        Validation rows; the models do not depend on them.
    y_val : array-like of shape (n_val,), optional
        Labels or targets of the validation rows.
    sample_weight_val : array-like of shape (n_val,), optional
        Weights of the validation rows in the error.

    Returns
    -------
    PathResult
        The models, their columns, objectives, gaps and errors.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import KernelBoostClassifier
    >>> from kboost.model_selection import path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = path(
    ...     KernelBoostClassifier(), X[:200], y[:200], Cs=[0.01, 0.1, 1.0],
    ...     X_val=X[200:], y_val=y[200:],
    ... )
    >>> result.coef.shape == (3, len(result.centers))
    True
    >>> result.estimators[result.best].score(X[200:], y[200:]) > 0.9
    True
    """
    _check(estimator)
    model = clone(estimator)
    validation = ValidationInput(X_val, y_val, sample_weight_val)
    since = now()
    plan, data = prepare(model, X, y, sample_weight, validation)
    deadline = Deadline.after(plan.max_seconds, since=since)
    with show_progress(model.verbose), blas_threads_for(len(data.rows.weight)):
        points: list[PathPoint] = []
        plan, interrupted = with_learned_kernels(plan, data, deadline.share(4))
        if interrupted:
            raise KeyboardInterrupt("interrupted before there was a model.")
        library = plan.library.build(data.rows, deadline)
        values = _values(Cs, 1.0)
        with suppress(OutOfTimeError):
            deadline.check()
            path_fit = follow_path(plan, data, library, deadline)
            values = _values(Cs, path_fit.first_cost)
            check_prices(plan.outputs.problems(data.rows, 1.0), factor=values[-1])
            for C in values.tolist():
                if not _append_point(points, path_fit, C):
                    break
        points = points or [_constant_point(plan, data, float(values[0]))]
    fits = [MarginFit(library, [], point.C) for point in points]
    fits = [
        with_results(plan, fit, limited(plan, fit, data.rows, deadline, point.results))
        for fit, point in zip(fits, points, strict=True)
    ]

    def fitted(fit: MarginFit) -> Any:
        estimator = copy(model).set_params(C=fit.C)
        set_fitted(estimator, plan, fit)
        return estimator

    def calibrated_estimator(i: int) -> Any:
        with blas_threads_for(len(data.rows.weight)):
            fit = calibrated(plan, fits[i], data.rows, Deadline.after(plan.max_seconds))
        if any(result.reason is INTERRUPTED for result in fit.results):
            raise KeyboardInterrupt
        return fitted(fit)

    estimators = _LazyEstimators(len(fits), calibrated_estimator)
    losses = _losses(plan, data, points)
    return _collect(points, losses, [fitted(fit) for fit in fits], estimators)


def _append_point(points: list[PathPoint], path_fit: PathFit, C: float) -> bool:
    """Whether there is a point at this C; the solver may fail after others, which stand."""
    try:
        points.append(path_fit.solve(C))
    except SolverError as error:
        if not points:
            raise
        message = f"the path ends before C={C:.3g}: {error}"
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return False
    return True


def _check(estimator: Any) -> None:
    """Raise for estimators that have no path over C whose points are optima."""
    is_supervised = isinstance(estimator, ClassifierMixin | RegressorMixin)
    if not (isinstance(estimator, MarginEstimator) and is_supervised):
        raise TypeError(
            "estimator must be a KernelBoostClassifier or a KernelBoostRegressor; "
            f"got {type(estimator).__name__}."
        )
    kernels = estimator.kernels
    is_infinite = isinstance(kernels, str) and kernels in ("active", "halfspaces")
    if is_infinite or isinstance(kernels, ActiveGaussians | Halfspaces):
        raise ValueError(f"kernels must be a finite library on a path; got kernels={kernels!r}.")
    solver = solver_settings(estimator.solver)
    if isinstance(solver, Barrier):
        raise ValueError(f"solver must be 'cg' on a path; got solver={estimator.solver!r}.")
    early_stopping = EarlyStopping.of(solver.early_stopping)
    values = {"max_columns": estimator.max_columns, "early_stopping": early_stopping}
    if isinstance(estimator, ClassifierMixin):
        values["nu"] = estimator.nu
    for name, value in values.items():
        if value is not None:
            raise ValueError(f"{name} must be None on a path; got {name}={value!r}.")


def _values(Cs: Any, first: float) -> FloatArray:
    """The values of C, rising."""
    if Cs is None or isinstance(Cs, Integral):
        if not COUNT.holds(_COUNT if Cs is None else Cs):
            raise ValueError(f"Cs must be {COUNT.words}, or values of C; got Cs={Cs!r}.")
        return first * RATIO ** np.arange(_COUNT if Cs is None else int(Cs))
    values = np.asarray(Cs)
    if values.ndim != 1 or not len(values) or not all(map(POSITIVE.holds, values.tolist())):
        raise ValueError(f"Cs must be one or more {POSITIVE.words} values; got Cs={Cs!r}.")
    return np.unique(values.astype(np.float64))


def _constant_point(plan: MarginPlan, data: TrainingData, C: float) -> PathPoint:
    """The point of a path for which there was no time."""
    constants = constants_of(plan, data.rows)

    def error(rows: MergedRows) -> float:
        return plan.outputs.joint_error(rows)(np.tile(constants, (len(rows.weight), 1)))

    results = [without_columns(len(data.rows.weight)) for _ in constants]
    held_out = data.held_out
    if held_out is None:
        return PathPoint(C, results, error(data.rows), None, None)
    decisions = np.tile(constants, (len(held_out.weight), 1))
    return PathPoint(C, results, error(data.rows), decisions, error(held_out))


def _losses(plan: MarginPlan, data: TrainingData, points: Sequence[PathPoint]) -> list[float]:
    """The loss at the validation rows, by which C is chosen; empty without such rows."""
    rows = data.held_out
    if rows is None:
        return []
    decisions = [point.held_out for point in points if point.held_out is not None]
    return [plan.outputs.held_out_loss([(rows, values)]) for values in decisions]


def _collect(
    points: Sequence[PathPoint],
    losses: Sequence[float],
    models: Sequence[Any],
    estimators: Sequence[Any],
) -> PathResult:
    """The models over the union of their columns."""
    kernels = tuple(models[0].kernels_)
    number = {kernel: p for p, kernel in enumerate(kernels)}
    columns = {  # (kernel, centre): the centre itself
        (number[part.kernel], index): part.centers[[row]]
        for fitted in models
        for part in fitted._model.parts
        for row, index in enumerate(part.indices.tolist())
    }
    order = sorted(columns)
    column = {key: j for j, key in enumerate(order)}
    coef = np.zeros((len(points), len(order), len(points[0].results)))
    for i, fitted in enumerate(models):
        for part in fitted._model.parts:
            p = number[part.kernel]
            coef[i, [column[p, index] for index in part.indices.tolist()]] = part.coef
    errors = [point.held_out_error for point in points if point.held_out_error is not None]
    return PathResult(
        C=np.array([point.C for point in points]),
        coef=coef[:, :, 0] if coef.shape[2] == 1 else coef,
        intercept=np.array([fitted.intercept_ for fitted in models]),
        kernels=kernels,
        kernel_of_column=np.array([p for p, _ in order], dtype=np.intp),
        centers=stack_rows([columns[key] for key in order]) if order else models[0].centers_,
        n_columns=np.array([fitted.n_columns_ for fitted in models]),
        objective=np.array([fitted.objective_ for fitted in models]),
        dual_gap=_gaps([fitted.dual_gap_ for fitted in models]),
        train_error=np.array([point.error for point in points]),
        validation_error=np.array(errors) if errors else None,
        validation_loss=np.array(losses) if losses else None,
        best=last_best(losses) if losses else None,
        estimators=estimators,
    )


def _gaps(gaps: Sequence[Any]) -> FloatArray:
    """One row per model; NaN where the gap is not known."""
    widths = [np.size(gap) for gap in gaps if gap is not None]
    unknown = np.nan if max(widths, default=1) == 1 else np.full(max(widths), np.nan)
    return np.array([unknown if gap is None else gap for gap in gaps], dtype=np.float64)
