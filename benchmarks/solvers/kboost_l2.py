"""Ours with the 2-norm penalty on scaled columns; the judge gets its own count of the penalty."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import Data
from benchmarks.solvers import kboost
from benchmarks.solvers.full_lp import all_columns, mean_squared_distance
from benchmarks.solvers.full_qp import scales


class Solver(kboost.Solver):
    """`KernelBoostClassifier(penalty="l2")` on a library of letters."""

    def __init__(self, library: str = "LQR", **parameters: Any) -> None:
        super().__init__(library, penalty="l2", **parameters)

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(data.X_train, data.y_train), self.library, data)


class Model(kboost.Model):
    """The fitted estimator; `penalty` is written out from kernels, centres and coefficients."""

    def __init__(self, estimator: Any, library: str, data: Data) -> None:
        super().__init__(estimator)
        self.library, self.X = library, data.X_train

    def penalty(self) -> float:
        """`1/2 sum_j s_j^2 coef_j^2`, the scales s_j from the columns at the training rows."""
        fitted, width = self.estimator, mean_squared_distance(self.X)
        ends = np.cumsum(list(fitted.columns_per_kernel_.values()))
        total = 0.0
        for letter, first, end in zip(self.library, [0, *ends[:-1]], ends, strict=True):
            columns = all_columns(self.X, fitted.centers_[first:end], letter, width)
            total += 0.5 * float(np.sum((scales(columns) * fitted.dual_coef_[first:end]) ** 2))
        return total
