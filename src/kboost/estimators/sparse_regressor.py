"""Sparse kernel machines for regression: forward selection and ensembles on many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kboost._typing import FloatArray
from kboost._validation import HEAVIEST_SQUARES, check_table, check_weights
from kboost.core.checkpoint import not_kept
from kboost.core.deadline import Deadline
from kboost.estimators._sparse_kernel import SparseKernelBase, is_memory_map


class SparseKernelRegressor(RegressorMixin, SparseKernelBase):
    """Regularised least squares on few basis vectors among many rows.

    The model is ``f(x) = intercept + sum_j coef_j k(x, c_j)`` with centres among the training rows,
    chosen step by step, and coefficients that minimise

        1/2 sum_i w_i (y_i - f(x_i))^2 + ridge/2 |f|^2

    in the RKHS (the sum of the norms, for several kernels). Several targets share the basis.

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
    ridge : float or "auto", default="auto"
        Weight of the squared norm in the RKHS; "auto" chooses it together with the kernels.
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
    n_columns_ : int
        Basis vectors of the model.
    columns_per_kernel_ : dict of str to int
        Basis vectors per kernel of the library.
    kernels_ : list of Kernel
        The library, with all widths resolved.
    ridge_ : float
        The ridge used.
    centers_ : ndarray or CSR matrix of shape (n_columns_, n_features_in_)
        The basis vectors (their row numbers, for precomputed kernels).
    dual_coef_ : ndarray of shape (n_columns_,) or (n_targets, n_columns_)
        Coefficients, kernel after kernel in the order of `kernels_`.
    intercept_ : float or ndarray of shape (n_targets,)
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
        selection: Any = "max-res",
        update: Any = "joint",
        ridge: float | str = "auto",
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
        self.ridge = ridge
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
            The fitted estimator. After Ctrl-C it holds the model found so far and
            KeyboardInterrupt is raised again; before the first step it stays unchanged.
        """
        return self._guarded_fit(lambda: self._learn(X, y, sample_weight), X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> SparseKernelRegressor:
        """Add a batch of rows, which are not kept.

        The basis grows by the rows that pass the test of `selection` (`ALD` or `RAN`; any other
        selection stands for `ALD`), up to `max_columns` (1,000 by default). The columns of later
        basis vectors at earlier rows are projections on the basis of that time. Kernels and ridge
        are chosen on the first batch. `update`, `cells`, `early_stopping`, `memory_budget`,
        `max_iter` and `max_seconds` apply to `fit` only. `fit` ends a stream, and `partial_fit`
        after it starts a new one.

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
        with not_kept():
            return self._guarded_fit(
                lambda: self._learn_batch(X, y, sample_weight), X, y, sample_weight
            )

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

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        plan, deadline = self._plan(labels=False), Deadline.after(self.max_seconds)
        lazy = is_memory_map(X)
        X, y, weight = self._checked(X, y, sample_weight, y_numeric=True, multi_output=True)
        self._flat = y.ndim == 1
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self._run(plan, X, targets, weight, deadline, lazy=lazy)

    def _learn_batch(self, X: Any, y: Any, sample_weight: Any) -> None:
        plan, first = self._plan(labels=False), not hasattr(self, "_stream")
        X, y = check_table(self, X, y, reset=first, y_numeric=True, multi_output=True)
        weight = check_weights(sample_weight, X.shape[0], heaviest=HEAVIEST_SQUARES)
        targets = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        if first:
            self._flat = y.ndim == 1
        elif targets.shape[1] != len(self._stream.bias):
            raise ValueError(
                f"y must have {len(self._stream.bias)} targets, as in the first batch; "
                f"got {targets.shape[1]}."
            )
        self._add_batch(plan, X, targets, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
