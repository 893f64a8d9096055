"""Sparse kernel machines for regression: forward selection and ensembles on many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kboost._rules import check_params, one_of
from kboost._typing import FloatArray
from kboost._validation import check_table, check_weights
from kboost.core.deadline import Deadline
from kboost.data.indexed_rows import indexed_rows
from kboost.estimators._sparse_kernel import SPARSE_RULES, SparseKernelBase, is_memory_map
from kboost.plans.streaming import stream_step


class SparseKernelRegressor(RegressorMixin, SparseKernelBase):
    """Regularised least squares on few basis vectors of many rows.

    The model is ``f(x) = intercept + sum_j coef_j k(x, c_j)`` with centres among the training rows,
    chosen step by step, and coefficients that minimise

        1/2 sum_i w_i (y_i - f(x_i))^2 + ridge/2 |f|^2

    in the RKHS (block by block for several kernels). Several targets share basis and work.

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
        leaves.
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
    loss : {"squared"}, default="squared"
        The loss.

    Attributes
    ----------
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
    coef_ : ndarray of shape (n_columns_,) or (n_targets, n_columns_)
        Coefficients, kernel after kernel in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_targets,)
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
    >>> import numpy as np
    >>> from kboost import SparseKernelRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 2))
    >>> y = np.sin(2 * X[:, 0]) * X[:, 1]
    >>> model = SparseKernelRegressor("ard", max_columns=60).fit(X, y)
    >>> model.n_columns_, model.score(X, y) > 0.99
    (60, True)
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseKernelRegressor:
        """Choose the basis and fit its coefficients.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Training rows; a memory map is read chunk by chunk.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        SparseKernelRegressor
            The fitted estimator. After Ctrl-C it holds the basis found so far and the interrupt
            is raised again; before the first step it stays as it was.
        """
        return self._guarded_fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseKernelRegressor:
        """Take a batch of rows in; they are not kept.

        The basis grows by the rows that are new enough ("ran": and useful enough; any other
        `selection`: "ald"), up to `max_columns` (1,000 by default). What earlier rows say about a
        later basis vector is known by projection on the basis they had. Kernels and ridge are
        chosen on the first batch. What belongs to a search among rows that are kept (`update`,
        `basis_per_step`, `n_candidates`, `n_init_rows`, `combination`, `shrinkage`, `series`), and
        `cells`, `partitions`, `validation_fraction`, `memory_budget` and the limits of steps and
        time have no part in it. A `fit` begins anew, and so does a `partial_fit` after it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice in the batch.

        Returns
        -------
        SparseKernelRegressor
            The estimator.
        """
        return self._guarded(lambda: self._take_in(X, y, sample_weight))

    def predict(self, X: Any) -> FloatArray:
        """Return the value of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
            Values.
        """
        values = self._decision(X)
        return values[:, 0] if self._flat else values

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> None:
        check_params(self.get_params(deep=False), SPARSE_RULES | {"loss": one_of("squared")})
        first = not hasattr(self, "_stream")
        X, y = check_table(self, X, y, reset=first, y_numeric=True, multi_output=True)
        weight = check_weights(sample_weight, X.shape[0])
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if not first and targets.shape[1] != len(self._stream.bias):
            raise ValueError(
                f"y must have {len(self._stream.bias)} targets, as in the first batch; "
                f"got {targets.shape[1]}."
            )
        if first:
            self._flat = y.ndim == 1
        stream_step(self, X, targets, weight, first)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> bool:
        check_params(self.get_params(deep=False), SPARSE_RULES | {"loss": one_of("squared")})
        deadline, lazy = Deadline.after(self.max_seconds), is_memory_map(X)
        X, y, weight = self._checked(X, y, sample_weight, y_numeric=True, multi_output=True)
        self._flat = y.ndim == 1
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        return self._fit(X, indexed_rows(X, targets, weight), X.shape[0], deadline, lazy=lazy)

    def _error(self, targets: FloatArray, decision: FloatArray, share: FloatArray) -> float:
        return float(share @ np.sum((targets - decision) ** 2, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
