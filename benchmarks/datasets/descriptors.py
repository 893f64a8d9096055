"""Few rows of many features, like SRE's drug data (66 compounds, 323 descriptors), which are lost.

    f(x) = 2 [x1 > 0] + 1.5 [x2 > 0.3] + x3 - x4,      x normal, 323 features

with noise of 0.3 of f's deviation on the training targets and none on the test targets.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data


def load(n_train: int = 66, n_features: int = 323, n_test: int = 500, seed: int = 0) -> Data:
    """Rows drawn by `seed`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_train + n_test, n_features))
    f = 2.0 * (X[:, 0] > 0) + 1.5 * (X[:, 1] > 0.3) + X[:, 2] - X[:, 3]
    y = f[:n_train] + 0.3 * f.std() * rng.normal(size=n_train)
    return Data(X[:n_train], y, X[n_train:], f[n_train:])
