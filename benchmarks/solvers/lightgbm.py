"""LightGBM's classifier; it has no columns to count."""

from __future__ import annotations

from benchmarks.datasets import Data
from benchmarks.solvers import _sklearn


class Solver(_sklearn.Solver):
    def prepare(self, data: Data) -> None:
        from lightgbm import LGBMClassifier

        self.estimator = LGBMClassifier(verbosity=-1, **self.parameters)
