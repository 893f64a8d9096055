"""Sparse kernel machines for classification: forward selection and ensembles on many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from kboost._rules import check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table, check_weights
from kboost.core.deadline import Deadline
from kboost.data.class_weight import class_factors
from kboost.data.indexed_rows import indexed_rows
from kboost.estimators._sparse_kernel import SPARSE_RULES, SparseKernelBase, is_memory_map
from kboost.plans.streaming import stream_step

LOSS_RULE = {"loss": one_of("squared", "log", "hinge")}


def is_logistic(model: Any) -> bool:
    """Whether there are probabilities."""
    if model.loss != "log":
        raise AttributeError(
            f"predict_proba must have loss='log', which is one of probabilities; "
            f"got loss={model.loss!r}."
        )
    return True


def _keeps_sums(model: Any) -> bool:
    if model.loss != "squared":
        raise AttributeError(
            f"partial_fit must have loss='squared', which needs sums and no rows; "
            f"got loss={model.loss!r}."
        )
    return True


class SparseKernelClassifier(ClassifierMixin, SparseKernelBase):
    """Classify with few basis vectors of many rows.

    The model is ``f(x) = intercept + sum_j coef_j k(x, c_j)`` with centres among the training rows,
    chosen step by step, and coefficients that minimise

        sum_i w_i loss(y_i, f(x_i)) + ridge/2 |f|^2,     y_i = -1 or 1

    in the RKHS (block by block for several kernels). With more than two classes each is fitted
    against the rest; they share basis and work.

    Parameters
    ----------
    kernels : "auto", "ard", "precomputed", or list of kernels, names and callables, default="auto"
        The library; kernels must be positive semidefinite. "ard" is a Gaussian with a width for
        each feature (:func:`kboost.kernels.fit_ard`). "auto" lets that and some others compete on
        a thousand rows. With "precomputed", X is ``[K_1 ... K_P]`` side by side.
    selection : {"max-res", "random", "mp", "boost", "ald", "ran"}, default="max-res"
        Which basis vectors are taken: rows of large residual, random ones, those that lower the
        objective most ("mp") or steepest ("boost") among `n_candidates`, or in one pass all that
        are new enough ("ald") or new and useful enough ("ran").
    basis_per_step : int or "auto", default="auto"
        Basis vectors a step. More than one make a base learner (with `update` "full" or "one") or
        are columns of their own (with "joint", whose steps grow by default); "auto" is 1 unless
        `update` is "joint".
    update : {"joint", "full", "one"}, default="joint"
        Which coefficients a step sets: those of all basis vectors, by a preconditioned iteration;
        those of all base learners, by a growing factor; or the new one.
    ridge : float or "auto", default="auto"
        Weight of the squared norm in the RKHS; "auto" finds it with the kernels, on a thousand
        rows.
    n_candidates : int or None, default=60
        How many random columns "mp" and "boost" look at, a step of one; None: all of them.
    n_init_rows : int or None, default=None
        How many rows a step of several draws to select among; None: ten times the basis vectors
        of a base learner, and for "joint", where rows are drawn by their squared residual, twice.
    ald_threshold : float, default=1e-2
        The squared distance in feature space to the span of the basis that "ald" asks for.
    ran_threshold : float, default=1e-4
        That distance times the drop of the objective, in variances of the targets, for "ran".
    combination : {"boost", "mp"}, default="boost"
        How a base learner combines its basis vectors: by steepest descent in the RKHS, or by least
        squares.
    shrinkage : float, default=1.0
        With ``update="one"``, how much of each new coefficient is taken.
    series : int or None, default=None
        Base learners an ensemble, in a series of ensembles each fitted to what the sum before it
        leaves, looking only at rows whose
        margin is below 1/2.
    cells : int, "auto" or None, default=None
        Cut the space into cells of at most so many distinct rows, each a least-squares problem of
        its own (`max_columns` counts in each; None: all its rows). With ``kernels="auto"``, raw,
        standardised, ranked and learned metrics, kernels, widths and ridges compete inside some
        cells; `choice_` says what won. Cells need dense rows, the squared loss, kernels that are
        not precomputed and a `memory_budget` for one of them, and parameters that only a fit in
        steps uses (`basis_per_step`, `update`, `n_candidates`, `n_init_rows`, `ald_threshold`,
        `ran_threshold`, `combination`, `shrinkage`, `series`, `validation_fraction`, and
        `selection` without `max_columns`) must have their defaults: a number is refused
        otherwise. "auto" takes cells of 2500 where all that is so and there are 20,000 distinct
        rows or more, and none elsewhere; `n_cells_` says which.
    partitions : int, default=1
        How many random partitions into cells are fitted and averaged, which smooths the borders;
        of no effect where "auto" takes no cells.
    fit_intercept : bool, default=True
        Whether there is an offset, outside the penalty.
    max_columns : int or None, default=None
        How many basis vectors the model may have; None: 20 times the square root of the rows.
    max_iter : int or None, default=None
        How many steps there may be; a fit in cells is one.
    max_seconds : float or None, default=None
        Time limit of the fit, which ends with the step that runs then. The choice of kernels and
        ridge gets half of it at most: with little time it is made on fewer rows, and out of time
        it is the best of what was judged so far, or a plain default (`stop_reason_` says so).
    validation_fraction : float or None, default=None
        Part of the rows to hold out; the fit stops when their error no longer falls, and the step
        of the lowest error is kept.
    n_iter_no_change : int, default=5
        How many steps without a lower held-out error are waited for.
    memory_budget : int, default=2**30
        Bytes that kernel values may take. The columns of the model are kept in float64, in
        float32, or made again when they are needed, as it allows. With `cells`, those of one cell
        must fit; every thread has one at a time.
    random_state : int, RandomState instance or None, default=0
        Draws rows and candidates.
    predict_dtype : {"float64", "float32"}, default="float64"
        Arithmetic of the kernels at prediction. It may be set after `fit`. With a tiny ridge
        coefficients are huge and cancel, and rounding shows: float32 is off by about 1e-5 times
        the sum of ``abs(coef_)``.
    n_jobs : int or None, default=None
        Threads for kernel values, in `fit` and for predictions of many rows.
    verbose : int, default=0
        1 shows every step, and about how long it is to the limit that is reached first.
    loss : {"squared", "log", "hinge"}, default="squared"
        ``1/2 (y - f)^2``, ``log(1 + exp(-y f))`` or ``max(0, 1 - y f)^2``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes; "balanced" makes them weigh the same in all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_columns_ : int
        Basis vectors in the model.
    columns_per_kernel_ : dict of str to int
        How many of them belong to each kernel of the library.
    kernels_ : list of Kernel
        The library, with the widths found.
    ridge_ : float
        The ridge used.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The basis vectors (their row numbers, for precomputed kernels).
    coef_ : ndarray of shape (n_columns_,) or (n_classes, n_columns_)
        Coefficients, kernel after kernel in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_classes,)
        The offset.
    objective_ : float
        The objective at the end (of the last ensemble, in a series), over all outputs.
    dual_gap_ : None
        Columns that were not looked at could be better; nothing is certified.
    n_cells_ : int or None
        Cells of all partitions.
    choice_ : LocalChoice or None
        Metric, kernel and ridge chosen for cells, with the errors of those that lost.
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

    References
    ----------
    Sun, Yao: Sparse approximation through boosting for learning large scale kernel machines, IEEE
    Transactions on Neural Networks 21, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kboost import SparseKernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseKernelClassifier(max_columns=300).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.93
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        selection: str = "max-res",
        basis_per_step: int | str = "auto",
        update: str = "joint",
        loss: str = "squared",
        ridge: float | str = "auto",
        n_candidates: int | None = 60,
        n_init_rows: int | None = None,
        ald_threshold: float = 1e-2,
        ran_threshold: float = 1e-4,
        combination: str = "boost",
        shrinkage: float = 1.0,
        series: int | None = None,
        class_weight: Any = None,
        cells: int | str | None = None,
        partitions: int = 1,
        fit_intercept: bool = True,
        max_columns: int | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int = 5,
        memory_budget: int = 2**30,
        random_state: Any = 0,
        predict_dtype: str = "float64",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.selection = selection
        self.basis_per_step = basis_per_step
        self.update = update
        self.loss = loss
        self.ridge = ridge
        self.n_candidates = n_candidates
        self.n_init_rows = n_init_rows
        self.ald_threshold = ald_threshold
        self.ran_threshold = ran_threshold
        self.combination = combination
        self.shrinkage = shrinkage
        self.series = series
        self.class_weight = class_weight
        self.cells = cells
        self.partitions = partitions
        self.fit_intercept = fit_intercept
        self.max_columns = max_columns
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.memory_budget = memory_budget
        self.random_state = random_state
        self.predict_dtype = predict_dtype
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
            The fitted estimator. After Ctrl-C it holds the basis found so far and the interrupt
            is raised again; before the first step it stays as it was.
        """
        return self._guarded_fit(X, y, sample_weight)

    @available_if(_keeps_sums)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> SparseKernelClassifier:
        """Take a batch of rows in; they are not kept. For ``loss="squared"``.

        See :meth:`SparseKernelRegressor.partial_fit`. `class_weight` must be None or a dict.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will come; needed in the first call, unless there was a `fit`.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice in the batch.

        Returns
        -------
        SparseKernelClassifier
            The estimator.
        """
        return self._guarded(lambda: self._take_in(X, y, classes, sample_weight))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the model's values: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray
            Positive for the second class, or largest for the class predicted.
        """
        values = self._decision(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Any:
        """Return the label of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        values = self._decision(X)
        several = values.shape[1] > 1
        codes = values.argmax(axis=1) if several else (values[:, 0] > 0).astype(np.intp)
        return self.classes_[codes]

    @available_if(is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; only with ``loss="log"``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Logistic functions of the decision values, made to sum to one.
        """
        values = self._decision(X)
        if values.shape[1] == 1:
            values = np.hstack([-values, values])
        logs = -np.logaddexp(0.0, -values)
        raw = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(raw / raw.sum(axis=1, keepdims=True))

    _labels_are_signs = True

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> bool:
        check_params(self.get_params(deep=False), SPARSE_RULES | LOSS_RULE)
        deadline, lazy = Deadline.after(self.max_seconds), is_memory_map(X)
        X, y, weight = self._checked(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        present = np.unique(codes[weight > 0])
        if len(present) < 2:
            got = f"one class, {self.classes_[present[0]]}" if len(present) else "none"
            raise ValueError(f"y must have at least two classes with a positive weight; got {got}.")
        return self._fit(
            X, indexed_rows(X, self._signs(codes), weight), X.shape[0], deadline, lazy=lazy
        )

    def _take_in(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), SPARSE_RULES | LOSS_RULE)
        first = not hasattr(self, "_stream")
        X, y = check_table(self, X, y, reset=first)
        weight = check_weights(sample_weight, X.shape[0])
        check_classification_targets(y)
        known = getattr(self, "classes_", None)  # of an earlier fit
        if first and classes is None and known is None:
            raise ValueError("classes must be given in the first call of partial_fit; got None.")
        if first:
            labels: Any = known if classes is None else classes
            self.classes_ = np.unique(labels)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes must be those of the first call, {self.classes_.tolist()}; "
                f"got {np.unique(classes).tolist()}."
            )
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if len(self.classes_) < 2 or np.any(self.classes_[codes] != y):
            raise ValueError(
                "classes must name two or more labels, and all that are in y; got "
                f"{self.classes_.tolist()}."
            )
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight must be None or a dict for partial_fit, which does not know the "
                f"batches to come; got class_weight={self.class_weight!r}."
            )
        weight = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        if not weight.any():
            raise ValueError(
                "class_weight must leave a positive weight to some row of a batch; "
                f"got class_weight={self.class_weight!r}."
            )
        stream_step(self, X, self._signs(codes), weight, first)

    def _signs(self, codes: Any) -> FloatArray:
        """-1 and 1, one column a class, or one in all for two."""
        if len(self.classes_) == 2:
            return np.where(codes[:, None] == 1, 1.0, -1.0)
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _error(self, targets: FloatArray, decision: FloatArray, share: FloatArray) -> float:
        if targets.shape[1] == 1:
            return float(share @ ((decision[:, 0] > 0) != (targets[:, 0] > 0)))
        return float(share @ (decision.argmax(axis=1) != targets.argmax(axis=1)))
