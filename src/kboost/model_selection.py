"""The whole path of models over C, each point the optimum for its C.

The search and the solvers stay warm from one C to the next, as they do for `C="auto"`; here each
point is solved as `fit` would solve it, on all rows, and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from numbers import Integral
from typing import Any, overload

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone

from kboost._estimator.progress import show_progress
from kboost._rules import COUNT, POSITIVE
from kboost._typing import FloatArray, IntArray
from kboost.columns.hypothesis import stack_rows
from kboost.columns.library import KernelLibrary
from kboost.core.deadline import Deadline
from kboost.estimators._kernel_boost import KernelBoostBase
from kboost.exceptions import OutOfTimeError
from kboost.kernels.base import Kernel
from kboost.plans.training_data import check_prices
from kboost.selection.c_path import RATIO, last_best
from kboost.selection.path_fit import PathFit, PathPoint
from kboost.solvers.threads import blas_threads_for

_COUNT = 10  # values of C where none are given


@dataclass(frozen=True, eq=False)
class PathResult:
    """Models along a rising C, over the union of their columns; what :func:`path` returns.

    Parameters
    ----------
    C : ndarray of shape (n_C,)
        The prices of errors, rising.
    coef : ndarray of shape (n_C, n_columns) or (n_C, n_columns, n_classes)
        Coefficients of the (unscaled) columns, kernel after kernel; 0 where a model does without.
    intercept : ndarray of shape (n_C,) or (n_C, n_classes)
        The offsets.
    kernels : tuple of Kernel
        The library, with the widths found.
    kernel_of_column : ndarray of shape (n_columns,)
        The place in `kernels` of each column's kernel.
    centers : ndarray or CSR matrix of shape (n_columns, n_features)
        The centre of each column (its row number, for precomputed kernels).
    n_columns : ndarray of shape (n_C,)
        Columns in each model.
    objective, dual_gap : ndarray of shape (n_C,) or (n_C, n_classes)
        As `objective_` and `dual_gap_` of the estimators.
    train_error : ndarray of shape (n_C,)
        Weighted share of wrong labels, or mean squared error, on the training rows.
    validation_error : ndarray of shape (n_C,) or None
        The same on the rows to judge by.
    best : int or None
        Where the validation error is lowest (the last such place).
    estimators : sequence of estimators
        A fitted estimator for each C. A classifier's probabilities are calibrated when its place
        is first asked for, within `max_seconds` of its own; a pickle holds all of them.
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
    best: int | None
    estimators: Sequence[Any]


class _Concluded(Sequence[Any]):
    """Models whose last work is done when they are first asked for."""

    def __init__(self, models: Sequence[Any], conclude: Callable[[int], Any]) -> None:
        self._models, self._conclude = models, conclude
        self._done: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self._models)

    @overload
    def __getitem__(self, place: int) -> Any: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Any]: ...

    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(len(self))[place])
        i = range(len(self))[place]
        if i not in self._done:
            self._done[i] = self._conclude(i)
        return self._done[i]

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

    Each point is what ``fit`` with that C would find, to the estimator's `tol`, at a fraction of
    the cost of separate fits. A path that runs out of time (`max_seconds`) ends with the last
    point that was reached.

    Parameters
    ----------
    estimator : KernelBoostClassifier or KernelBoostRegressor
        Its parameters say what is solved; `C` is not used, and `nu` (of the classifier),
        `max_columns` and `validation_fraction` must be None. It stays as it is.
    X : array-like or CSR matrix of shape (n, n_features)
        Training rows.
    y : array-like of shape (n,)
        Labels or targets.
    Cs : int or array-like of float, optional
        The values of C, or how many: then they rise in factors of ``10 ** (1 / 3)``, from where
        the first column is worth its price. 10 of them if not given.
    sample_weight : array-like of shape (n,), optional
        Weights.
    X_val : array-like or CSR matrix of shape (n_val, n_features), optional
        Rows to judge by; nothing is learnt from them.
    y_val : array-like of shape (n_val,), optional
        Their labels or targets.
    sample_weight_val : array-like of shape (n_val,), optional
        Their weights in the error.

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
    >>> found = path(
    ...     KernelBoostClassifier(), X[:200], y[:200], Cs=[0.01, 0.1, 1.0],
    ...     X_val=X[200:], y_val=y[200:],
    ... )
    >>> found.coef.shape == (3, len(found.centers))
    True
    >>> found.estimators[found.best].score(X[200:], y[200:]) > 0.9
    True
    """
    _check(estimator)
    model = clone(estimator)
    data = model._prepare(
        X, y, sample_weight, X_val=X_val, y_val=y_val, sample_weight_val=sample_weight_val
    )
    deadline = Deadline.after(model.max_seconds)
    with show_progress(model.verbose), blas_threads_for(len(data.rows.weight)):
        library = model._make_library(data.rows, data.n_input_rows, deadline)
        part = model._follow(data, library, deadline)
        values = _values(Cs, part.first)
        check_prices(data.problems(data.rows, 1.0), values[-1])
        points = _walk(part, values)
    models = [_fitted(model, library, point) for point in points]

    def conclude(i: int) -> Any:
        """The model of a place with all that `fit` leaves behind."""
        fitted, point = copy(models[i]), points[i]
        problems = data.problems(data.rows, point.C)
        until = Deadline.after(model.max_seconds)
        with blas_threads_for(len(data.rows.weight)):
            if fitted._conclude(data.rows, problems, point.grown, until):
                raise KeyboardInterrupt
        return fitted

    return _collect(points, models, _Concluded(models, conclude))


def _check(estimator: Any) -> None:
    """Refuse what has no path over C whose points are optima."""
    if not (
        isinstance(estimator, KernelBoostBase)
        and isinstance(estimator, ClassifierMixin | RegressorMixin)
    ):
        raise TypeError(
            "estimator must be a KernelBoostClassifier or a KernelBoostRegressor; "
            f"got {type(estimator).__name__}."
        )
    for name, only in (("base", "kernels"), ("solver", "cg")):
        if (value := getattr(estimator, name, only)) != only:
            raise ValueError(
                f"{name} must be {only!r} on a path, whose models share the columns of one "
                f"library and one warm solver; got {name}={value!r}."
            )
    names = ["max_columns", "validation_fraction"]
    names += ["nu"] if isinstance(estimator, ClassifierMixin) else []
    for name in names:
        if (value := getattr(estimator, name)) is not None:
            raise ValueError(
                f"{name} must be None on a path, every point of which is the optimum for its C; "
                f"got {name}={value!r}."
            )


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


def _walk(part: PathFit, values: FloatArray) -> list[PathPoint]:
    """The points, as far as time allows."""
    points: list[PathPoint] = []
    for C in values.tolist():
        try:
            points.append(part.to(C))
        except OutOfTimeError:
            if not points:
                raise
            break
    return points


def _fitted(model: Any, library: KernelLibrary, point: PathPoint) -> Any:
    """An estimator as `fit` would have left it but for its last work."""
    fitted = copy(model).set_params(C=point.C)
    fitted.C_, fitted.tuning_ = point.C, None
    fitted._keep(library, point.grown)
    return fitted


def _collect(
    points: Sequence[PathPoint], models: Sequence[Any], estimators: Sequence[Any]
) -> PathResult:
    """The models beside each other over the union of their columns."""
    kernels = tuple(models[0].kernels_)
    place = {kernel: p for p, kernel in enumerate(kernels)}
    columns = {  # (kernel, centre): the centre itself
        (place[part.kernel], index): part.centers[[row]]
        for fitted in models
        for part in fitted._model.parts
        for row, index in enumerate(part.indices.tolist())
    }
    order = sorted(columns)
    line = {key: j for j, key in enumerate(order)}
    coef = np.zeros((len(points), len(order), len(points[0].grown)))
    for i, fitted in enumerate(models):
        for part in fitted._model.parts:
            p = place[part.kernel]
            coef[i, [line[p, index] for index in part.indices.tolist()]] = part.coef
    errors = [point.held_error for point in points if point.held_error is not None]
    return PathResult(
        C=np.array([point.C for point in points]),
        coef=coef[:, :, 0] if coef.shape[2] == 1 else coef,
        intercept=np.array([fitted.intercept_ for fitted in models]),
        kernels=kernels,
        kernel_of_column=np.array([p for p, _ in order], dtype=np.intp),
        centers=stack_rows([columns[key] for key in order]) if order else models[0].centers_,
        n_columns=np.array([fitted.n_columns_ for fitted in models]),
        objective=np.array([fitted.objective_ for fitted in models]),
        dual_gap=np.array([fitted.dual_gap_ for fitted in models]),
        train_error=np.array([point.error for point in points]),
        validation_error=np.array(errors) if errors else None,
        best=last_best(errors) if errors else None,
        estimators=estimators,
    )
