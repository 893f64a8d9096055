"""Labels and values from the outputs of a fitted model."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from kboost._estimator.base import flat
from kboost._estimator.labels import predicted_codes
from kboost._typing import FloatArray


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
