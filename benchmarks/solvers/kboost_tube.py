"""Ours in regression: `KernelBoostRegressor`; every parameter goes to its constructor."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray


class Solver:
    """The regressor, by default with kernels, C and epsilon chosen by itself."""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def prepare(self, data: Data) -> None:
        from kboost import KernelBoostRegressor

        self.estimator = KernelBoostRegressor(**self.parameters)

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(data.X_train, data.y_train), data)


class Model:
    """The fitted regressor, and its error at the test rows."""

    def __init__(self, estimator: Any, data: Data) -> None:
        self.estimator, self.data = estimator, data

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.predict(X))

    def facts(self) -> dict[str, Any]:
        fitted, y = self.estimator, self.data.y_test
        residual = y - self.predict(self.data.X_test)
        return {
            "columns": int(fitted.n_columns_),
            "gap": float(fitted.dual_gap_),
            "objective_reported": float(fitted.objective_),
            "C": float(fitted.C_),
            "epsilon": float(fitted.epsilon_),
            "rmse_of_std": float(np.sqrt(np.mean(residual**2)) / y.std()),
            "stop_reason": str(fitted.stop_reason_),
        }
