"""Labels and values from the outputs of a fitted model."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from kboost._estimator.base import flat
from kboost._estimator.labels import predicted_codes
from kboost._estimator.unpredicted import unpredicted_classes
from kboost._typing import FloatArray
from kboost.exceptions import UnpredictedClassWarning


class KernelClassifierMixin(ClassifierMixin):
    """`decision_function` and `predict` of an estimator with `_decision` and `classes_`."""

    classes_: Any

    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision values.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Positive for the second class; with more than two classes, largest for the predicted
            class.
        """
        return flat(self._decision(X))

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
        codes = predicted_codes(self.decision_function(X))
        return self.classes_[codes]

    def _warn_of_classes(self, X: Any, y: Any, sample_weight: Any) -> None:
        """One warning for classes that are predicted for no training row; none in a stream."""
        if hasattr(self, "_stream"):
            return
        if labels := unpredicted_classes(self, X, y, sample_weight):
            warnings.warn(
                f"{type(self).__name__} predicts {', '.join(map(repr, labels))} for none of its "
                "training rows: set class_weight='balanced' (or sample_weight) to raise the "
                "weight of rare classes, or raise C (lower ridge).",
                UnpredictedClassWarning,
                stacklevel=5,
            )


class KernelRegressorMixin(RegressorMixin):
    """`predict` of an estimator with `_decision`."""

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted value of each row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n,)
            Values.
        """
        return flat(self._decision(X))
