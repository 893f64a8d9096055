"""Classification of any table: the best mixture of kernels, with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from kboost._estimator.base import flat
from kboost._estimator.labels import check_two_classes, encode_labels
from kboost._typing import FloatArray, IntArray
from kboost.auto.fit import AutoResult
from kboost.auto.learning_rows import learning_rows
from kboost.auto.probabilities import (
    Probabilities,
    calibrate,
    calibrate_jointly,
    class_signs,
    shares_of,
)
from kboost.auto.scored_candidate import Scorer
from kboost.auto.scores import negative_log_loss
from kboost.core.deadline import Deadline, now
from kboost.data.class_weight import class_factors
from kboost.data.indexed_rows import indexed_rows
from kboost.data.merged_rows import merge_rows
from kboost.estimators._auto import AutoKernelBase
from kboost.estimators._kernel_boost import ValidationInput
from kboost.estimators._left_out import LeftOutModel, named_scorer
from kboost.estimators.classifier import KernelBoostClassifier, classifier_plan
from kboost.estimators.sparse_classifier import SparseKernelClassifier
from kboost.kernels.base import Kernel
from kboost.metric.folds import LearningRows
from kboost.plans.margin_plan import MarginPlan
from kboost.plans.sparse import SparseResult
from kboost.plans.training_data import TrainingData
from kboost.selection.calibration import Calibration


class AutoKernelClassifier(ClassifierMixin, AutoKernelBase):
    """The best mixture of kernels for the labels of a table, with calibrated probabilities.

    Columns may be numbers, categories, strings, booleans, dates and short texts, with missing
    values. Kernels of several families learn one width per feature; they are judged on rows they
    never saw, alone and blended. The winner is fitted to all rows. Probabilities are calibrated on
    rows left out, and the predicted class is the most probable one.

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
        Name of a scikit-learn scorer that decides on rows left out; None: the log loss.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the classes.
    n_jobs : int or None, default=None
        Threads for kernel values.
    random_state : int, RandomState instance or None, default=0
        Draws rows where they are drawn.
    verbose : int, default=0
        1 shows every step of the final fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    leaderboard_ : list of dict
        The candidates, the best first: score on rows left out (larger is better) with its standard
        error, seconds, microseconds per predicted row, bytes and columns (these three estimated).
    estimator_ : SparseKernelClassifier or KernelBoostClassifier
        The fitted sum of kernels, on prepared rows.
    preparation_ : TablePreparation
        The transformer from the table to numbers.
    probabilities_ : Probabilities
        Matrix and offsets of the calibration.
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
        library, the largest of the classes; None for other models.
    stop_reason_ : StopReason
        Why the final fit ended.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of str
        Their names, where there are any.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kboost import AutoKernelClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = AutoKernelClassifier().fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.95
    True
    """

    classes_: Any
    probabilities_: Probabilities

    def __init__(
        self,
        *,
        max_seconds: Any = "auto",
        prefer: str = "accuracy",
        scoring: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.max_seconds = max_seconds
        self.prefer = prefer
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AutoKernelClassifier:
        """Search for the best model and fit it to all rows.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            A frame (pandas, polars, ...), an array or a sparse matrix.
        y : array-like of shape (n,)
            Labels, two or more classes.
        sample_weight : array-like of shape (n,), optional
            Weights; a row of weight two equals the row given twice.

        Returns
        -------
        AutoKernelClassifier
            The fitted estimator.
        """
        started = now()
        return self._guarded_fit(
            lambda: self._learn(X, y, sample_weight, started), X, y, sample_weight
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Return the calibrated decision values.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            The log odds of the second class; with more than two classes, scores whose softmax are
            the probabilities.
        """
        return flat(self._head(self._decision(X)))  # raises before fit

    def predict(self, X: Any) -> Any:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Labels from `classes_`.
        """
        codes = self.predict_proba(X).argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n, n_columns)
            With the columns of `fit`.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of `classes_`.
        """
        values = self._decision(X)
        return self.probabilities_.log_probabilities(values)

    def _head(self, values: FloatArray) -> FloatArray:
        """The decision values, (n, 1) or (n, n_classes), from those of the sum of kernels."""
        scores = self.probabilities_.scores(values)
        return scores[:, 1:] - scores[:, :1] if len(self.classes_) == 2 else scores

    def _answers(self, rows: Any) -> FloatArray:
        return self._head(self._values_at(rows))

    def _learn(self, X: Any, y: Any, sample_weight: Any, started: float) -> None:
        self._check_given(X, y)
        y = column_or_1d(y, warn=True)
        codes = encode_labels(self, y)
        deadline = self._deadline(len(codes), started)
        rows, weight = self._prepared(X, y, sample_weight, "classification", deadline)
        weight = weight * class_factors(self.class_weight, self.classes_, codes, weight)[codes]
        check_two_classes(self.classes_, codes[weight > 0])
        n_classes = len(self.classes_)
        indexed = indexed_rows(rows, class_signs(codes, n_classes), weight)
        learning = learning_rows(rows, indexed, labels=True)
        scorer = self._scorer(learning)
        found = self._search(rows, indexed, learning, scorer, self._margin_problem, deadline)
        self.probabilities_ = _calibrated(found, learning, deadline)
        self._show_search(found, learning.X)
        slope = self.probabilities_.slope * (2.0 if n_classes == 2 else 1.0)
        self.estimator_.calibration_ = Calibration(slope, len(found.winner.rows), held_out=True)

    def _sparse_model(self, result: SparseResult) -> Any:
        model = SparseKernelClassifier(list(result.kernels), ridge=result.ridge)
        model.classes_ = self.classes_
        return model

    def _margin_problem(
        self, kernels: Sequence[Kernel], X: FloatArray, targets: FloatArray, weight: FloatArray
    ) -> tuple[KernelBoostClassifier, MarginPlan, TrainingData]:
        """The problem of column generation; a row of several classes becomes one row per class."""
        estimator = KernelBoostClassifier(
            list(kernels), random_state=self.random_state, n_jobs=self.n_jobs
        )
        estimator.classes_, estimator.n_features_in_ = self.classes_, X.shape[1]
        shares = shares_of(targets)
        row, code = np.nonzero(shares > 0)
        merged = merge_rows(X[row], code, weight[row] * shares[row, code])
        plan = classifier_plan(estimator, len(row), ValidationInput())
        return estimator, plan, TrainingData(merged)

    def _scorer(self, rows: LearningRows) -> Scorer:
        self.scoring_ = self.scoring or "neg_log_loss"
        if self.scoring is None:
            return negative_log_loss(rows)
        shares, weight, classes = shares_of(rows.targets), rows.weight, self.classes_
        labels = classes[shares.argmax(axis=1)]
        scorer = named_scorer(self.scoring, labels, weight, LeftOutModel(labels, shares, classes))

        def score(values: FloatArray, left_out: IntArray) -> float:
            logs = calibrate(values, shares[left_out], weight[left_out]).log_probabilities(values)
            return scorer(
                LeftOutModel(classes[logs.argmax(axis=1)], np.exp(logs), classes), left_out
            )

        return score


def _calibrated(found: AutoResult, rows: LearningRows, deadline: Deadline) -> Probabilities:
    """Probabilities from the rows left out; without time the simple kind."""
    left = found.winner.rows
    shares = shares_of(rows.targets)[left]
    fit = calibrate_jointly if deadline.remaining else calibrate
    return fit(found.winner.values, shares, rows.weight[left])
