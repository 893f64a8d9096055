"""Ours. `library` is "auto" or letters: L linear, Q quadratic, R Gaussian of the mean width."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray


class Solver:
    """`KernelBoostClassifier`; every other parameter goes to its constructor."""

    def __init__(self, library: str = "auto", **parameters: Any) -> None:
        self.library, self.parameters = library, parameters

    def prepare(self, data: Data) -> None:
        from kboost import KernelBoostClassifier, kernels

        letters = {
            "L": kernels.Linear(),
            "Q": kernels.Polynomial(2),
            "R": kernels.Gaussian("mean"),
        }
        chosen = "auto" if self.library == "auto" else [letters[x] for x in self.library]
        self.estimator = KernelBoostClassifier(chosen, **self.parameters)

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(data.X_train, data.y_train))


class Model:
    """The fitted estimator, as the judge wants it."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.predict(X))

    def decision(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.decision_function(X))

    def penalty(self) -> float | None:
        """Sum of the absolute coefficients; only where columns are used as they are."""
        if self.estimator.column_scaling is not None or self.estimator.penalty != "l1":
            return None
        return float(np.abs(self.estimator.coef_).sum())

    def facts(self) -> dict[str, Any]:
        fitted = self.estimator
        traces = fitted.trace_ if np.ndim(fitted.objective_) else [fitted.trace_]
        return {
            "columns": int(fitted.n_columns_),
            "columns_generated": int(sum(trace[-1].n_columns for trace in traces)),
            "priced_per_step": float(np.mean([step.n_priced for t in traces for step in t])),
            "gap": float(np.max(fitted.dual_gap_)),
            "objective_reported": float(np.sum(fitted.objective_)),
            "columns_per_kernel": dict(fitted.columns_per_kernel_),
            "iterations": int(np.max(fitted.n_iter_)),
            "stop_reason": str(fitted.stop_reason_),
        }
