"""Ours. `library` is "auto" or letters: L linear, Q quadratic, R Gaussian of the mean width.

"LQR" is a library of three kernels, "L+Q+R" of one, their sum.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray


class Solver:
    """`KernelBoostClassifier`; every other parameter goes to its constructor."""

    def __init__(self, library: str = "auto", **parameters: Any) -> None:
        self.library, self.parameters = library, parameters

    def prepare(self, data: Data) -> None:
        from kboost import KernelBoostClassifier
        from kboost.presets import cg_boost_kernels

        chosen = [kernel for name in self.names for kernel in cg_boost_kernels(name)] or "auto"
        parameters = dict(self.parameters)
        dtype = parameters.pop("predict_dtype", "float64")
        self.estimator = KernelBoostClassifier(chosen, **with_solver(parameters))
        self.estimator.set_predict_dtype(dtype)

    @property
    def names(self) -> list[str]:
        """The kernels of the library as letters; none for "auto"."""
        return [] if self.library == "auto" else re.findall(r"\w(?:\+\w)*", self.library)

    def fit(self, data: Data) -> Model:
        held = {} if data.X_val is None else {"X_val": data.X_val, "y_val": data.y_val}
        return Model(self.estimator.fit(data.X_train, data.y_train, **held), self.names)


def with_solver(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the estimator, with those of its solver collected into settings."""
    from kboost.settings import ColumnGeneration, EarlyStopping

    given = dict(parameters)
    names = ("pricing", "columns_per_step", "stop_at_errors", "memory_budget")
    solver = {name: given.pop(name) for name in names if name in given}
    if "n_iter_no_change" in given:
        solver["early_stopping"] = EarlyStopping(None, given.pop("n_iter_no_change"))
    return {**given, "solver": ColumnGeneration(**solver)}


class Model:
    """The fitted estimator, as the judge wants it."""

    def __init__(self, estimator: Any, names: Sequence[str] = ()) -> None:
        self.estimator, self.names = estimator, names

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.predict(X))

    def decision(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.decision_function(X))

    def penalty(self) -> float | None:
        """Sum of the absolute coefficients; only where columns are used as they are."""
        if self.estimator.column_scaling is not None or self.estimator.penalty != "l1":
            return None
        return float(np.abs(self.estimator.dual_coef_).sum())

    def facts(self) -> dict[str, Any]:
        fitted = self.estimator
        traces = fitted.trace_ if np.ndim(fitted.objective_) else [fitted.trace_]
        counts = fitted.columns_per_kernel_
        errors = np.concatenate([trace.values("validation_error") for trace in traces])
        return {
            "columns": int(fitted.n_columns_),
            "columns_generated": int(sum(trace[-1].n_columns for trace in traces)),
            "priced_per_step": float(np.mean([step.n_priced for t in traces for step in t])),
            "gap": float(np.max(fitted.dual_gap_)),
            "objective_reported": float(np.sum(fitted.objective_)),
            "columns_per_kernel": dict(zip(self.names or counts, counts.values(), strict=True)),
            "validation_error": None if np.isnan(errors).all() else float(np.nanmin(errors)),
            "iterations": max(len(trace) for trace in traces),
            "stop_reason": str(fitted.stop_reason_),
        }
