"""Predictions of one row and of many, the size of a file, the time of an import."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

import kboost


class Predictions:
    def setup(self) -> None:
        X, y = make_moons(1000, noise=0.2, random_state=0)
        self.many = np.random.default_rng(0).normal(size=(100_000, 2))
        self.model = kboost.KernelBoostClassifier(["rbf"], C=1.0).fit(X, y)
        self.compiled = self.model.compile()

    def time_many_rows(self) -> None:
        self.model.predict(self.many)

    def time_one_row(self) -> None:
        self.model.predict(self.many[:1])

    def time_one_row_compiled(self) -> None:
        self.compiled.predict(self.many[:1])

    def track_bytes_of_a_file(self) -> int:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.kboost"
            kboost.save_model(self.model, path)
            return path.stat().st_size


def timeraw_import() -> str:
    return "import kboost"
