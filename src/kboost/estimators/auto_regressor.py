"""Regression on any table: the best mixture of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_y

from kboost._rules import FRACTION, check_params
from kboost._typing import FloatArray
from kboost._validation import check_numeric
from kboost.auto.intervals import LeftOutResiduals, interval, residuals_of
from kboost.auto.learning_rows import learning_rows
from kboost.auto.scored_candidate import Scorer
from kboost.auto.scores import negative_squared_error
from kboost.auto.target_scale import TargetScale
from kboost.core.deadline import now
from kboost.data.indexed_rows import indexed_rows
from kboost.estimators._auto import AutoKernelBase
from kboost.estimators._kernel_boost import ValidationInput, prepare
from kboost.estimators._left_out import LeftOutModel, named_scorer
from kboost.estimators.regressor import KernelBoostRegressor
from kboost.estimators.sparse_regressor import SparseKernelRegressor
from kboost.kernels.base import Kernel
from kboost.metric.folds import LearningRows
from kboost.plans.margin_plan import MarginPlan
from kboost.plans.sparse import SparseResult
from kboost.plans.training_data import TrainingData

_LARGEST = 1e150  # beyond, squares overflow


class AutoKernelRegressor(RegressorMixin, AutoKernelBase):
    """The best mixture of kernels for the numbers of a table.

    Columns may be numbers, categories, strings, booleans, dates and short texts, with missing
    values. Kernels of several families learn one width per feature; they are judged on rows they
    never saw, alone and blended, for a target with heavy tails also on a logarithmic scale. The
    best one is fitted to all rows.

    Parameters
    ----------
    max_seconds : float, "auto" or None, default="auto"
        Time limit of the search and the fit; "auto" is 60 seconds up to 20,000 rows, and in
        proportion to the rows above. There is always a model.
    prefer : {"accuracy", "size", "speed"}, default="accuracy"
        "size" takes the fewest columns within 5 % of the lowest squared error on rows left out, or
        a little more if the difference may be chance; "speed" at most 256 columns within 10 %. For
        such a model joint fits of few basis vectors compete with column generation.
    scoring : str or None, default=None
        Name of a scikit-learn scorer that decides on rows left out; None: the squared error.
    n_jobs : int or None, default=None
        Threads for kernel values.
    random_state : int, RandomState instance or None, default=0
        Draws rows where they are drawn.
    verbose : int, default=0
        1 shows every step of the final fit.

    Attributes
    ----------
    leaderboard_ : list of dict
        The candidates, the best first: score on rows left out (larger is better) with its standard
        error, seconds, microseconds per predicted row, bytes and columns (these three estimated).
    estimator_ : SparseKernelRegressor or KernelBoostRegressor
        The fitted sum of kernels, on prepared rows and on the scale of `target_scale_`.
    preparation_ : TablePreparation
        The transformer from the table to numbers.
    target_scale_ : TargetScale
        The transform of the target.
    residuals_ : LeftOutResiduals
        Residuals of rows left out, for `predict_interval`.
    reason_ : str
        Why this model.
    scoring_ : str
        What decided.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each column of the table in the variation of the model (total effects), at the rows
        that the model keeps.
    n_columns_ : int
        Kernel columns of the model.
    columns_per_kernel_ : dict of str to int
        Columns per kernel.
    kernels_ : list of Kernel
        The kernels of the model.
    dual_gap_ : float or None
        Certified relative distance of a model of column generation to the optimum over its whole
        library; None for other models.
    stop_reason_ : StopReason
        Why the final fit ended.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names, where there are any.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kboost import AutoKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AutoKernelRegressor().fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.45
    True
    """

    target_scale_: TargetScale
    residuals_: LeftOutResiduals

    def __init__(
        self,
        *,
        max_seconds: Any = "auto",
        prefer: str = "accuracy",
        scoring: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.max_seconds = max_seconds
        self.prefer = prefer
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AutoKernelRegressor:
        """Search for the best model and fit it to all rows.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            A frame (pandas, polars, ...), an array or a sparse matrix.
        y : array-like of shape (n,)
            Numbers.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        AutoKernelRegressor
            The fitted estimator.
        """
        started = now()
        return self._guarded_fit(
            lambda: self._learn(X, y, sample_weight, started), X, y, sample_weight
        )

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted value of each row.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        values = self._decision(X)  # raises before fit
        return self.target_scale_.invert(values)[:, 0]

    def _answers(self, rows: Any) -> FloatArray:
        return self.target_scale_.invert(self._values_at(rows))

    def _is_sum(self) -> bool:
        return bool(self.target_scale_.kind == "identity")

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Return an interval for each row; they contain about this share of new targets.

        The intervals come from the residuals of rows left out. The share is over rows drawn like
        those of `fit`, not for each row by itself, and is not guaranteed: the same rows chose the
        model. On a transformed target the width grows with the size of the prediction; otherwise
        all intervals have one width.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.
        coverage : float, default=0.9
            Between 0 and 1. With few rows, intervals of a high coverage are infinite.

        Returns
        -------
        ndarray of shape (n, 2)
            Lower and upper bounds.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from kboost import AutoKernelRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = AutoKernelRegressor().fit(X[:300], y[:300])
        >>> low, high = model.predict_interval(X[300:], coverage=0.8).T
        >>> bool(((low <= y[300:]) & (y[300:] <= high)).mean() > 0.7)
        True
        """
        check_params({"coverage": coverage}, {"coverage": FRACTION})
        predicted = np.asarray(self.predict(X))
        return interval(self.target_scale_, self.residuals_, predicted, coverage)

    def _learn(self, X: Any, y: Any, sample_weight: Any, started: float) -> None:
        self._check_given(X, y)
        check_numeric(y, "y")
        y = _check_y(y, y_numeric=True, estimator=self)
        targets = np.asarray(y, dtype=np.float64)[:, None]
        if len(targets) and np.abs(targets).max() > _LARGEST:
            raise ValueError(
                f"y must be at most {_LARGEST:g} in size; got {np.abs(targets).max():g}."
            )
        deadline = self._deadline(len(targets), started)
        rows, weight = self._prepared(X, y, sample_weight, "regression", deadline)
        indexed = indexed_rows(rows, targets, weight)
        learning = learning_rows(rows, indexed, labels=False)
        scorer = self._scorer(learning)
        found = self._search(rows, indexed, learning, scorer, self._margin_problem, deadline)
        self.target_scale_ = found.winner.scale
        self.residuals_ = residuals_of(found.winner, learning, indexed)
        self._show_search(found, learning.X)

    def _sparse_model(self, result: SparseResult) -> Any:
        model = SparseKernelRegressor(list(result.kernels), ridge=result.ridge)
        model._flat = True
        return model

    def _margin_problem(
        self, kernels: Sequence[Kernel], X: FloatArray, targets: FloatArray, weight: FloatArray
    ) -> tuple[KernelBoostRegressor, MarginPlan, TrainingData]:
        """The problem of column generation."""
        estimator = KernelBoostRegressor(
            list(kernels), random_state=self.random_state, n_jobs=self.n_jobs
        )
        plan, data = prepare(estimator, X, targets[:, 0], weight, ValidationInput())
        return estimator, plan, data

    def _scorer(self, rows: LearningRows) -> Scorer:
        self.scoring_ = self.scoring or "neg_mean_squared_error"
        if self.scoring is None:
            return negative_squared_error(rows)
        y = rows.targets[:, 0]
        scorer = named_scorer(self.scoring, y, rows.weight, _predictions(y))
        return lambda values, left_out: scorer(_predictions(values[:, 0]), left_out)


def _predictions(values: FloatArray) -> LeftOutModel:
    return LeftOutModel(values, estimator_type="regressor")
