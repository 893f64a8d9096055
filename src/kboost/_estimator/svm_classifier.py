"""Classifiers whose outputs are support vector machines on binary problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kboost._estimator.base import KernelEstimator
from kboost._estimator.callbacks import callback_listeners
from kboost._estimator.predictors import CalibratedMixin, KernelClassifierMixin
from kboost._typing import FloatArray
from kboost.core.iterate import Listener
from kboost.data.multiclass import BinaryProblem, class_scores, output_names
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names


class SVMClassifier(CalibratedMixin, KernelClassifierMixin, KernelEstimator):
    """Class scores and labels from the values of the binary problems."""

    _binary_problems: Sequence[BinaryProblem]

    def _set_problems(self, problems: Sequence[BinaryProblem]) -> None:
        """Keep the classes of the problems, without their rows."""
        self._binary_problems = [
            replace(problem, rows=problem.rows[:0], signs=problem.signs[:0]) for problem in problems
        ]

    def _listeners(self, count: int) -> Callable[[int], Sequence[Listener]]:
        """The listeners of each of `count` outputs."""
        return lambda output: callback_listeners(
            self, number=output if count > 1 else None, kind="pair of classes"
        )

    def _outputs(self) -> tuple[Any, ...]:
        return output_names(self._binary_problems, self.classes_)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: (n,), or (n, n_classes) for more than two classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray
            Two classes: the value of the model, positive for the second class. More, one against
            one: the number of pairs that vote for a class, plus a fraction below 1/3 that grows
            with the sum of its values; one against the rest: the value of each class. The largest
            score is that of the predicted class.
        """
        return self._scored(self._decision(X))

    def _scored(self, values: FloatArray) -> FloatArray:
        return class_scores(values, self._binary_problems, len(self.classes_))

    def _answers(self, rows: Any) -> FloatArray:
        return self._scored(self._values_at(rows)).reshape(rows.shape[0], -1)

    def _is_sum(self) -> bool:
        return len(self.classes_) == 2  # otherwise pairs of classes are won or lost


def set_support_vectors(
    estimator: Any,
    kernels: Sequence[Kernel],
    columns_per_kernel: Sequence[int],
    centers: Any,
    coef: FloatArray,
    bias: FloatArray,
) -> None:
    """Set the fitted attributes of SVMs on the same rows; `coef` is (n_rows, n_outputs)."""
    used = np.flatnonzero(coef.any(axis=1))
    single = len(bias) == 1
    names = unique_names([repr(kernel) for kernel in kernels])
    estimator.kernels_ = list(kernels)
    estimator.columns_per_kernel_ = dict(zip(names, columns_per_kernel, strict=True))
    estimator.n_columns_ = sum(columns_per_kernel)
    estimator.centers_ = centers[used]
    estimator.dual_coef_ = coef[used, 0] if single else coef[used].T
    estimator.intercept_ = float(bias[0]) if single else bias
