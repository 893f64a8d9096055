"""MKBoost: boosted support vector machines on several kernels."""

from __future__ import annotations

from typing import Any

from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from kboost._estimator.boosted_svm import RULES, BoostedSVMBase
from kboost._estimator.svm_input import svm_data, svm_rows
from kboost._rules import UNIT, check_params, one_of
from kboost.boosting.fit import BoostingPlan, boost_svms
from kboost.core.deadline import Deadline
from kboost.data.sizes import warn_of_size
from kboost.solvers.threads import blas_threads_for

_RULES = RULES | {"variant": one_of("D1", "D2", "S1", "S2"), "kernel_decay": UNIT}


class MKBoostClassifier(BoostedSVMBase):
    """Classify with boosted support vector machines on several kernels.

    Each round draws rows from AdaBoost's distribution and trains one support vector machine (SVM)
    per kernel on them. ``"D1"`` takes the SVM of the lowest error, ``"D2"`` the weighted vote of
    all. ``"S1"`` and ``"S2"`` do the same with a random subset of the kernels, whose probabilities
    fall with their errors, in about half the time.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The library; see :class:`kboost.KernelBoostClassifier`.
    variant : {"D1", "D2", "S1", "S2"}, default="D1"
        Algorithm 1, 2, 3 or 4 of the paper.
    max_iter : int, default=100
        Rounds per binary problem.
    sample_ratio : float, default=0.2
        Rows drawn per round, with replacement, relative to the sum of the row weights.
    kernel_decay : float, default=2**-5
        With "S1" and "S2", the probability of a kernel is multiplied by ``kernel_decay ** error``.
        At 1 they equal "D1" and "D2".
    C : float, default=50.0
        Penalty of the margin errors of an SVM, per row drawn.
    column_scaling : {"mean", "trace"} or None, default="mean"
        Scale each kernel to a mean diagonal of 1, or to a trace of 1, over the training rows. The
        paper names no scaling; its accuracies are reached with "mean" and not with "trace", which
        its rivals' toolboxes use.
    multi_class : {"ovo", "ovr"}, default="ovo"
        More than two classes: one against one, as in the paper, or one against the rest.
    class_weight : dict, "balanced" or None, default=None
        Relative weights of the classes; the total weight of the rows does not change. "balanced"
        gives all classes the same weight.
    tol : float, default=1e-3
        Tolerance of libsvm.
    max_seconds : float or None, default=None
        Time limit of the fit. With many rows a round then draws fewer of them, and without time
        for a round the model is the majority class.
    memory_budget : int, default=2**30
        Bytes for kernel matrices. Matrices that do not fit are computed in each round, from
        distances and products that are kept if these fit. If the machines of a round need more, the
        fit is refused with the number that would do; under `max_seconds` rounds draw fewer rows.
    random_state : int, RandomState instance or None, default=0
        Seed for drawing rows and kernels.
    n_jobs : int or None, default=None
        Threads over the kernels of a round; the model does not depend on it.
    verbose : int, default=0
        1 logs every round.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C, without time or with too few rows: the slope is then 2).
    kernels_ : list of Kernel
        The kernels, with their widths, scaled.
    kernel_usage_ : dict of str to KernelUse
        For each kernel `rounds`, the number of rounds it is in, `weight`, its share of their
        weights, and `trained`, the number of SVMs trained with it; over all binary problems.
    estimator_weights_ : ndarray of shape (n_rounds,), or list of them
        The weights of the rounds; a list has one array per binary problem.
    errors_ : ndarray of shape (n_rounds,), or list of them
        The error of each round under its distribution.
    trace_ : Rounds or list of Rounds
        All draws, including those not taken: an error of 1/2 or more resets the distribution.
    stop_reason_ : StopReason or list of StopReason
        Why the fit ended: `rule`, and `message`, a sentence.
    n_iter_ : int
        Rounds taken; the maximum over the binary problems.
    n_columns_ : int
        Distinct pairs of a kernel and a support vector.
    columns_per_kernel_ : dict of str to int
        The number of columns of each kernel.
    centers_ : ndarray or CSR matrix of shape (n_centers, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    dual_gap_ : None
        Boosting has no optimum to certify.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Xia, Hoi: MKBoost: A framework of multiple kernel boosting, IEEE TKDE 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost import MKBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MKBoostClassifier(variant="S1", max_iter=20).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    >>> sum(use.rounds for use in model.kernel_usage_.values())
    20
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        variant: str = "D1",
        max_iter: int = 100,
        sample_ratio: float = 0.2,
        kernel_decay: float = 2**-5,
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
        self.variant = variant
        self.max_iter = max_iter
        self.sample_ratio = sample_ratio
        self.kernel_decay = kernel_decay
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MKBoostClassifier:
        """Fit the rounds.

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
        MKBoostClassifier
            The fitted estimator. After Ctrl-C it keeps the rounds so far and KeyboardInterrupt is
            raised again; before the first round of every binary problem it stays unchanged.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), _RULES)
        deadline = Deadline.after(self.max_seconds)
        plan = BoostingPlan(
            vote=self.variant[1] == "2",
            kernel_decay=float(self.kernel_decay) if self.variant[0] == "S" else 1.0,
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
            data = svm_data(self, rows, n_rows)
            count = len(data.problems)
            seeds = check_random_state(self.random_state).randint(2**31 - 1, size=count)
            boosted = boost_svms(plan, data, seeds, deadline, self._listeners(count))
            self._set_rounds(data, boosted, deadline)
