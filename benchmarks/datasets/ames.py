"""Houses in Ames: 66 rows of the training part of the table, prices on a log scale.

Categories become indicators (`kboost.preparation`, fitted to the 66 rows): some 200 features.
Features and targets are standardised by the rows of training.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.datasets import Data, standardised


def load(n_train: int = 66, n_test: int = 500, seed: int = 0) -> Data:
    """Rows drawn by `seed` from the rows that tuning may read."""
    from benchmarks.tabular.data import tuning
    from kboost.preparation import TablePreparation

    split = tuning("ames", seed)
    frame, y = split.X_train, np.log(split.y_train)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # levels that the 66 rows lack
        prepare = TablePreparation().fit(frame.iloc[train], y[train])
        X_train, X_test = standardised(*(prepare.transform(frame.iloc[r]) for r in (train, test)))
    y = (y - y[train].mean()) / y[train].std()
    return Data(X_train, y[train], X_test, y[test])
