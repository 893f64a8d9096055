"""The composite rival: one support vector machine on the sum of the kernels.

CG-Boost (2.3) names a third penalty beside the two norms of the coefficients, that of the RKHS,
block by block:

    minimise  1/2 sum_p coef_p' K_p coef_p + C sum_i w_i loss_i(f),   f = sum_p K_p coef_p + bias.

Where f_p = K_p coef_p, the best split of a given f over the kernels has the same coefficients in
every block, coef_p = coef, and its penalty is 1/2 coef' (sum_p K_p) coef: a support vector machine
on K = sum_p K_p, which libsvm solves. Every support vector is then a column of every kernel; a
mixture picks for each centre the kernels it needs.

Identical rows are merged first, as everywhere here, so that a row given twice equals a row of
weight two. Training holds the matrix of all pairs of rows; prediction folds what folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.svm import SVC, SVR
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.explanation import ExplainMixin
from kboost._estimator.svm_input import check_two_classes, machine_kernels
from kboost._rules import NOT_NEGATIVE, POSITIVE, Rule, check_params
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights, unchanged_on_error
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.data.merged_rows import MergedRows, merge_rows
from kboost.kernels.names import unique_names

RULES: dict[str, Rule] = {"C": POSITIVE, "tol": POSITIVE}


class CompositeBase(ExplainMixin, BaseEstimator):
    """What the two share: the matrix of pairs, and the model that predicts."""

    def _learn(self, rows: MergedRows, n_input_rows: int, machines: Sequence[Any]) -> None:
        """Fit the machines, each with its targets, on the sum of the kernels; keep one model.

        The output of one whose targets are all the same is that constant.
        """
        precomputed = self._is_precomputed
        centers = rows.first[rows.center_of_row][:, None] if precomputed else rows.X
        kernels = machine_kernels(self, rows, centers, n_input_rows)
        K = sum(kernel(rows.X, centers) for kernel in kernels)
        coef, bias = np.zeros((len(rows.weight), len(machines))), np.zeros(len(machines))
        self.n_iter_ = 0
        for output, (machine, targets) in enumerate(machines):
            bias[output] = targets[0]
            if np.ptp(targets) > 0:
                machine.fit(K, targets, sample_weight=rows.weight)
                coef[machine.support_, output] = machine.dual_coef_[0]
                bias[output] = machine.intercept_[0]
                self.n_iter_ = max(self.n_iter_, int(np.max(machine.n_iter_)))
        used = np.flatnonzero(coef.any(axis=1))
        needed = kernels if len(used) else ()
        parts = tuple(KernelPart(kernel, centers[used], coef[used], used) for kernel in needed)
        self._model = AdditiveModel(parts, bias)
        single = len(machines) == 1
        self.kernels_ = list(kernels)
        names = unique_names([repr(kernel) for kernel in kernels])
        self.columns_per_kernel_ = dict.fromkeys(names, len(used))
        self.n_columns_ = len(used) * len(kernels)
        self.centers_ = centers[used]
        self.coef_ = coef[used, 0] if single else coef[used].T
        self.intercept_ = float(bias[0]) if single else bias

    def _decision(self, X: Any) -> FloatArray:
        check_is_fitted(self, "coef_")
        values: FloatArray = self._model.decision(check_table(self, X, reset=False))
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed
        return tags


class CompositeSVC(ClassifierMixin, CompositeBase):
    """Classify with a support vector machine on the sum of several kernels.

    The rival that a sparse mixture is compared with: the same library, one coefficient for a
    training point in all kernels at once. More than two classes are fitted one against the rest.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to add up; see :class:`kboost.KernelBoostClassifier`.
    C : float, default=1.0
        Price of a unit of margin error, a row.
    tol : float, default=1e-3
        When libsvm may stop.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    kernels_ : list of Kernel
        The kernels, with the widths found.
    n_columns_ : int
        Columns in the model: support vectors times kernels.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    coef_ : ndarray of shape (n_support,) or (n_classes, n_support)
        Their coefficients, the same in every kernel.
    intercept_ : float or ndarray of shape (n_classes,)
        The offset.
    n_iter_ : int
        Steps of libsvm.
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

    def __init__(self, kernels: Any = "auto", *, C: float = 1.0, tol: float = 1e-3) -> None:
        self.kernels = kernels
        self.C = C
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompositeSVC:
        """Fit the machine.

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
        with unchanged_on_error(self):
            check_params(self.get_params(deep=False), RULES)
            X, y = check_table(self, X, y, reset=True)
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
            rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
            check_two_classes(self.classes_, rows)
            targets = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            self._learn(rows, X.shape[0], [self._against_rest(rows.codes, k) for k in targets])
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the model's values: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            BinaryRows.

        Returns
        -------
        ndarray
            Positive for the second class, or largest for the class predicted.
        """
        return self._decision(X)

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            BinaryRows.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        scores = self._decision(X)
        codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return self.classes_[codes]

    def _against_rest(self, codes: IntArray, target: int) -> tuple[Any, IntArray]:
        machine = SVC(kernel="precomputed", C=self.C, tol=self.tol)
        return machine, np.where(codes == target, 1, -1)


class CompositeSVR(RegressorMixin, CompositeBase):
    """Regress with a support vector machine on the sum of several kernels.

    Parameters
    ----------
    kernels : "auto", "precomputed", or list of kernels, names and callables, default="auto"
        The kernels to add up; see :class:`kboost.KernelBoostClassifier`.
    C : float, default=1.0
        Price of a unit of error outside the tube, a row.
    epsilon : float, default=0.1
        Half-width of the tube.
    tol : float, default=1e-3
        When libsvm may stop.

    Attributes
    ----------
    kernels_ : list of Kernel
        The kernels, with the widths found.
    n_columns_ : int
        Columns in the model: support vectors times kernels.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel.
    centers_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The support vectors (their row numbers, for precomputed kernels).
    coef_ : ndarray of shape (n_support,)
        Their coefficients, the same in every kernel.
    intercept_ : float
        The offset.
    n_iter_ : int
        Steps of libsvm.
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
        self, kernels: Any = "auto", *, C: float = 1.0, epsilon: float = 0.1, tol: float = 1e-3
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompositeSVR:
        """Fit the machine.

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
        with unchanged_on_error(self):
            check_params(self.get_params(deep=False), RULES | {"epsilon": NOT_NEGATIVE})
            X, y = check_table(self, X, y, reset=True, y_numeric=True)
            values, codes = np.unique(np.asarray(y, dtype=np.float64), return_inverse=True)
            rows = merge_rows(X, codes, check_weights(sample_weight, len(codes)))
            machine = SVR(kernel="precomputed", C=self.C, epsilon=self.epsilon, tol=self.tol)
            self._learn(rows, X.shape[0], [(machine, values[rows.codes])])
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the value of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            BinaryRows.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return self._decision(X)
