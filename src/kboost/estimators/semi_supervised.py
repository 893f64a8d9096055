"""SSMK: mixtures of kernels from labelled and unlabelled rows.

The problem is the classifier's, SSMK (9), with margin constraints for the labelled rows only and
columns centred at all rows. Unlabelled rows play no other part: there is no graph and there are no
guessed labels. Widths, transforms and column scales are computed on all rows too: on the labelled
rows alone a narrow column at a distant unlabelled centre would look tiny, and cost nothing once it
is scaled.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from kboost._estimator.base import flat
from kboost._estimator.labels import predicted_codes
from kboost._rules import INTEGER, Rule, check_params
from kboost._typing import FloatArray
from kboost.data.merged_rows import merge_rows
from kboost.estimators._kernel_boost import ValidationInput, prepare
from kboost.estimators.classifier import (
    KernelBoostClassifier,
    check_classifier,
    classifier_attributes,
    classifier_plan,
    labelled_rows,
)
from kboost.exceptions import AllLabelledWarning
from kboost.kernels.rows import group_rows
from kboost.plans.library import CenterRows
from kboost.plans.margin_plan import MarginFit, MarginPlan
from kboost.plans.training_data import TrainingData

_MARK = Rule(
    "an integer, a string or None", lambda v: v is None or isinstance(v, str) or INTEGER.holds(v)
)


class SemiSupervisedKernelBoostClassifier(KernelBoostClassifier):
    """Classify with a sparse mixture of kernels centred at labelled and unlabelled rows.

    Unlabelled rows have the label -1, as in scikit-learn's semi-supervised module, or another one
    (`unlabelled`); the classes may be anything else. The margin is required of the labelled rows
    only, but every row is a possible centre.

    A fit without labelled rows, or with a single class besides -1, is an error. Without unlabelled
    rows the model is that of :class:`KernelBoostClassifier`, and a
    :class:`kboost.exceptions.AllLabelledWarning` is raised; a warnings filter makes it an error.
    Labels that are strings require an array of dtype object, so that -1 stays a number, or a string
    for `unlabelled`. Weights of classes are weights of their rows: `sample_weight` of `fit`.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`KernelBoostClassifier`. With "precomputed", X has one row, and each
        matrix one column, per row, labelled or not.
    penalty : {"l1", "l2"}, default="l1"
        Norm of the coefficients that is penalised.
    C : float or "auto", default="auto"
        Cost of margin errors per labelled row.
    nu : float or None, default=None
        Replaces C; see :class:`KernelBoostClassifier`.
    nonnegative : bool, default=False
        Whether coefficients must be nonnegative.
    intercept : {"free", "penalized", "none"}, default="free"
        Whether the intercept is free, penalised like a coefficient, or absent.
    column_scaling : {"floored", "unit", None}, default="floored"
        What columns are divided by, measured on all rows; see KernelBoostClassifier.
    unlabelled : int, str or None, default=-1
        The label of rows without one; None: all rows are labelled, and every label is a class.
    max_columns : int or None, default=None
        Most columns that are generated (per class, if there are more than two).
    max_iter : int, default=1000
        Most times that columns are added.
    max_seconds : float or None, default=None
        Time limit of the fit, half of it for the choice of C. With many rows the library then has
        as many of the centres as there is time for; without time for a column the model is a
        constant.
    tol : float, default=1e-4
        The fit stops when no column has a price above `tol`, or the relative gap is at most `tol`.
    solver : "cg" or :class:`kboost.settings.ColumnGeneration`, default="cg"
        How columns are searched, how many are added per step, early stopping, and memory. Rows
        held out for early stopping are labelled ones; they remain possible centres.
    random_state : int, RandomState instance or None, default=0
        Seed for the choice of held-out rows.
    n_jobs : int or None, default=None
        Threads for classes, pricing and prediction.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    transduction_ : ndarray of shape (n,)
        Label of each training row: the given one, or the predicted one.
    classes_ : ndarray of shape (n_classes,)
        The labels without `unlabelled`.
    C_, tuning_, calibration_, n_columns_, columns_per_kernel_, kernels_, centers_, dual_coef_, \
intercept_, objective_, dual_gap_, stop_reason_, trace_, n_iter_ : see above
        As for :class:`KernelBoostClassifier`.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    References
    ----------
    Bi, Fung, Dundar, Rao: Semi-supervised mixture of kernels via LPBoost methods, ICDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from kboost import SemiSupervisedKernelBoostClassifier
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> partly = np.where(np.arange(len(y)) < 30, y, -1)
    >>> model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, partly)
    >>> bool((model.transduction_ == y).mean() > 0.8)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        penalty: str = "l1",
        C: float | str = "auto",
        nu: float | None = None,
        nonnegative: bool = False,
        intercept: str = "free",
        column_scaling: str | None = "floored",
        unlabelled: int | str | None = -1,
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        solver: Any = "cg",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernels, penalty=penalty, C=C, nu=nu, nonnegative=nonnegative, intercept=intercept,
            column_scaling=column_scaling, max_columns=max_columns, max_iter=max_iter,
            max_seconds=max_seconds, tol=tol, solver=solver, random_state=random_state,
            n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.unlabelled = unlabelled


@prepare.register
def prepare_semi_supervised(
    estimator: SemiSupervisedKernelBoostClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan of a classifier on the labelled rows with centres at all rows."""
    check_classifier(estimator, validation)
    mark = estimator.unlabelled
    check_params({"unlabelled": mark}, {"unlabelled": _MARK})
    X, y, weight = estimator._checked(X, y, sample_weight)
    y = _as_numbers(y)
    labelled = np.ones(len(y), dtype=bool)
    if mark is not None:
        labelled = np.array([label != mark for label in y.tolist()], dtype=bool)
        _check_labels(y[labelled & (weight > 0)], mark, all_labelled=bool(labelled.all()))
    centers = None
    if not labelled[weight > 0].all():
        centers = _all_rows(X, weight)
    elif mark is not None:
        warnings.warn(
            f"y has no unlabelled rows ({mark}) with a positive weight: the model is that of "
            "KernelBoostClassifier; unlabelled=None states it.",
            AllLabelledWarning,
            stacklevel=2,
        )
    data = labelled_rows(estimator, X, y, weight, labelled, validation)
    classes = estimator.classes_

    def attributes(fit: MarginFit) -> dict[str, Any]:
        transduction = np.array(classes[predicted_codes(flat(fit.model.decision(X)))])
        transduction[labelled] = y[labelled]
        return {**classifier_attributes(fit), "transduction_": transduction}

    plan = classifier_plan(estimator, X.shape[0], validation, centers)
    return replace(plan, attributes=attributes), data


def _all_rows(X: Any, weight: FloatArray) -> CenterRows:
    """All rows with a weight as centres, labelled or not."""
    positive = np.flatnonzero(weight > 0)
    center_of_input = np.full(len(weight), -1)
    center_of_input[positive] = group_rows(X[positive])[1]
    rows = merge_rows(X, np.zeros(len(weight), dtype=np.intp), weight)
    return CenterRows(rows, center_of_input)


def _as_numbers(y: Any) -> Any:
    """Numbers of dtype object, as in a pandas column of mixed kinds, as an array of numbers."""
    if y.dtype != object or not all(map(np.isscalar, y)):
        return y
    plain = np.array(y.tolist())
    return plain if plain.dtype.kind in "biuf" and (plain == y).all() else y


def _written(numbers: Any) -> list[str]:
    """Numbers as strings, whole ones without a point, too."""
    return [str(v) for v in numbers.tolist()] + [str(int(v)) for v in numbers if v % 1 == 0]


def _check_labels(labels: Any, mark: int | str, *, all_labelled: bool) -> None:
    """Raise for labels without enough classes; the message gives the likely reason."""
    if not len(labels):
        raise ValueError(
            f"y must have labelled rows with a positive weight; got {mark}, which marks unlabelled "
            "rows, for all of them."
        )
    try:
        classes = np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y must have labels of one kind besides {mark}, without missing values; "
            f"got {', '.join(kinds)}."
        ) from error
    if not isinstance(mark, str) and str(mark) in classes.tolist():
        raise ValueError(
            f"y must mark unlabelled rows by the number {mark}; got the string '{mark}', which "
            "NumPy makes of it among strings: pass y as np.array(y, dtype=object), or "
            f"unlabelled='{mark}'."
        )
    if isinstance(mark, str) and classes.dtype.kind in "iuf" and mark in _written(classes):
        raise ValueError(
            f"unlabelled must be the number {mark}, as in y; got the string '{mark}', which no "
            "label equals."
        )
    if len(classes) < 2 and not all_labelled:
        raise ValueError(
            f"y must have at least two labelled classes; got one class, {classes[0]}, besides "
            f"{mark}, which marks unlabelled rows: if {mark} is a class, set unlabelled=None."
        )
