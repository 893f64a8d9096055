"""One-class mixtures of kernels: what most of the rows have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from kboost._estimator.parameter_rules import RULES
from kboost._rules import UNIT, check_params
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights
from kboost.columns.library import KernelLibrary
from kboost.core.protocols import EdgePricer, Master
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.estimators._kernel_boost import KernelBoostBase
from kboost.formulations import MarginRows, nu_margin
from kboost.kernels import Gaussian
from kboost.masters.nu_lp import NuLPMaster
from kboost.plans.training_data import Task, TrainingData

_TAKEN = ("column_scaling", "columns_per_step", "max_columns", "max_iter", "max_seconds", "tol",
          "memory_budget", "predict_dtype", "n_jobs", "verbose")  # fmt: skip
_RULES = {name: RULES[name] for name in _TAKEN} | {"nu": UNIT}


class KernelBoostNovelty(OutlierMixin, KernelBoostBase):
    """Find novelties with a sparse, convex mixture of kernels.

    The problem is the one-class SVM with a bound on the 1-norm and coefficients that are not
    negative,

        maximise  rho - 1/(nu W) sum_i w_i max(0, rho - f(x_i)),   sum_j coef_j <= 1,  coef >= 0,

    scaled afterwards so that rho = 1: a row is an inlier where ``f(x) >= 1``.

    Parameters
    ----------
    kernels : "auto", or list of kernels, names and callables, default="auto"
        The library. "auto" is one Gaussian by the median rule: among several widths the widest
        would always win.
    nu : float, default=0.1
        Bound of the weighted share of training rows outside, in (0, 1].
    column_scaling : {"unit", None}, default=None
        Whether columns are scaled to unit root mean square.
    columns_per_step : int or "auto", default="auto"
        How many columns are added before the coefficients are solved for again.
    max_columns : int or None, default=None
        How many columns may be generated.
    max_iter : int, default=1000
        How many times columns may be added.
    max_seconds : float or None, default=None
        Time limit of the fit.
    tol : float, default=1e-4
        Stop when no column has a relative price above it, or the relative gap is not above it.
    memory_budget : int, default=2**30
        Bytes that blocks of kernel values may take.
    predict_dtype : {"float64", "float32"}, default="float64"
        Arithmetic of the kernels at prediction. "float32" is faster and takes half the memory; the
        values stay within 1e-5 of ``sum_j |coef_j k(., c_j)|``. It may be set after `fit`.
    n_jobs : int or None, default=None
        Threads of the scans, and of predictions for many rows.
    verbose : int, default=0
        1 shows every step.

    Attributes
    ----------
    offset_ : float
        1.0: ``decision_function = score_samples - offset_``.
    n_columns_ : int
        Columns in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel of the library.
    kernels_ : list of Kernel
        The library, with the widths found.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The centre of each column.
    coef_ : ndarray of shape (n_columns_,)
        Coefficients of the columns.
    objective_ : float
        Minus the optimum of the problem above, before scaling.
    dual_gap_ : float
        Proven relative distance to the optimum over the whole library.
    stop_reason_ : str
        Why the fit ended.
    trace_ : Trace
        What happened at each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost import KernelBoostNovelty
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelBoostNovelty(nu=0.1).fit(X)
    >>> model.predict([[0.0, 0.0], [6.0, 6.0]])
    array([ 1, -1])
    """

    # What the problem fixes: see the head of masters/nu_lp.py.
    penalty = "l1"
    nonnegative = True
    intercept = "none"
    C = 1.0
    validation_fraction = None
    random_state = None
    pricing = "scan"
    stop_at_errors = False

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        nu: float = 0.1,
        column_scaling: str | None = None,
        columns_per_step: int | str = "auto",
        max_columns: int | None = None,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        tol: float = 1e-4,
        memory_budget: int = 2**30,
        predict_dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.column_scaling = column_scaling
        self.columns_per_step = columns_per_step
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.memory_budget = memory_budget
        self.predict_dtype = predict_dtype
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelBoostNovelty:
        """Grow the mixture.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : ignored
            For the convention's sake.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        KernelBoostNovelty
            The fitted estimator.
        """
        return self._fit(X, None, sample_weight)

    def score_samples(self, X: Any) -> FloatArray:
        """Return how much each row is like the training rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            At least 1 for inliers.
        """
        return self._decision(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores less the offset.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Negative for outliers.
        """
        return self.score_samples(X) - self.offset_

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

    def _prepare(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> TrainingData:
        check_params(self.get_params(deep=False), _RULES)
        X = check_table(self, X, reset=True)
        codes = np.zeros(X.shape[0], dtype=np.intp)
        rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
        self.offset_ = 1.0

        def formulate(rows: MergedRows, C: float) -> MarginRows:
            return nu_margin(np.ones(len(rows.weight)), rows.weight, self.nu)

        return TrainingData(rows, [Task(formulate, lambda held: lambda decision: 0.0)], X.shape[0])

    def _library(self) -> Any:
        return [Gaussian("median")] if isinstance(self.kernels, str) else self.kernels

    def _master(self, library: KernelLibrary, *, watched: bool = False) -> Master[EdgePricer]:
        return NuLPMaster(self.nu, nonnegative=True, free_bias=False)
