"""Quantile regression by the tube's linear program: the optimum, its certificate, the coverage."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from kboost import KernelBoostRegressor
from kboost.data.merged_rows import merge_rows
from kboost.kernels import Gaussian, Linear
from kboost.plans.training_data import regression
from kboost.settings import Quantile

LIBRARY = [Linear(), Gaussian(0.3), Gaussian(1.0)]
C = 3.0


def noisy(n, seed=0):
    """The standard deviation of the targets grows tenfold with x."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, size=n)
    return x[:, None], np.sin(4 * x) + (0.1 + 0.9 * x) * rng.normal(size=n)


@pytest.fixture(scope="module")
def weighted():
    X, y = noisy(60)
    return X, y, np.random.default_rng(1).uniform(0.5, 2.0, size=60)


def optimum(X, y, weight, quantile, *, intercept=True):
    """The objective of scikit-learn's linear program over every column."""
    columns = np.hstack([kernel(X, X) for kernel in LIBRARY])
    alpha = 1.0 / (C * weight.sum())
    model = QuantileRegressor(quantile=quantile, alpha=alpha, fit_intercept=intercept)
    model.fit(columns, y, weight)
    off = mean_pinball_loss(y, model.predict(columns), sample_weight=weight, alpha=quantile)
    return np.abs(model.coef_).sum() + C * weight.sum() * off


@pytest.mark.parametrize(
    ("quantile", "settings"),
    [
        (0.1, {}),
        (0.5, {"solver": "barrier"}),
        (0.9, {}),
        (0.9, {"intercept": "none"}),
    ],
)
def test_the_model_is_the_optimum_over_every_column(weighted, quantile, settings):
    X, y, weight = weighted
    model = KernelBoostRegressor(
        LIBRARY, C=C, epsilon=Quantile(quantile), column_scaling=None, tol=1e-7, **settings
    ).fit(X, y, weight)
    best = optimum(X, y, weight, quantile, intercept="intercept" not in settings)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.dual_gap_ < 1e-5
    assert model.epsilon_ == 0.0
    if "intercept" not in settings:  # the row of the bias in the dual
        found, near = model.predict(X), 1e-7
        assert np.average(y < found - near, weights=weight) <= quantile + 1e-9
        assert np.average(y <= found + near, weights=weight) >= quantile - 1e-9


def test_the_bound_holds_before_the_optimum(weighted):
    X, y, weight = weighted
    model = KernelBoostRegressor(
        LIBRARY, C=C, epsilon=Quantile(0.9), column_scaling=None, max_columns=1
    )
    model.fit(X, y, weight)
    best = optimum(X, y, weight, 0.9)
    bounds = [step.bound for step in model.trace_]
    assert 0.0 < max(bounds) <= best * (1 + 1e-9)
    assert best < model.objective_ * (1 - 1e-6)


def test_coverage_where_the_noise_grows():
    X, y = noisy(300)
    at, seen = noisy(4000, seed=1)
    upper = KernelBoostRegressor([Linear(), Gaussian(0.3)], epsilon=Quantile(0.9)).fit(X, y)
    below, right = seen <= upper.predict(at), at[:, 0] > 0.5
    assert abs(below.mean() - 0.9) < 0.04
    assert abs(below[right].mean() - 0.9) < 0.06
    assert abs(below[~right].mean() - 0.9) < 0.06


def test_c_is_chosen_by_the_pinball_loss(weighted):
    X, y, weight = weighted
    values, codes = np.unique(y, return_inverse=True)
    rows = merge_rows(X, codes, weight)
    outputs, found = regression(values, lambda *_: None, 0.8), np.cos(rows.X[:, 0])
    expected = mean_pinball_loss(values[rows.codes], found, sample_weight=rows.weight, alpha=0.8)
    assert outputs.held_out_loss([(rows, found)]) == pytest.approx(expected)
    assert outputs.joint_error(rows)(found) == pytest.approx(expected)


def test_a_row_given_twice_equals_weight_two():
    X, y = noisy(50)
    count = np.random.default_rng(2).integers(0, 3, size=50)
    repeated = np.random.default_rng(3).permutation(np.repeat(np.arange(50), count))
    model = KernelBoostRegressor([Gaussian(0.3)], epsilon=Quantile(0.3))
    weighted = clone(model).fit(X, y, count)
    again = model.fit(X[repeated], y[repeated])
    assert pytest.approx(again.C_) == weighted.C_
    assert_allclose(weighted.predict(X), again.predict(X), atol=1e-6)


def test_without_time_the_model_is_the_quantile_of_the_targets():
    X, y = noisy(101)
    model = KernelBoostRegressor(C=1.0, epsilon=Quantile(0.9), max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert_allclose(model.predict(X), np.quantile(y, 0.9))
