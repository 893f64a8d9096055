"""Boost-SVM: AdaBoost on support vector machines with one kernel, chosen by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from kboost._estimator.boosted_svm import RULES, BoostedSVMBase
from kboost._estimator.svm_input import svm_data, svm_rows
from kboost._rules import INTEGER, Rule, check_params
from kboost.boosting.adaboost import lowest
from kboost.boosting.fit import BoostingPlan, boost_svms
from kboost.boosting.kernel_choice import cross_validated_errors, stratified_folds
from kboost.core.deadline import Deadline
from kboost.data.sizes import warn_of_size
from kboost.data.svm_data import SVMData
from kboost.kernels.names import unique_names
from kboost.solvers.threads import blas_threads_for

_RULES = RULES | {
    "n_folds": Rule("an integer of at least 2", lambda v: INTEGER.holds(v) and v >= 2)
}


class BoostedSVMClassifier(BoostedSVMBase):
    """Classify with AdaBoost on support vector machines (SVMs) of a single kernel.

    The kernel is the one whose SVM without boosting has the lowest cross-validated error. The
    rounds are those of :class:`kboost.MKBoostClassifier` with this kernel.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to choose from; see :class:`kboost.KernelBoostClassifier`.
    n_folds : int, default=10
        Folds, at most the number of distinct rows. Rows with the same x share a fold.
    max_iter : int, default=100
        Rounds per binary problem.
    sample_ratio : float, default=0.2
        Rows drawn per round, with replacement, relative to the sum of the row weights.
    C : float, default=50.0
        Penalty of the margin errors of an SVM, per row.
    column_scaling : {"mean", "trace"} or None, default="mean"
        Scale each kernel to a mean diagonal of 1, or to a trace of 1, over the training rows.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest.
    class_weight : dict, "balanced" or None, default=None
        Relative weights of the classes; the total weight of the rows does not change. "balanced"
        gives all classes the same weight.
    tol : float, default=1e-3
        Tolerance of libsvm.
    max_seconds : float or None, default=None
        Time limit of the fit, half of it for the folds. The error of a kernel is that of the folds
        within the limit; without time for one, the first kernel is taken, and without time for a
        round the majority class.
    memory_budget : int, default=2**30
        Bytes for kernel matrices; matrices that do not fit are computed as needed. If the machines
        of a fold or a round need more, the fit is refused with the number that would do. Under
        `max_seconds` the first kernel is taken and rounds draw fewer rows.
    random_state : int, RandomState instance or None, default=0
        Seed for drawing folds and rows.
    n_jobs : int or None, default=None
        Threads over the kernels of a fold; the model does not depend on it.
    verbose : int, default=0
        1 logs every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C, without time or with too few rows: the slope is then 2).
    kernel_ : Kernel
        The chosen kernel, scaled.
    cv_errors_ : dict of str to float
        The cross-validated error of each kernel; empty for a single kernel, or without the time
        for a fold.
    estimator_weights_, errors_, trace_, stop_reason_, n_iter_, dual_gap_
        As in :class:`kboost.MKBoostClassifier`.
    n_columns_, columns_per_kernel_, kernel_usage_, kernels_, centers_
        As in :class:`kboost.MKBoostClassifier`, for the chosen kernel.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Zhang, Ren: Improving SVM learning accuracy with AdaBoost, ICNC 2008; as used by Xia, Hoi:
    MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import BoostedSVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedSVMClassifier(max_iter=20).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        n_folds: int = 10,
        max_iter: int = 100,
        sample_ratio: float = 0.2,
        C: float = 50.0,
        column_scaling: str | None = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_seconds: float | None = None,
        memory_budget: int = 2**30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.sample_ratio = sample_ratio
        self.C = C
        self.column_scaling = column_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.tol = tol
        self.max_seconds = max_seconds
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoostedSVMClassifier:
        """Choose the kernel and fit the rounds.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Labels, two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        BoostedSVMClassifier
            The fitted estimator.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), _RULES)
        deadline = Deadline.after(self.max_seconds)
        plan = BoostingPlan(
            vote=False,
            kernel_decay=1.0,
            C=float(self.C),
            sample_ratio=self.sample_ratio,
            max_iter=self.max_iter,
            tol=self.tol,
            memory_budget=self.memory_budget,
            n_jobs=effective_n_jobs(self.n_jobs),
        )
        rows, n_rows = svm_rows(self, X, y, sample_weight, keep_total_weight=True)
        warn_of_size(type(self).__name__, len(rows.weight), len(self.classes_), self.max_seconds)
        with blas_threads_for(len(rows.weight)):
            data = self._with_best_kernel(plan, svm_data(self, rows, n_rows), deadline)
            count = len(data.problems)
            seeds = check_random_state(self.random_state).randint(2**31 - 1, size=count)
            boosted = boost_svms(plan, data, seeds, deadline, self._listeners(count))
            self._set_rounds(data, boosted, deadline)

    def _with_best_kernel(self, plan: BoostingPlan, data: SVMData, deadline: Deadline) -> SVMData:
        """The data with the kernel of the lowest cross-validated error."""
        folds = stratified_folds(data.rows, self.n_folds, check_random_state(self.random_state))
        best, self.cv_errors_ = 0, {}
        if len(data.kernels) > 1 and folds.max() > 0:
            errors = cross_validated_errors(plan, data, folds, deadline.share(2))
            if not np.isnan(errors).any():
                names = unique_names([repr(kernel) for kernel in data.kernels])
                self.cv_errors_ = dict(zip(names, errors.tolist(), strict=True))
                best = lowest(errors)
        self.kernel_ = data.kernels[best]
        return data.only(best)
