"""Classifiers with one support vector machine per binary problem, on a weighted sum of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._estimator.svm_classifier import SVMClassifier, set_support_vectors
from kboost._typing import FloatArray, IntArray
from kboost.columns.gram import MixtureFunction
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.data.svm_data import SVMData
from kboost.kernels.algebra import scale, sum_kernels


class MixtureSVMClassifier(SVMClassifier):
    """The fitted model: one part per output, on the weighted sum of the kernels."""

    def _set_functions(self, data: SVMData, functions: Sequence[MixtureFunction]) -> None:
        """Set the model and the attributes that describe it."""
        kernels, centers, n_outputs = data.kernels, data.centers, len(functions)
        coef = np.zeros((centers.shape[0], n_outputs))
        parts, counts = [], np.zeros(len(kernels), dtype=np.intp)
        for k, (problem, function) in enumerate(zip(data.problems, functions, strict=True)):
            rows = problem.rows[function.support]
            coef[rows, k] = function.coef
            weighted = zip(function.kernel_weights.tolist(), kernels, strict=True)
            mixed = sum_kernels(
                [scale(weight, kernel) for weight, kernel in weighted if weight > 0]
            )
            if mixed is not None and len(rows):
                of_output = np.zeros((len(rows), n_outputs))
                of_output[:, k] = function.coef
                parts.append(KernelPart(mixed, centers[rows], of_output, rows))
                counts[function.kernel_weights > 0] += len(rows)
        bias = np.array([function.bias for function in functions])
        self._model = AdditiveModel(tuple(parts), bias)
        self._set_problems(data.problems)
        set_support_vectors(self, kernels, counts.tolist(), centers, coef, bias)

    def _kernel_weights(self) -> FloatArray:
        """The kernel weights of each output, (n_outputs, n_kernels)."""
        weights = getattr(self, "kernel_weights_", np.ones(len(self.kernels_)))
        n_outputs = len(self._binary_problems)
        return np.broadcast_to(weights, (n_outputs, len(self.kernels_)))

    def _sum(self) -> AdditiveModel:
        """The model with the weighted sums split into single kernels."""
        weights, parts = self._kernel_weights(), []
        mixed: Sequence[Any] = self._model.parts
        for part in mixed:
            for output in np.flatnonzero(part.coef.any(axis=0)):  # at most one
                for weight, kernel in zip(weights[output].tolist(), self.kernels_, strict=True):
                    if weight > 0:
                        coef = weight * part.coef
                        parts.append(KernelPart(kernel, part.centers, coef, part.indices))
        return AdditiveModel(tuple(parts), self._model.bias)


def mixture(data: SVMData, kernel_weights: FloatArray, rows: IntArray) -> FloatArray:
    """The weighted sum of the kernels between some of the rows."""
    X, centers = data.rows.X[rows], data.centers[rows]
    total = np.zeros((len(rows), len(rows)))
    for weight, kernel in zip(kernel_weights.tolist(), data.kernels, strict=True):
        if weight > 0:
            total += weight * kernel(X, centers)
    return total
