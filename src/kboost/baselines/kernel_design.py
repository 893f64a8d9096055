"""Kernel design by boosting (Boost-Exp, Boost-Log): an SVM on a kernel built from the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.base import scalar_or_list
from kboost._estimator.matrix_memory import check_design_memory
from kboost._estimator.mixture_svm import MixtureSVMClassifier
from kboost._estimator.svm_calibration import SLOPE, left_out_designs
from kboost._estimator.svm_input import RULES, svm_data, svm_rows
from kboost._rules import check_params, one_of
from kboost.boosting.designed_svm import DesignPlan, fit_designed_svms
from kboost.columns.gram import MixtureFunction
from kboost.core.deadline import Deadline
from kboost.core.stopping import INTERRUPTED
from kboost.data.sizes import warn_of_size
from kboost.data.svm_data import SVMData
from kboost.solvers.threads import blas_threads_for

_RULES = RULES | {"loss": one_of("exp", "log")}


class KernelDesignClassifier(MixtureSVMClassifier):
    """Classify with a support vector machine (SVM) on a kernel designed by boosting.

    A round adds a kernel of rank one, ``alpha_t h_t(x) h_t(x')``: h_t is the function of the base
    kernel's space that agrees best with the labels, under weights that are large for the pairs of
    rows that the kernel so far gets wrong.

    Parameters
    ----------
    kernels : "auto", "precomputed", name, kernel, callable or list of these, default="linear"
        The base kernel; several are added up. The paper uses the linear one.
    loss : {"exp", "log"}, default="exp"
        The loss of a pair: Boost-Exp or Boost-Log.
    max_iter : int, default=30
        Rounds per binary problem.
    C : float, default=1.0
        Penalty of the margin errors of the SVM, per row.
    column_scaling : {"mean", "trace"}, default="mean"
        Scale the designed kernel to a mean diagonal of 1, or to a trace of 1, over the rows of its
        binary problem. Base kernels are scaled in the same way before they are added up.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest. Each binary problem has
        its own kernel.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same weight.
    max_seconds : float or None, default=None
        Time limit of the fit; without time for a kernel the model is the majority class.
    tol : float, default=1e-3
        Tolerance of libsvm.
    memory_budget : int, default=2**32
        Bytes for the pairs of the rows of a binary problem and the work on them. A fit that needs
        more is refused with the number that would do.
    n_jobs : int or None, default=None
        Threads over the binary problems.
    verbose : int, default=0
        1 logs every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C, without time or with too few rows: the slope is then 1).
    kernels_ : list of Kernel
        The base kernels, with their widths, scaled.
    estimator_weights_ : ndarray of shape (n_rounds,), or list of them
        The weights alpha_t, before the kernel is scaled; a list has one array per binary problem.
    losses_ : ndarray of shape (n_rounds + 1,), or list of them
        The mean loss per pair of rows, before the first round and after each.
    objective_ : float or ndarray of shape (n_problems,)
        The value of the dual of the SVM.
    dual_gap_ : None
        The design has no optimum to certify.
    n_columns_ : int
        Pairs of a kernel and a centre in the model.
    columns_per_kernel_ : dict of str to int
        The number of columns of each kernel.
    centers_ : ndarray or CSR matrix of shape (n_centers, n_features_in_)
        The rows that span the base kernel (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_centers,) or (n_problems, n_centers)
        Their coefficients, the same for every base kernel.
    intercept_ : float or ndarray of shape (n_problems,)
        The intercept.
    trace_ : Rounds or list of Rounds
        Loss and weight of each round.
    stop_reason_ : StopReason or list of StopReason
        Why the design ended: `rule`, and `message`, a sentence.
    n_iter_ : int
        Rounds; the maximum over the binary problems, at least 1.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Crammer, Keshet, Singer: Kernel design using boosting, NIPS 2002.
    Xia, Hoi: MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import KernelDesignClassifier
    >>> from kboost.kernels import Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelDesignClassifier(Linear(on="standard")).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    _limits = frozenset({"max_seconds"})

    def __init__(
        self,
        kernels: Any = "linear",
        *,
        loss: str = "exp",
        max_iter: int = 30,
        C: float = 1.0,
        column_scaling: str = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        max_seconds: float | None = None,
        tol: float = 1e-3,
        memory_budget: int = 2**32,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.max_iter = max_iter
        self.C = C
        self.column_scaling = column_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_seconds = max_seconds
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelDesignClassifier:
        """Design the kernel and fit the SVM.

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
        KernelDesignClassifier
            The fitted estimator. After Ctrl-C it keeps the rounds so far and KeyboardInterrupt is
            raised again; before the first round of every binary problem it stays unchanged.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), _RULES)
        deadline = Deadline.after(self.max_seconds)
        plan = DesignPlan(
            loss=self.loss,
            max_iter=self.max_iter,
            C=float(self.C),
            scaling=self.column_scaling,
            tol=self.tol,
            n_jobs=effective_n_jobs(self.n_jobs),
        )
        rows, n_rows = svm_rows(self, X, y, sample_weight)
        warn_of_size(type(self).__name__, len(rows.weight), len(self.classes_), self.max_seconds)
        with blas_threads_for(len(rows.weight)):
            data = svm_data(self, rows, n_rows)
            check_design_memory(data, self.memory_budget, plan.n_jobs)
            results = fit_designed_svms(plan, data, deadline, self._listeners(len(data.problems)))
            self._set_functions(data, [result.function for result in results])
        objectives = np.array([result.objective for result in results])
        self.estimator_weights_ = scalar_or_list([result.kernel.weights for result in results])
        self.losses_ = scalar_or_list([result.kernel.losses for result in results])
        self.objective_ = objectives[0] if len(results) == 1 else objectives
        self.dual_gap_ = None
        self.trace_ = scalar_or_list([result.trace for result in results])
        self.stop_reason_ = scalar_or_list([result.reason for result in results])
        self.n_iter_ = max(1, *(len(result.trace) for result in results))

        def refit(part: SVMData) -> list[MixtureFunction]:
            again = fit_designed_svms(plan, part, deadline)
            if any(result.reason is INTERRUPTED for result in again):
                raise KeyboardInterrupt
            return [result.function for result in again]

        self._calibrate(lambda: left_out_designs(data, refit), SLOPE, deadline)
