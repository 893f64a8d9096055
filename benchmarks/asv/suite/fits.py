"""A few fits of seconds: their time, and what they reach."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer, load_diabetes, make_moons

import kboost


class Margin:
    """Column generation with a given C, to its certificate."""

    params = ("1", "2")
    param_names = ("norm",)
    timeout = 120

    def setup(self, norm: str) -> None:
        self.X, self.y = load_breast_cancer(return_X_y=True)
        self.model = kboost.KernelBoostClassifier(["linear", "rbf"], C=1.0, penalty=f"l{norm}")

    def time_fit(self, norm: str) -> None:
        self.model.fit(self.X, self.y)

    def track_columns(self, norm: str) -> int:
        return int(self.model.fit(self.X, self.y).n_columns_)

    def track_gap(self, norm: str) -> float:
        return float(self.model.fit(self.X, self.y).dual_gap_)


class Sparse:
    """Least squares on 50 basis vectors of 5,000 rows."""

    timeout = 120

    def setup(self) -> None:
        self.X, self.y = make_moons(5000, noise=0.3, random_state=0)
        self.model = kboost.SparseKernelClassifier(max_columns=50)

    def time_fit(self) -> None:
        self.model.fit(self.X, self.y)

    def peakmem_fit(self) -> None:
        self.model.fit(self.X, self.y)


class Door:
    """The search of the Auto estimators on a small table; odd rows are left out."""

    timeout = 300
    number = 1
    repeat = 3

    def setup(self) -> None:
        self.X, self.y = load_diabetes(return_X_y=True)

    def fitted(self) -> kboost.AutoKernelRegressor:
        return kboost.AutoKernelRegressor().fit(self.X[::2], self.y[::2])

    def time_fit(self) -> None:
        self.fitted()

    def track_error(self) -> float:
        return 1.0 - float(self.fitted().score(self.X[1::2], self.y[1::2]))
