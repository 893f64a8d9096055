"""scikit-learn's SVC; its columns are its support vectors."""

from __future__ import annotations

from benchmarks.datasets import Data
from benchmarks.solvers import _sklearn


class Solver(_sklearn.Solver):
    def prepare(self, data: Data) -> None:
        from sklearn.svm import SVC

        self.estimator = SVC(**self.parameters)
