"""One-class mixtures of kernels for novelty detection."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import OutlierMixin

from kboost._estimator.base import flat
from kboost._estimator.parameter_rules import RULES
from kboost._rules import UNIT, check_params
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators._kernel_boost import (
    SOLVER,
    MarginEstimator,
    ValidationInput,
    library_plan,
    prepare,
    run_plan,
    solver_settings,
)
from kboost.formulations import MarginRows, nu_margin
from kboost.kernels import Gaussian
from kboost.plans.bases import KernelColumns
from kboost.plans.margin_parts import MarginParts
from kboost.plans.margin_plan import MarginPlan
from kboost.plans.training_data import Loss, MarginOutput, OutputSet, TrainingData

_NAMES = ("column_scaling", "max_columns", "max_iter", "max_seconds", "tol", "n_jobs", "verbose")
_RULES = {name: RULES[name] for name in _NAMES} | {"nu": UNIT, "solver": SOLVER}

_ON_THE_MARGIN = 1e-6  # scores of rows on the margin are this close to 1, at least


class KernelBoostNovelty(OutlierMixin, MarginEstimator):
    """Detect novelties with a sparse, convex mixture of kernels.

    The problem is the one-class SVM with a bounded 1-norm and nonnegative coefficients,

        maximise  rho - 1/(nu W) sum_i w_i max(0, rho - f(x_i)),   sum_j coef_j <= 1,  coef >= 0,

    scaled afterwards to rho = 1: rows with ``f(x) >= 1`` are inliers.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library. "auto" is one Gaussian with the median rule: of several widths the widest
        would always be chosen.
    nu : float, default=0.1
        Upper bound of the weighted fraction of training rows that are outliers, in (0, 1].
    column_scaling : {"floored", "unit", None}, default=None
        What columns are divided by; see KernelBoostClassifier.
    max_columns : int or None, default=None
        Most columns that are generated.
    max_iter : int, default=1000
        Most times that columns are added.
    max_seconds : float or None, default=None
        Time limit of the fit. With many rows the library then has as many of the centres as there
        is time for; without time for a column every row is an inlier.
    tol : float, default=1e-4
        The fit stops when no column has a relative price above `tol`, or the relative gap is at
        most `tol`.
    solver : "cg" or :class:`kboost.settings.ColumnGeneration`, default="cg"
        Columns per step and memory; the other settings must have their defaults.
    n_jobs : int or None, default=None
        Threads for pricing and prediction.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    offset_ : float
        ``decision_function = score_samples - offset_``: 1 less the tolerance of the solver, so that
        rows on the margin, which have a score of 1 up to rounding, are inliers.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        Columns of each kernel in the library.
    kernels_ : list of Kernel
        The library with its fitted widths.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        Centre of each column (its row number, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_columns_,)
        Coefficients of the columns.
    intercept_ : float
        Always 0.
    objective_ : float
        Minus the optimum of the problem above, before scaling.
    dual_gap_ : float
        Certified relative distance to the optimum over the whole library.
    stop_reason_ : StopReason
        Why the fit ended: ``.rule`` is the rule, ``str()`` a sentence.
    trace_ : Trace
        A record of each step.
    n_iter_ : int
        Number of times columns were added, at least 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost import KernelBoostNovelty
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelBoostNovelty(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        nu: float = 0.1,
        column_scaling: str | None = None,
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        solver: Any = "cg",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.column_scaling = column_scaling
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.solver = solver
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelBoostNovelty:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : ignored
            Present for API consistency.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        KernelBoostNovelty
            The fitted estimator.
        """
        return self._guarded_fit(
            lambda: run_plan(self, X, None, sample_weight, ValidationInput()),
            X,
            y,
            sample_weight,
        )

    def score_samples(self, X: Any) -> FloatArray:
        """Return how similar each row is to the training rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            At least `offset_` for inliers.
        """
        return flat(self._decision(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores minus the offset.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Negative for outliers.
        """
        scores = self.score_samples(X)
        return scores - float(self.offset_)

    def predict(self, X: Any) -> IntArray:
        """Return 1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            1 or -1.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)


@prepare.register
def prepare_novelty(
    estimator: KernelBoostNovelty,
    X: Any,
    y: Any,
    sample_weight: Any,
    validation: ValidationInput,
) -> tuple[MarginPlan, TrainingData]:
    """The plan and the training data of a one-class model; see the head of masters/nu_lp.py."""
    check_params(estimator.get_params(deep=False), _RULES)
    solver = solver_settings(estimator.solver)
    _check_solver(solver)
    X = check_table(estimator, X, reset=True)
    codes = np.zeros(X.shape[0], dtype=np.intp)
    rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
    kernels = estimator.kernels
    is_auto = isinstance(kernels, str) and kernels == "auto"
    base = KernelColumns([Gaussian("median")] if is_auto else kernels)
    plan = MarginPlan(
        outputs=_one_class(estimator.nu),
        library=library_plan(estimator, base, X.shape[0], memory_budget=solver.memory_budget),
        parts=MarginParts(
            base,
            nonnegative=True,
            intercept="none",
            tol=estimator.tol,
            max_columns=estimator.max_columns,
            max_iter=estimator.max_iter,
            columns_per_step=solver.columns_per_step,
            nu=estimator.nu,
        ),
        C=1.0,
        attributes=lambda fit: {"offset_": 1.0 - _ON_THE_MARGIN},
        constant=lambda rows: np.ones(1),  # every row an inlier
        max_seconds=estimator.max_seconds,
        n_jobs=effective_n_jobs(estimator.n_jobs),
    )
    return plan, TrainingData(rows)


def _check_solver(solver: Any) -> None:
    """Raise for settings that need labels."""
    for name, default in (("pricing", "scan"), ("stop_at_errors", False), ("early_stopping", None)):
        if (value := getattr(solver, name)) != default:
            raise ValueError(
                f"{name} must be {default!r} in KernelBoostNovelty; got {name}={value!r}."
            )


def _one_class(nu: float) -> OutputSet:
    """The nu problem with all signs positive; without labels there is no error."""

    def formulate(rows: MergedRows, C: float) -> MarginRows:
        return nu_margin(np.ones(len(rows.weight)), rows.weight, nu)

    def no_error(rows: MergedRows) -> Loss:
        return lambda decision: 0.0

    output = MarginOutput(formulate, no_error)
    return OutputSet([output], no_error, lambda splits: 0.0, lambda rows: np.zeros((0, 1)))
