"""Ours in cells: `SparseKernelClassifier`; parameters go to its constructor.

Two are no constructor parameters: `columns_per_cell`, of cells of the default size, and
`predict_dtype`.
"""

from __future__ import annotations

from typing import Any

from benchmarks.datasets import Data
from benchmarks.solvers import _sklearn


class Solver(_sklearn.Solver):
    def prepare(self, data: Data) -> None:
        from kboost import SparseKernelClassifier

        self.estimator = self.build(SparseKernelClassifier)

    def build(self, cls: Any, **options: Any) -> Any:
        """The estimator with the parameters of the job."""
        from kboost.settings import Cells

        parameters = {**self.parameters, **options}
        dtype = parameters.pop("predict_dtype", "float64")
        if (columns := parameters.pop("columns_per_cell", None)) is not None:
            parameters["cells"] = Cells(columns_per_cell=columns)
        return cls(**parameters).set_predict_dtype(dtype)

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(data.X_train, data.y_train))


class Model(_sklearn.Model):
    """Says what it chose."""

    def facts(self) -> dict[str, Any]:
        fitted = self.estimator
        return {
            "columns": int(fitted.n_columns_),
            "cells": fitted.n_cells_,
            "choice": str(fitted.choice_),
        }
