"""CG-Boost for classification: a sparse mixture of kernels by column generation."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.labels import check_two_classes, encode_labels
from kboost._estimator.predictors import CalibratedMixin, KernelClassifierMixin
from kboost._rules import check_params
from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.data.class_weight import apply_class_factors, class_factors
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators._kernel_boost import (
    MARGIN_RULES,
    MarginEstimator,
    ValidationInput,
    is_monitored,
    library_plan,
    margin_parts,
    prepare,
    run_plan,
    solver_settings,
    validation_fraction,
)
from kboost.formulations import hinge, nu_classification
from kboost.masters.margin import MarginPenalty
from kboost.plans.bases import KernelColumns
from kboost.plans.library import CenterRows
from kboost.plans.margin_plan import CalibrationPlan, MarginFit, MarginPlan
from kboost.plans.training_data import OutputSet, TrainingData, class_balance, one_vs_rest
from kboost.selection.left_out import Norm


class KernelBoostClassifier(CalibratedMixin, KernelClassifierMixin, MarginEstimator):
    """Classify with a sparse mixture of kernels, grown by column generation (CG-Boost).

    Every pair of a kernel and a training point is a candidate column ``k(., x_j)``. Column
    generation finds the few columns that the problem

        minimise  sum_j |coef_j| + C sum_i w_i max(0, 1 - y_i f(x_i))

    needs, and certifies the distance to the optimum over all candidates. More than two classes
    are fitted one-vs-rest on shared columns.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library. "auto" learns one on at most 800 rows: kernels with one width per feature,
        those of the lowest error on rows left out. With fewer than 80 rows, sparse rows or rows on
        a cluster it is :func:`kboost.kernels.default_kernels`. Names are scikit-learn's. With
        "precomputed", X is ``[K_1 ... K_P]`` side by side, (n, P n), or stacked by ``np.dstack``,
        (n, n, P). scikit-learn's cross-validation requires the second form, because it cuts rows
        and columns.
    penalty : {"l1", "l2"}, default="l1"
        Norm of the coefficients that is penalised. With "l2" (half the squared norm) the optimum
        is dense, so `tol` and `max_columns` determine the size of the model.
    C : float or "auto", default="auto"
        Cost of margin errors per row, as in scikit-learn's SVMs. "auto" follows a path of rising
        C and takes the value with the lowest log loss on held-out rows.
    nu : float or None, default=None
        Replaces C: upper bound of the weighted fraction of rows inside the margin, in (0, 1].
    nonnegative : bool, default=False
        Whether coefficients must be nonnegative.
    intercept : {"free", "penalized", "none"}, default="free"
        Whether the intercept is free, penalised like a coefficient, or absent.
    column_scaling : {"floored", "unit", None}, default="floored"
        What columns are divided by before they are penalised: their root mean square ("unit"),
        the same but at least 0.3 of the largest absolute value ("floored"), or nothing.
        `dual_coef_` always belongs to the unscaled columns.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same total weight.
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
        How columns are searched, how many are added per step, early stopping, and memory.
    random_state : int, RandomState instance or None, default=0
        Seed for the choice of held-out rows.
    n_jobs : int or None, default=None
        Threads for classes, pricing and prediction. Predictions do not depend on it.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    C_ : float
        The C used.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows it was fitted to, and whether these
        were held out (False if there were too few rows or too little time).
    tuning_ : Tuning or None
        With ``C="auto"``: the values of C tried, their held-out log losses (`error`), and the index
        of the best.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        Columns of each kernel in the library.
    kernels_ : list of Kernel
        The library with its fitted widths.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        Centre of each column (its row number, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_columns_,) or (n_classes, n_columns_)
        Coefficients of the columns, in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_classes,)
        The intercept.
    objective_ : float or ndarray of shape (n_classes,)
        Objective value.
    dual_gap_ : float or ndarray of shape (n_classes,)
        Certified relative distance to the optimum over the whole library.
    stop_reason_ : StopReason or list of StopReason
        Why the fit ended: ``.rule`` is the rule, ``str()`` a sentence.
    trace_ : Trace or list of Trace
        A record of each step.
    n_iter_ : int
        Number of times columns were added, at least 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    References
    ----------
    Bi, Zhang, Bennett: Column-generation boosting methods for mixture of kernels, KDD 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import KernelBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelBoostClassifier().fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> bool(model.dual_gap_ <= 1e-4)
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
        class_weight: Any = None,
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        solver: Any = "cg",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.penalty = penalty
        self.C = C
        self.nu = nu
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.column_scaling = column_scaling
        self.class_weight = class_weight
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> KernelBoostClassifier:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.
        X_val : array-like or CSR matrix of shape (n_val, n_features), optional
            Validation rows for early stopping: the fit stops when their log loss no longer falls
            and keeps the step with the lowest (TR3). With ``C="auto"`` they also choose C.
        y_val : array-like of shape (n_val,), optional
            Labels of the validation rows, among the classes of y.
        sample_weight_val : array-like of shape (n_val,), optional
            Weights of the validation rows in the error.

        Returns
        -------
        KernelBoostClassifier
            The fitted estimator. After Ctrl-C it holds the columns found so far and
            KeyboardInterrupt is raised again; before the first step it stays unchanged.
        """
        validation = ValidationInput(X_val, y_val, sample_weight_val)
        return self._guarded_fit(
            lambda: run_plan(self, X, y, sample_weight, validation),
            X,
            y,
            sample_weight,
            validation,
        )


@prepare.register
def prepare_classifier(
    estimator: KernelBoostClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan and the training data of a classifier."""
    check_classifier(estimator, validation)
    X, y, weight = estimator._checked(X, y, sample_weight)
    everywhere = np.ones(X.shape[0], dtype=bool)
    data = labelled_rows(estimator, X, y, weight, everywhere, validation)
    return classifier_plan(estimator, X.shape[0], validation), data


def check_classifier(estimator: Any, validation: ValidationInput) -> None:
    """Raise for parameters that break their rules or contradict each other."""
    check_params(estimator.get_params(deep=False), MARGIN_RULES)
    validation_fraction(estimator, validation)
    if estimator.nu is None:
        return
    if estimator.C != "auto":
        raise ValueError(
            f"C must be 'auto' with nu, which replaces it; got C={estimator.C!r}, "
            f"nu={estimator.nu!r}."
        )
    if estimator.penalty == "l1" and estimator.intercept == "penalized":
        raise ValueError(
            "intercept must be 'free' or 'none' with nu and penalty='l1'; "
            "got intercept='penalized'."
        )


def labelled_rows(
    estimator: Any,
    X: Any,
    y: Any,
    weight: FloatArray,
    labelled: BoolArray,
    validation: ValidationInput,
) -> TrainingData:
    """The labelled rows merged, and the validation rows; sets `classes_`."""
    codes = np.zeros(len(y), dtype=np.intp)
    codes[labelled] = encode_labels(estimator, y[labelled])
    class_weight, classes = estimator.class_weight, estimator.classes_
    factors = class_factors(class_weight, classes, codes[labelled], weight[labelled])
    weights = np.zeros(len(y))
    weights[labelled] = apply_class_factors(
        factors, codes[labelled], weight[labelled], named=class_weight
    )
    rows = merge_rows(X, codes, weights)
    check_two_classes(classes, rows.codes)
    return TrainingData(rows, _validation_rows(estimator, factors, validation))


def classifier_plan(
    estimator: Any,
    n_input_rows: int,
    validation: ValidationInput,
    centers: CenterRows | None = None,
) -> MarginPlan:
    """The plan of a classifier whose classes are known."""
    base = KernelColumns(estimator.kernels)
    parts = margin_parts(estimator, base, needs_both_signs=True, nu=estimator.nu)
    C = 1.0 if estimator.nu is not None else estimator.C
    penalty = MarginPenalty(parts.nonnegative, parts.intercept)
    return MarginPlan(
        outputs=_outputs(estimator),
        library=library_plan(
            estimator,
            base,
            n_input_rows,
            memory_budget=solver_settings(estimator.solver).memory_budget,
            copies=parts.solver(monitored=is_monitored(estimator, validation)),
            centers=centers,
        ),
        parts=parts,
        C=parts if isinstance(C, str) else float(C),
        attributes=classifier_attributes,
        validation_fraction=validation_fraction(estimator, validation),
        stratify=True,
        constant=None if estimator.intercept == "none" else class_balance,
        calibration=CalibrationPlan(cast(Norm, estimator.penalty), penalty),
        max_seconds=estimator.max_seconds,
        random_state=estimator.random_state,
        n_jobs=effective_n_jobs(estimator.n_jobs),
    )


def classifier_attributes(fit: MarginFit) -> dict[str, Any]:
    """Fitted attributes of a classifier besides those of every margin model."""
    attributes: dict[str, Any] = {"C_": fit.C, "tuning_": fit.tuning}
    if fit.calibration is not None:
        attributes["calibration_"] = fit.calibration
    return attributes


def _outputs(estimator: Any) -> OutputSet:
    """One problem per class: a hinge loss, or the nu-SVM."""
    formulation: Any = hinge
    if estimator.nu is not None:
        formulation = nu_classification(estimator.nu, free=estimator.intercept == "free")
    return one_vs_rest(len(estimator.classes_), formulation)


def _validation_rows(
    estimator: Any, factors: FloatArray, validation: ValidationInput
) -> MergedRows | None:
    """The user's validation rows, merged, with the weights of their classes."""
    if (checked := estimator._checked_validation(validation)) is None:
        return None
    X, y, weight = checked
    codes = _known_codes(estimator.classes_, y)
    weight = weight * factors[codes]
    if not weight.any():
        raise ValueError("X_val must have rows of a class with a positive weight; got none.")
    return merge_rows(X, codes, weight)


def _known_codes(classes: Any, y: Any) -> IntArray:
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in y.tolist() if label not in code_of]
    if unknown:
        raise ValueError(
            f"y_val must hold classes of y; got {unknown[0]!r}, y has {list(code_of)}."
        )
    return np.array([code_of[label] for label in y.tolist()], dtype=np.intp)
