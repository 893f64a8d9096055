"""Ours along a path: `Cs` are followed in one call, the model is that of the last."""

from __future__ import annotations

from typing import Any

from benchmarks.datasets import Data
from benchmarks.solvers import kboost


class Solver(kboost.Solver):
    """`kboost.model_selection.path` with the estimator of the plain solver."""

    def __init__(self, Cs: list[float], **parameters: Any) -> None:
        super().__init__(**parameters)
        self.Cs = Cs

    def prepare(self, data: Data) -> None:
        from kboost.model_selection import path

        super().prepare(data)
        self.path = path

    def fit(self, data: Data) -> Model:
        return Model(self.path(self.estimator, data.X_train, data.y_train, Cs=self.Cs))


class Model(kboost.Model):
    """The last estimator, with facts of all points."""

    def __init__(self, found: Any) -> None:
        super().__init__(found.estimators[-1])
        self.found = found

    def facts(self) -> dict[str, Any]:
        return super().facts() | {
            "objectives": self.found.objective.tolist(),
            "gaps": self.found.dual_gap.tolist(),
            "columns_at": self.found.n_columns.tolist(),
        }
