"""A compiled predictor: the predictions of a fitted model with little work per call.

`predict` of an estimator checks its input as scikit-learn does and prepares centres at each call,
which for one row takes longer than the sum itself. A predictor prepares them once, and of an array
of numbers it checks dtype, shape and finiteness only. The estimator's own methods turn the values
of the sum into labels, probabilities or predictions: the predictor calls them on a copy of the
estimator whose `_decision` is the compiled one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from kboost._estimator.parameter_rules import RULES
from kboost._rules import check_params
from kboost._typing import FloatArray
from kboost.columns.compiled import compiled
from kboost.columns.float32 import to_float32
from kboost.core.model import AdditiveModel
from kboost.solvers.threads import one_blas_thread

Decision = Callable[[Any], FloatArray]  # input as the user gave it -> (n, n_outputs)


def _has(name: str) -> Callable[[Any], bool]:
    return lambda predictor: hasattr(predictor._fast, name)


class Predictor:
    """Predictions of a fitted model, prepared by its method `compile`.

    A predictor has those of the methods `predict`, `decision_function`, `predict_proba`,
    `predict_log_proba` and `score_samples` that the model has, with the same results to rounding.
    It keeps the state that the model had when it was compiled, can be pickled, and may be used by
    several threads at once.

    Parameters
    ----------
    model : estimator
        A fitted estimator of kboost.
    n_jobs : int or None, default=None
        Threads of large batches; None: the model's `n_jobs`, or all cores if that is None. A batch
        is large if it has more rows than one chunk, about two million kernel values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kboost import SparseKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> predictor = SparseKernelClassifier().fit(X, y).compile()
    >>> predictor.predict(X[:1])
    array([0])
    """

    def __init__(self, model: Any, n_jobs: int | None = None) -> None:
        check_params({"n_jobs": n_jobs}, {"n_jobs": RULES["n_jobs"]})
        if hasattr(model, "to_local"):  # of kboost.dask
            model = model.to_local()
        self._model, self._n_jobs = copy(model), n_jobs
        threads = getattr(model, "n_jobs", None) if n_jobs is None else n_jobs
        self._fast = copy(model)
        self._fast._decision = self._model._compiled(-1 if threads is None else threads)

    @property
    def classes_(self) -> Any:
        """Labels of a classifier."""
        return self._model.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self._model.n_features_in_)

    def predict(self, X: Any) -> Any:
        """Return the labels or values of rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows; an array of numbers is fastest. Other input is checked as by the model.

        Returns
        -------
        ndarray of shape (n,) or (n, n_targets)
            As `predict` of the model.
        """
        return self._fast.predict(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision values of rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            As `decision_function` of the model.
        """
        values: FloatArray = self._fast.decision_function(X)
        return values

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of `classes_`.
        """
        values: FloatArray = self._fast.predict_proba(X)
        return values

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of the probabilities.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of `classes_`.
        """
        values: FloatArray = self._fast.predict_log_proba(X)
        return values

    @available_if(_has("score_samples"))  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> FloatArray:
        """Return how similar rows are to the training rows.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            As `score_samples` of the model.
        """
        values: FloatArray = self._fast.score_samples(X)
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        return Predictor, (self._model, self._n_jobs)

    def __repr__(self) -> str:
        return f"Predictor({self._model!r})"


class CompiledSum:
    """The values of a sum of kernels at dense rows in float64."""

    def __init__(self, model: AdditiveModel, dtype: str, n_jobs: int) -> None:
        single = dtype == "float32"
        parts = tuple(map(to_float32, model.parts)) if single else compiled(model.parts)
        self._plain, self._model, self._n_jobs = model, AdditiveModel(parts, model.bias), n_jobs

    def __call__(self, rows: Any) -> FloatArray:
        if not isinstance(rows, np.ndarray):  # sparse
            return self._plain.decision(rows)
        try:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                values = self._sum(rows)
                if np.isfinite(values).all():
                    return values
        except ValueError:  # kernel values that are not finite
            pass
        return self._plain.decision(rows)  # raises with the kernel's name, or has finite values

    def _sum(self, rows: FloatArray) -> FloatArray:
        if self._n_jobs == 1 or len(self._model.chunks(*rows.shape)) == 1:
            return self._model.decision(rows)
        n_jobs = effective_n_jobs(self._n_jobs)
        with one_blas_thread() if n_jobs > 1 else nullcontext():
            return self._model.decision(rows, n_jobs)
