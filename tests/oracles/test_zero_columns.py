"""Columns of zeros and rows without a loss do not end a fit while others remain."""

import numpy as np
import pytest

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.kernels import Gaussian, Linear
from kboost.settings import Full, MatchingPursuit, SteepestDescent


@pytest.mark.parametrize(
    "selection", ["random", MatchingPursuit(1), "max-res", SteepestDescent(1)], ids=str
)
@pytest.mark.parametrize("size", [1, 2])
def test_columns_of_zeros_are_skipped(selection, size):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[0] = 0.0
    y = X @ [1.0, 2.0]
    y[0] = 50.0  # the largest residual, at a row whose column is 0
    model = SparseKernelRegressor(
        [Linear()],
        selection=selection,
        update=Full(size, n_init_rows=2),
        ridge=1e-3,
        intercept="none",
        max_columns=8,
    ).fit(X, y)
    assert model.n_columns_ >= 2
    assert model.score(X[1:], y[1:]) > 0.99


@pytest.mark.parametrize("selection", ["max-res", "mp", "boost"])
def test_rows_without_a_loss_are_skipped(selection):
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = X[:, 0] + 0.3 * np.sin(3 * X[:, 1]) > 0
    model = SparseKernelClassifier(
        [Gaussian(1.0)],
        loss="hinge",
        selection=selection,
        update=Full(2, n_init_rows=5),
        ridge=1e-3,
        max_columns=40,
    ).fit(X, y)
    assert str(model.stop_reason_).startswith("max_columns=40")
