"""One support vector machine on the sum of the kernels.

CG-Boost (2.3) names a third penalty besides the two norms of the coefficients, that of the RKHS,
block by block:

    minimise  1/2 sum_p coef_p' K_p coef_p + C sum_i w_i loss_i(f),   f = sum_p K_p coef_p + bias.

With f_p = K_p coef_p, the best split of a given f over the kernels has the same coefficients in
every block, coef_p = coef, and its penalty is 1/2 coef' (sum_p K_p) coef: a support vector machine
on K = sum_p K_p, which libsvm solves. Every support vector is then a column of every kernel,
whereas a sparse mixture chooses the kernels of each centre.

Identical rows are merged first, so that a row given twice equals a row of weight two. Training
keeps the kernel matrix of all rows in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import SVC, SVR

from kboost._estimator.base import KernelEstimator
from kboost._estimator.labels import check_two_classes, encode_labels
from kboost._estimator.matrix_memory import check_sum_memory
from kboost._estimator.mixture_svm import mixture
from kboost._estimator.predictors import (
    CalibratedMixin,
    KernelClassifierMixin,
    KernelRegressorMixin,
)
from kboost._estimator.svm_calibration import SLOPE, left_out_svms
from kboost._estimator.svm_classifier import set_support_vectors
from kboost._estimator.svm_input import centers_of, svm_kernels
from kboost._rules import COUNT, NOT_NEGATIVE, POSITIVE, Rule, check_params
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights
from kboost.columns.gram import kernel_sum
from kboost.columns.hypothesis import KernelPart
from kboost.core.deadline import NO_LIMIT
from kboost.core.model import AdditiveModel
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.data.multiclass import binary_problems
from kboost.data.svm_data import SVMData
from kboost.kernels.base import Kernel
from kboost.solvers.libsvm import MOST_STEPS

RULES: dict[str, Rule] = {"C": POSITIVE, "tol": POSITIVE, "memory_budget": COUNT}


def _fit_sum(
    estimator: Any, rows: MergedRows, n_input_rows: int, svm: Any, targets: Sequence[Any]
) -> tuple[Sequence[Kernel], Any]:
    """Fit `svm` to each of the targets on the sum of the kernels; set the fitted attributes.

    Returns the kernels and the rows as their second argument. The output of constant targets is
    that constant. libsvm has no limit of its own: on values of 1e16 it would not end.
    """
    svm.set_params(max_iter=MOST_STEPS)
    check_sum_memory(len(rows.weight), estimator.memory_budget)
    centers = centers_of(estimator, rows)
    kernels = svm_kernels(estimator, rows, centers, n_input_rows)
    K = kernel_sum(kernels, rows.X, centers)
    coef, bias = np.zeros((len(rows.weight), len(targets))), np.zeros(len(targets))
    estimator.n_iter_ = 0
    for output, values in enumerate(targets):
        bias[output] = values[0]
        if np.ptp(values) > 0:
            svm.fit(K, values, sample_weight=rows.weight)
            coef[svm.support_, output] = svm.dual_coef_[0]
            bias[output] = svm.intercept_[0]
            estimator.n_iter_ = max(estimator.n_iter_, int(np.max(svm.n_iter_)))
    used = np.flatnonzero(coef.any(axis=1))
    needed = kernels if len(used) else ()
    parts = tuple(KernelPart(kernel, centers[used], coef[used], used) for kernel in needed)
    estimator._model = AdditiveModel(parts, bias)
    set_support_vectors(estimator, kernels, [len(used)] * len(kernels), centers, coef, bias)
    return kernels, centers


class CompositeSVC(CalibratedMixin, KernelClassifierMixin, KernelEstimator):
    """Classify with a support vector machine on the sum of several kernels.

    A baseline for sparse mixtures: the same kernels, with one coefficient per training row for all
    of them. More than two classes are fitted one against the rest.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to add up; see :class:`kboost.KernelBoostClassifier`.
    C : float, default=1.0
        Penalty of margin errors, per row.
    tol : float, default=1e-3
        Tolerance of libsvm.
    memory_budget : int, default=2**32
        Bytes for the kernel matrix and the work on it. A fit that needs more is refused with the
        number that would do.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C, without time or with too few rows: the slope is then 1).
    kernels_ : list of Kernel
        The kernels, with their widths.
    n_columns_ : int
        Columns in the model: support vectors times kernels.
    columns_per_kernel_ : dict of str to int
        The number of columns of each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_support,) or (n_classes, n_support)
        Their coefficients, the same for every kernel.
    intercept_ : float or ndarray of shape (n_classes,)
        The intercept.
    n_iter_ : int
        Iterations of libsvm.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Bi, Zhang, Bennett: Column-generation boosting methods for mixture of kernels, KDD 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kboost.baselines import CompositeSVC
    >>> from kboost.kernels import Gaussian, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> library = [Linear(on="standard"), Gaussian("mean", on="standard")]
    >>> model = CompositeSVC(library).fit(X[:400], y[:400])
    >>> model.score(X[400:], y[400:]) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        memory_budget: int = 2**32,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.tol = tol
        self.memory_budget = memory_budget

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompositeSVC:
        """Fit the support vector machine.

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
        CompositeSVC
            The fitted estimator.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), RULES)
        X, y = check_table(self, X, y, reset=True)
        codes = encode_labels(self, y)
        rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
        check_two_classes(self.classes_, rows.codes)
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = [np.where(rows.codes == k, 1, -1) for k in positive]
        svm = SVC(kernel="precomputed", C=self.C, tol=self.tol)
        kernels, centers = _fit_sum(self, rows, X.shape[0], svm, targets)
        n_classes = len(self.classes_)
        problems = binary_problems(rows.codes, n_classes, "ovr")
        data = SVMData(rows, centers, kernels, kernels, problems, n_classes)

        def matrix(output: int, at: IntArray) -> FloatArray:
            return mixture(data, np.ones(len(kernels)), at)

        C, tol = float(self.C), float(self.tol)
        self._calibrate(lambda: left_out_svms(data, matrix, C, tol), SLOPE, NO_LIMIT)


class CompositeSVR(KernelRegressorMixin, KernelEstimator):
    """Regress with a support vector machine on the sum of several kernels.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to add up; see :class:`kboost.KernelBoostClassifier`.
    C : float, default=1.0
        Penalty of errors outside the tube, per row.
    epsilon : float, default=0.1
        Half-width of the tube.
    tol : float, default=1e-3
        Tolerance of libsvm.
    memory_budget : int, default=2**32
        Bytes for the kernel matrix and the work on it. A fit that needs more is refused with the
        number that would do.

    Attributes
    ----------
    kernels_ : list of Kernel
        The kernels, with their widths.
    n_columns_ : int
        Columns in the model: support vectors times kernels.
    columns_per_kernel_ : dict of str to int
        The number of columns of each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_support,)
        Their coefficients, the same for every kernel.
    intercept_ : float
        The intercept.
    n_iter_ : int
        Iterations of libsvm.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Bi, Zhang, Bennett: Column-generation boosting methods for mixture of kernels, KDD 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.baselines import CompositeSVR
    >>> from kboost.kernels import Gaussian, Linear
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = X[:, 0] + np.sinc(X[:, 0])
    >>> model = CompositeSVR([Linear(), Gaussian(1.0)], C=10.0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        memory_budget: int = 2**32,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.memory_budget = memory_budget

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompositeSVR:
        """Fit the support vector machine.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        CompositeSVR
            The fitted estimator.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), RULES | {"epsilon": NOT_NEGATIVE})
        X, y = check_table(self, X, y, reset=True, y_numeric=True)
        values, codes = np.unique(np.asarray(y, dtype=np.float64), return_inverse=True)
        rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
        svm = SVR(kernel="precomputed", C=self.C, epsilon=self.epsilon, tol=self.tol)
        _fit_sum(self, rows, X.shape[0], svm, [values[rows.codes]])
