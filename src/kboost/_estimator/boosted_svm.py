"""Classifiers made of boosting rounds of support vector machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.base import scalar_or_list
from kboost._estimator.explained_rounds import explained_rounds
from kboost._estimator.explanation import Explanation
from kboost._estimator.labels import predicted_codes
from kboost._estimator.parameter_rules import RULES as SHARED
from kboost._estimator.predictor import Decision
from kboost._estimator.svm_calibration import BOOSTED_SLOPE, left_out_rounds
from kboost._estimator.svm_classifier import SVMClassifier
from kboost._estimator.svm_input import RULES as SVM_RULES
from kboost._rules import UNIT, Rule, check_params, one_of
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table
from kboost.boosting.fit import assemble, kernel_usage
from kboost.boosting.rounds import BoostedSVMs
from kboost.boosting.svm_ensemble import TINY, SVMEnsemble, mean_margins
from kboost.core.deadline import Deadline
from kboost.data.multiclass import class_scores
from kboost.data.svm_data import SVMData
from kboost.kernels.names import unique_names
from kboost.selection.calibration import LeftOut
from kboost.solvers.threads import blas_threads_for

RULES: dict[str, Rule] = SVM_RULES | {
    "sample_ratio": UNIT,
    "column_scaling": one_of("mean", "trace", None),
    "random_state": SHARED["random_state"],
}


class BoostedSVMBase(SVMClassifier):
    """The fitted rounds, and predictions from them."""

    _limits = frozenset({"max_seconds"})
    _model: SVMEnsemble

    def _set_rounds(
        self, data: SVMData, boosted: Sequence[BoostedSVMs], deadline: Deadline
    ) -> None:
        """Set the fitted attributes; several outputs give lists."""
        self._model = assemble(data, boosted)
        self._set_problems(data.problems)
        self.kernels_ = list(data.kernels)
        names = unique_names([repr(kernel) for kernel in data.library])
        counts = self._model.columns_per_kernel
        self.kernel_usage_ = dict(zip(names, kernel_usage(len(names), boosted), strict=True))
        self.columns_per_kernel_ = dict(zip(names, counts, strict=True))
        self.n_columns_ = sum(counts)
        self.centers_ = self._model.centers
        weights = [np.array(result.weights) for result in boosted]
        self.estimator_weights_ = scalar_or_list(weights)
        self.errors_ = scalar_or_list([_errors(result) for result in boosted])
        self.stop_reason_ = scalar_or_list([result.reason for result in boosted])
        self.trace_ = scalar_or_list([result.trace for result in boosted])
        self.n_iter_ = max(len(w) for w in weights)
        self.dual_gap_ = None
        self._calibrate(lambda: self._left_out(data, boosted), BOOSTED_SLOPE, deadline)

    def _left_out(self, data: SVMData, boosted: Sequence[BoostedSVMs]) -> LeftOut | None:
        """Scores of the training rows by the rounds that did not draw them."""
        totals = [float(np.abs(weight).sum()) for weight in self._round_weights()]
        means = [result.left_out for result in boosted]

        def decision(at: IntArray) -> FloatArray:
            signs, weights = self._round_signs(data.rows.X[at]), self._round_weights()
            sums = [of_output @ weight for of_output, weight in zip(signs, weights, strict=True)]
            return self._values(sums, totals)

        if data.n_classes == 2:
            means = [means[0] * totals[0]]
        return left_out_rounds(data, means, decision)

    def set_predict_dtype(self, dtype: str) -> Self:
        """Choose the arithmetic of predictions; boosted SVMs have float64 only.

        Parameters
        ----------
        dtype : {"float64"}
            Predictions are votes of signs, which float32 could flip.

        Returns
        -------
        self
            The estimator.
        """
        check_params({"dtype": dtype}, {"dtype": one_of("float64")})
        return self

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the labels after each round, as a fit with that many rounds predicts them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Yields
        ------
        ndarray of shape (n,)
            Labels from `classes_`. A pair of classes with fewer rounds keeps its last value.
        """
        signs, weights = self._round_signs(self._checked(X)), self._round_weights()
        sums = [np.zeros(len(of_output)) for of_output in signs]
        totals = [0.0] * len(signs)
        n_classes = len(self.classes_)
        for t in range(self.n_iter_):
            for k, (of_output, weight) in enumerate(zip(signs, weights, strict=True)):
                if t < len(weight):
                    sums[k] = sums[k] + weight[t] * of_output[:, t]
                    totals[k] += abs(float(weight[t]))
            values = self._values(sums, totals)
            scores = class_scores(values, self._binary_problems, n_classes)
            yield self.classes_[predicted_codes(scores)]

    def _by_term(self, X: Any) -> Explanation:
        rows = self._checked(X)
        shares = self._round_weights()
        if len(self.classes_) > 2:
            shares = [share / max(float(np.abs(share).sum()), TINY) for share in shares]
        return explained_rounds(self._model, rows, shares, self._splitting())

    def _decision(self, X: Any) -> FloatArray:
        """The values of the outputs, (n, n_outputs)."""
        return self._values_at(self._checked(X))

    def _compiled(self, n_jobs: int) -> Decision:
        """Only the checks are fewer: rounds of support vector machines are not compiled."""
        return lambda X: self._values_at(self._quickly_checked(X))

    def _values_at(self, rows: Any) -> FloatArray:
        signs, weights = self._round_signs(rows), self._round_weights()
        sums = [of_output @ weight for of_output, weight in zip(signs, weights, strict=True)]
        return self._values(sums, [float(np.abs(weight).sum()) for weight in weights])

    def _values(self, sums: Sequence[FloatArray], totals: Sequence[float]) -> FloatArray:
        """Two classes: the weighted sum of the signs; more: the mean margin of each output."""
        margins = [mean_margins(s, total) for s, total in zip(sums, totals, strict=True)]
        if len(self.classes_) == 2:
            return (margins[0] * totals[0])[:, None]
        return np.column_stack(margins)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self, "n_columns_")
        return check_table(self, X, reset=False)

    def _round_signs(self, rows: Any) -> list[FloatArray]:
        """The sign of each round, (n, n_rounds) per output."""
        with blas_threads_for(rows.shape[0]):
            return self._model.rounds(rows)

    def _round_weights(self) -> list[FloatArray]:
        """The weights of the rounds of each output."""
        weights: Any = self.estimator_weights_
        return [weights] if len(self._binary_problems) == 1 else weights


def _errors(result: BoostedSVMs) -> FloatArray:
    """The errors of the rounds taken."""
    return np.array([record.error for record in result.trace if record.outcome != "reset"])
