"""Sparse kernel machines for classification: forward selection and ensembles on many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from kboost._estimator.base import flat
from kboost._estimator.labels import check_two_classes, distinct_labels, encode_labels
from kboost._estimator.predictors import KernelClassifierMixin
from kboost._rules import check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import HEAVIEST_SQUARES, check_table, check_weights
from kboost.core.checkpoint import not_kept
from kboost.core.deadline import Deadline
from kboost.data.class_weight import class_factors
from kboost.estimators._sparse_kernel import SparseKernelBase, is_memory_map
from kboost.plans.sparse import SparsePlan
from kboost.selection.calibration import (
    Calibration,
    log_normalised_logistic,
    normalised_logistic,
)

_LOSS_RULE = {"loss": one_of("squared", "log", "hinge")}


def _is_least_squares(model: Any) -> bool:
    if model.loss != "squared":
        raise AttributeError(f"partial_fit requires loss='squared'; got loss={model.loss!r}.")
    return True


class SparseKernelClassifier(KernelClassifierMixin, SparseKernelBase):
    """Classify with few basis vectors among many rows.

    The model is ``f(x) = intercept + sum_j coef_j k(x, c_j)`` with centres among the training rows,
    chosen step by step, and coefficients that minimise

        sum_i w_i loss(y_i, f(x_i)) + ridge/2 |f|^2,     y_i = -1 or 1

    in the RKHS (the sum of the norms, for several kernels). More than two classes are fitted one
    against the rest, on the same basis.

    Parameters
    ----------
    kernels : "auto", "ard", "precomputed", or list of kernels, names and callables, default="auto"
        The kernel library; kernels must be positive semidefinite. "ard" is a Gaussian with one
        width per feature (:func:`kboost.kernels.fit_ard`). "auto" compares kernels with and
        without learned widths on a thousand rows (`choice_`). With "precomputed", X is
        ``[K_1 ... K_P]`` side by side.
    selection : str or object of :mod:`kboost.settings`, default="max-res"
        Which basis vectors are taken: rows of the largest residual ("max-res"), random rows
        ("random"), those among random candidates that lower the objective most ("mp") or are
        steepest ("boost"); or, in one pass, all rows that are new enough ("ald") or new and useful
        enough ("ran"). The objects, in this order: `MaxResidual`, `Random`, `MatchingPursuit`,
        `SteepestDescent`, `ALD` and `RAN`.
    update : {"joint", "full", "one"} or object of :mod:`kboost.settings`, default="joint"
        Which coefficients a step fits: those of all basis vectors, by conjugate gradients
        (`Joint`); those of all base learners, by a growing Cholesky factor (`Full`); or only the
        new one (`One`). The objects hold the columns per step, and how base learners and series of
        ensembles are made.
    loss : {"squared", "log", "hinge"}, default="squared"
        ``1/2 (y - f)^2``, ``log(1 + exp(-y f))`` or ``max(0, 1 - y f)^2``.
    ridge : float or "auto", default="auto"
        Weight of the squared norm in the RKHS; "auto" chooses it together with the kernels.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" gives all classes the same total weight.
    cells : int, "auto", Cells or None, default=None
        Cut the space into cells of at most so many distinct rows, each with its own least-squares
        problem (:class:`kboost.settings.Cells`). With ``kernels="auto"``, metric, kernel, width and
        ridge are chosen inside a few cells; `choice_` shows the result. Cells require dense rows,
        the squared loss, ``update="joint"``, ``early_stopping=None``, kernels that are not
        precomputed, and a `memory_budget` for one cell. "auto" takes cells of 2500 rows if all
        that holds and there are 20,000 distinct rows or more, and no cells otherwise.
    intercept : {"free", "none"}, default="free"
        Whether the model has an offset, outside the penalty.
    max_columns : int or None, default=None
        Basis vectors of the model, at most; None: 20 times the square root of the number of rows
        (up to 4,000 rows the least number that is almost as good on held-out rows), or all rows in
        cells. Cells share the number equally.
    max_iter : int or None, default=None
        Steps, at most; a fit in cells is one step.
    max_seconds : float or None, default=None
        Time limit of the fit, checked after each step. The choice of kernels and ridge gets at
        most half of it: with little time it uses fewer rows, and when its time is used up it is the
        best so far, or a default (`stop_reason_` mentions it).
    early_stopping : float, EarlyStopping or None, default=None
        Fraction of the rows to hold out; the fit stops when their error no longer falls, and the
        step of the lowest error is kept. :class:`kboost.settings.EarlyStopping` also sets the
        number of steps to wait.
    memory_budget : int, default=2**30
        Bytes for kernel values. The columns of the model are stored in float64, in float32, or
        recomputed when needed, as the budget allows. With `cells`, it must hold one cell; every
        thread holds one at a time.
    random_state : int, RandomState instance or None, default=0
        Draws rows and candidates.
    n_jobs : int or None, default=None
        Threads for kernel values, in `fit` and for predictions of many rows.
    verbose : int, default=0
        1 shows every step and the estimated time to the limit that will be reached first.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_columns_ : int
        Basis vectors of the model.
    columns_per_kernel_ : dict of str to int
        Basis vectors per kernel of the library.
    kernels_ : list of Kernel
        The library, with all widths resolved.
    ridge_ : float
        The ridge used.
    calibration_ : Calibration
        The slope behind `predict_proba`, the number of rows behind it, and whether these were left
        out (False after Ctrl-C or without time, when the slope is 2). Not with ``loss="log"``.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The basis vectors (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_columns_,) or (n_classes, n_columns_)
        Coefficients, kernel after kernel in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_classes,)
        The offset.
    objective_ : float or None
        The final objective over all outputs (in a series, of the last ensemble); None after
        `partial_fit`.
    dual_gap_ : None
        No bound is computed: columns that were not priced could be better.
    n_cells_ : int or None
        Number of cells in all partitions; None without cells.
    choice_ : LocalChoice or None
        Kernel and ridge chosen by ``kernels="auto"``, with the errors of what was compared.
    stop_reason_ : StopReason
        Why the fit ended: `rule` is the name of the rule, `str` gives the sentence.
    trace_ : Trace
        A record of each step; empty for a fit in cells.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X has any.

    References
    ----------
    Sun, Yao: Sparse approximation through boosting for learning large scale kernel machines, IEEE
    Transactions on Neural Networks 21, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kboost import SparseKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseKernelClassifier(max_columns=200).fit(X[:400], y[:400])
    >>> model.score(X[1000:], y[1000:]) > 0.93
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        selection: Any = "max-res",
        update: Any = "joint",
        loss: str = "squared",
        ridge: float | str = "auto",
        class_weight: Any = None,
        cells: Any = None,
        intercept: str = "free",
        max_columns: int | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        early_stopping: Any = None,
        memory_budget: int = 2**30,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.selection = selection
        self.update = update
        self.loss = loss
        self.ridge = ridge
        self.class_weight = class_weight
        self.cells = cells
        self.intercept = intercept
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.early_stopping = early_stopping
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseKernelClassifier:
        """Choose the basis and fit its coefficients.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows; a memory map is read chunk by chunk.
        y : array-like of shape (n,)
            Labels, two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        SparseKernelClassifier
            The fitted estimator. After Ctrl-C it holds the model found so far and
            KeyboardInterrupt is raised again; before the first step it stays unchanged.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    @available_if(_is_least_squares)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> SparseKernelClassifier:
        """Add a batch of rows, which are not kept; requires ``loss="squared"``.

        See :meth:`SparseKernelRegressor.partial_fit`. `class_weight` must be None or a dict.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (n_classes,), optional
            All labels of this and later batches; required in the first call, unless the estimator
            was fitted before.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice in the batch.

        Returns
        -------
        SparseKernelClassifier
            The estimator.
        """
        with not_kept():
            return self._guarded_fit(
                lambda: self._learn_batch(X, y, classes, sample_weight), X, y, sample_weight
            )

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; the predicted class has the largest.

        With ``loss="log"`` they are logistic functions of the decision values, normalised to sum
        to one. Otherwise they are a logistic function with one slope (`calibration_`), fitted to
        decision values of rows that were left out. With `class_weight` they refer to the weighted
        classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities in the order of `classes_`.
        """
        values = self._decision(X)
        calibration: Calibration | None = getattr(self, "calibration_", None)
        if calibration is not None:
            return calibration.probabilities(flat(values))
        return normalised_logistic(values)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logarithms in the order of `classes_`; finite, also where `predict_proba` gives 0.
        """
        values = self._decision(X)
        calibration: Calibration | None = getattr(self, "calibration_", None)
        if calibration is not None:
            return calibration.log_probabilities(flat(values))
        return log_normalised_logistic(values)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        plan, deadline = self._checked_plan(), Deadline.after(self.max_seconds)
        lazy = is_memory_map(X)
        X, y, weight = self._checked(X, y, sample_weight)
        codes = encode_labels(self, y)
        weight = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        check_two_classes(self.classes_, codes[weight > 0])
        self._run(plan, X, self._signs(codes), weight, deadline, lazy=lazy)

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        plan, first = self._checked_plan(), not hasattr(self, "_stream")
        X, y = check_table(self, X, y, reset=first)
        weight = check_weights(sample_weight, X.shape[0], heaviest=HEAVIEST_SQUARES)
        distinct_labels(y, "y")
        self.classes_ = self._stream_classes(classes, first=first)
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if len(self.classes_) < 2 or np.any(self.classes_[codes] != y):
            raise ValueError(
                "classes must contain two or more labels and all labels of y; "
                f"got classes={self.classes_.tolist()}."
            )
        if isinstance(self.class_weight, str):
            raise ValueError(
                "partial_fit requires class_weight to be None or a dict; "
                f"got class_weight={self.class_weight!r}."
            )
        weight = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        if not weight.any():
            raise ValueError(
                "class_weight must leave a positive weight in the batch; "
                f"got class_weight={self.class_weight!r}."
            )
        self._add_batch(plan, X, self._signs(codes), weight)

    def _stream_classes(self, classes: Any, *, first: bool) -> Any:
        """The labels of a stream: those given in the first call, or of an earlier fit."""
        earlier = getattr(self, "classes_", None)
        labels = None if classes is None else distinct_labels(classes, "classes")[0]
        if first:
            if labels is None and earlier is None:
                raise ValueError(
                    "classes must be given in the first call of partial_fit; got classes=None."
                )
            return earlier if labels is None else labels
        if labels is not None and not np.array_equal(labels, self.classes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()}; "
                f"got classes={labels.tolist()}."
            )
        return earlier

    def _checked_plan(self) -> SparsePlan:
        check_params(self.get_params(deep=False), _LOSS_RULE)
        return self._plan(labels=True, loss=self.loss)

    def _signs(self, codes: Any) -> FloatArray:
        """Targets -1 and 1: one column per class, or a single column for two classes."""
        if len(self.classes_) == 2:
            return np.where(codes[:, None] == 1, 1.0, -1.0)
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
