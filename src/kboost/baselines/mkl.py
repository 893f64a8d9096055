"""Multiple kernel learning: one support vector machine on a learned mixture of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.base import scalar_or_list
from kboost._estimator.matrix_memory import check_mixture_memory
from kboost._estimator.mixture_svm import MixtureSVMClassifier, mixture
from kboost._estimator.parameter_rules import RULES as SHARED
from kboost._estimator.svm_calibration import SLOPE, left_out_svms
from kboost._estimator.svm_input import RULES, svm_data, svm_rows
from kboost._rules import Rule, check_params, one_of
from kboost._typing import FloatArray, IntArray
from kboost.core.deadline import Deadline
from kboost.data.sizes import warn_of_size
from kboost.mkl.learn import METHODS, MKLPlan, MKLResult, learn_mixtures
from kboost.settings import LpNorm
from kboost.solvers.threads import blas_threads_for

_NAMES = one_of(*METHODS, "lp")
_METHOD = Rule(f"{_NAMES.words} or an LpNorm", lambda v: isinstance(v, LpNorm) or _NAMES.holds(v))
_LEFT_OUT_TOL = 1e-3  # of libsvm without some of the rows
_RULES = RULES | {"method": _METHOD, "tol": SHARED["tol"]}


class MKLClassifier(MixtureSVMClassifier):
    """Classify with a support vector machine on a weighted sum of kernels with learned weights.

    The weights solve

        minimise over theta >= 0, |theta|_p <= 1    max_a  sum a - 1/2 (a y)' K(theta) (a y)

    with ``K(theta) = sum_j theta_j K_j`` and ``0 <= a <= C w``, ``y'a = 0`` as in a support vector
    machine (SVM). Four methods solve it for p = 1, where few kernels get a weight, and find the
    same optimum; :class:`kboost.settings.LpNorm` solves it for any p.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to mix; see :class:`kboost.KernelBoostClassifier`.
    method : {"simple", "silp", "level", "hessian", "lp"} or LpNorm, default="hessian"
        The reduced gradient (SimpleMKL), cutting planes, the extended level method, Newton's
        method, or the closed form of Lp-MKL. "lp" is ``LpNorm(p=2)``; ``LpNorm(p=1)`` is solved by
        Newton's method.
    C : float, default=1.0
        Penalty of margin errors, per row.
    column_scaling : {"mean", "trace"}, default="mean"
        Scale each kernel to a mean diagonal of 1, or to a trace of 1, over the training rows. The
        weights are those of the scaled kernels.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, or one against the rest. Each binary problem has
        its own kernel weights.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same weight.
    max_iter : int, default=500
        Steps per binary problem.
    max_seconds : float or None, default=None
        Time limit of the fit; without time for an SVM the model is the majority class.
    tol : float, default=0.01
        Stop at this relative duality gap. The SVMs are solved to a twentieth of it.
    memory_budget : int, default=2**32
        Bytes for the kernel matrices of a binary problem, all of which are kept, and for the work
        on them. A fit that needs more is refused with the number that would do.
    n_jobs : int or None, default=None
        Threads over the binary problems.
    verbose : int, default=0
        1 logs every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C, without time or with too few rows: the slope is then 1).
    kernels_ : list of Kernel
        The kernels, with their widths, scaled.
    kernel_weights_ : ndarray of shape (n_kernels,) or (n_problems, n_kernels)
        The weights of `kernels_`.
    objective_ : float or ndarray of shape (n_problems,)
        The value of the dual of the SVM at these weights.
    dual_gap_ : float or ndarray of shape (n_problems,)
        Proven relative distance to the optimum, at any accuracy of the SVMs.
    n_columns_ : int
        Pairs of a kernel and a support vector in the model.
    columns_per_kernel_ : dict of str to int
        The number of columns of each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_support,) or (n_problems, n_support)
        Their coefficients, to be multiplied by the weight of each kernel.
    intercept_ : float or ndarray of shape (n_problems,)
        The intercept.
    stop_reason_ : StopReason or list of StopReason
        Why the fit ended: `rule`, and `message`, a sentence.
    trace_ : Trace or list of Trace
        The start and each step; columns are kernels with a positive weight.
    n_iter_ : int
        Steps; the maximum over the binary problems, at least 1.
    n_svms_ : int
        Support vector machines solved, over all binary problems.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Rakotomamonjy, Bach, Canu, Grandvalet: SimpleMKL, JMLR 2008.
    Sonnenburg, Rätsch, Schäfer, Schölkopf: Large scale multiple kernel learning, JMLR 2006.
    Xu, Jin, King, Lyu: An extended level method for efficient multiple kernel learning, NIPS 2008.
    Chapelle, Rakotomamonjy: Second order optimization of kernel parameters, NIPS workshop 2008.
    Kloft, Brefeld, Sonnenburg, Zien: Lp-norm multiple kernel learning, JMLR 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import MKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKLClassifier().fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> bool(model.dual_gap_ <= 0.01), len(model.kernel_weights_)
    (True, 8)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        method: str | LpNorm = "hessian",
        C: float = 1.0,
        column_scaling: str = "mean",
        multi_class: str = "ovo",
        class_weight: Any = None,
        max_iter: int = 500,
        max_seconds: float | None = None,
        tol: float = 0.01,
        memory_budget: int = 2**32,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.C = C
        self.column_scaling = column_scaling
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKLClassifier:
        """Learn the kernel weights and the SVM.

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
        MKLClassifier
            The fitted estimator. After Ctrl-C it keeps the best weights so far and
            KeyboardInterrupt is raised again; before the first SVM of every binary problem it stays
            unchanged.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), _RULES)
        deadline = Deadline.after(self.max_seconds)
        method = LpNorm() if self.method == "lp" else self.method
        plan = MKLPlan(
            method="hessian" if isinstance(method, LpNorm) else method,
            p=float(method.p) if isinstance(method, LpNorm) else 1.0,
            C=float(self.C),
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=effective_n_jobs(self.n_jobs),
        )
        rows, n_rows = svm_rows(self, X, y, sample_weight)
        warn_of_size(type(self).__name__, len(rows.weight), len(self.classes_), self.max_seconds)
        with blas_threads_for(len(rows.weight)):
            data = svm_data(self, rows, n_rows)
            check_mixture_memory(data, self.memory_budget, plan.n_jobs)
            results = learn_mixtures(plan, data, deadline, self._listeners(len(data.problems)))
            self._set_functions(data, [result.function for result in results])
            self._set_results(results)

            def matrix(output: int, rows: IntArray) -> FloatArray:
                return mixture(data, results[output].function.kernel_weights, rows)

            self._calibrate(
                lambda: left_out_svms(data, matrix, plan.C, _LEFT_OUT_TOL), SLOPE, deadline
            )

    def _set_results(self, results: Sequence[MKLResult]) -> None:
        single = len(results) == 1
        weights = np.array([result.point.theta for result in results])
        objectives = np.array([result.point.value for result in results])
        last = [result.trace[-1] if result.trace else None for result in results]
        gaps = np.array([None if step is None else step.gap for step in last], dtype=np.float64)
        self.kernel_weights_ = weights[0] if single else weights
        self.objective_ = objectives[0] if single else objectives
        complete = not np.isnan(gaps).any()
        self.dual_gap_ = None if not complete else gaps[0] if single else gaps
        self.stop_reason_ = scalar_or_list([result.reason for result in results])
        self.trace_ = scalar_or_list([result.trace for result in results])
        self.n_iter_ = max(1, *(0 if step is None else step.iteration for step in last))
        self.n_svms_ = sum(result.n_svms for result in results)
