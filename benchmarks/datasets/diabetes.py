"""scikit-learn's diabetes data with the squares and products of its ten features: 65 in all.

A few rows to train, all the others to test; targets are standardised by those of training.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import Data, standardised


def load(n_train: int = 66, seed: int = 0) -> Data:
    """Rows drawn by `seed`."""
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures

    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    products = PolynomialFeatures(2, include_bias=False).fit_transform(X / X.std(axis=0))
    X_train, X_test = standardised(products[train], products[test])
    y = (y - y[train].mean()) / y[train].std()
    return Data(X_train, y[train], X_test, y[test])
