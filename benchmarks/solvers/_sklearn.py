"""What scikit-learn's classifiers have in common as peers."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.datasets import Data, FloatArray


class Model:
    """A fitted scikit-learn classifier."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def predict(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.estimator.predict(X))

    def facts(self) -> dict[str, Any]:
        support = getattr(self.estimator, "n_support_", None)
        return {} if support is None else {"columns": int(support.sum())}


class Solver:
    """Parameters go to the classifier's constructor; a subclass makes it in `prepare`."""

    estimator: Any

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def prepare(self, data: Data) -> None:
        raise NotImplementedError

    def fit(self, data: Data) -> Model:
        return Model(self.estimator.fit(data.X_train, data.y_train))
