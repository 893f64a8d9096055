"""Labels and values from the outputs of a fitted model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

from kboost._estimator.base import flat
from kboost._estimator.labels import predicted_codes
from kboost._estimator.unpredicted import unpredicted_classes
from kboost._typing import FloatArray
from kboost.core.deadline import Deadline
from kboost.core.stopping import INTERRUPTED
from kboost.exceptions import UnpredictedClassWarning
from kboost.selection.calibration import Calibration, LeftOut, calibrate_on


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
            balanced = "class_weight" in type(self)._get_param_names()
            way = "class_weight='balanced' (or sample_weight)" if balanced else "sample_weight"
            warnings.warn(
                f"{type(self).__name__} predicts {', '.join(map(repr, labels))} for none of its "
                f"training rows: set {way} to raise the weight of rare classes, or raise C "
                "(lower ridge).",
                UnpredictedClassWarning,
                stacklevel=5,
            )


class CalibratedMixin:
    """`predict_proba` of a classifier with `decision_function` and `calibration_`."""

    calibration_: Calibration

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; the predicted class has the largest.

        The probabilities are a logistic function of the decision values, without an offset and
        with one slope for all classes (`calibration_`), fitted to rows that were left out.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities in the order of `classes_`.
        """
        decision: FloatArray = self.decision_function(X)  # type: ignore[attr-defined]
        return self.calibration_.probabilities(decision)

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
        decision: FloatArray = self.decision_function(X)  # type: ignore[attr-defined]
        return self.calibration_.log_probabilities(decision)

    def _calibrate(
        self, compute: Callable[[], LeftOut | None], fallback: float, deadline: Deadline
    ) -> None:
        """Set `calibration_`; after Ctrl-C the model is kept, if its reason can record it."""
        reasons: Any = getattr(self, "stop_reason_", [])
        listed = reasons if isinstance(reasons, list) else [reasons]
        if any(reason.rule == INTERRUPTED.rule for reason in listed):
            self.calibration_ = Calibration(fallback, 0, held_out=False)
            return
        self.calibration_, reason = calibrate_on(compute, fallback, deadline)
        if reason.rule == INTERRUPTED.rule:
            if not listed:
                raise KeyboardInterrupt
            self.stop_reason_ = [reason] * len(listed) if isinstance(reasons, list) else reason


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
