"""Ours in cells: `SparseKernelClassifier`; parameters go to its constructor."""

from __future__ import annotations

from typing import Any

from benchmarks.datasets import Data
from benchmarks.solvers import _sklearn


class Solver(_sklearn.Solver):
    def prepare(self, data: Data) -> None:
        from kboost import SparseKernelClassifier

        self.estimator = SparseKernelClassifier(**self.parameters)

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
