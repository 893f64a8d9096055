"""scikit-learn's HistGradientBoostingClassifier; it has no columns to count."""

from __future__ import annotations

from benchmarks.datasets import Data
from benchmarks.solvers import _sklearn


class Solver(_sklearn.Solver):
    def prepare(self, data: Data) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.estimator = HistGradientBoostingClassifier(**self.parameters)
