"""Prediction intervals: their coverage, and the quantiles they come from."""

from __future__ import annotations

import numpy as np
import pytest

from kboost import AutoKernelRegressor, load_model, save_model
from kboost.auto.intervals import LeftOutResiduals, interval, left_out_residuals
from kboost.auto.target_scale import IDENTITY, TargetScale
from tests.fitted import GAPS, fitted

LOG = TargetScale("log", 0.0, 1.0)


def drawn(n, seed, log=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.gumbel(size=n)
    return X, np.exp(y) if log else y


@pytest.mark.parametrize("log", [False, True])
def test_new_rows_are_covered_as_often_as_asked(log):
    model = AutoKernelRegressor().fit(*drawn(600, 0, log))
    X, y = drawn(2000, 1, log)
    for coverage in (0.5, 0.8, 0.95):
        low, high = model.predict_interval(X, coverage).T
        assert np.mean((low <= y) & (y <= high)) == pytest.approx(coverage, abs=0.05)


def test_intervals_of_a_logarithm_grow_with_the_prediction():
    model = fitted("auto logarithms")
    assert model.target_scale_.kind == "log"
    width, predicted = np.diff(model.predict_interval(GAPS, 0.5))[:, 0], model.predict(GAPS)
    np.testing.assert_allclose(np.ptp(np.log(width) - np.log(predicted)), 0.0, atol=1e-6)


def test_the_bounds_are_the_quantiles_of_the_rows_and_one_more():
    residuals = np.arange(1.0, 10.0)  # nine rows: 0.8 needs the ninth of ten places
    found = left_out_residuals(IDENTITY, residuals, np.zeros(9), np.ones(9))
    assert found.bounds(0.8) == (1.0, 9.0)
    assert found.bounds(0.9) == (-np.inf, np.inf)
    low, high = interval(IDENTITY, found, np.array([10.0]), 0.8)[0]
    assert (low, high) == (11.0, 19.0)


def test_merged_rows_keep_their_own_residuals():
    """Weights that are not whole numbers merge rows of one x, whose mean has a small residual."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, size=1000)
    X, y = x[:, None].astype(float), np.sin(x) + rng.normal(size=1000)
    model = AutoKernelRegressor().fit(X, y, sample_weight=np.full(1000, 1.5))
    low, high = model.predict_interval(X, 0.9).T
    assert 0.85 < np.mean((low <= y) & (y <= high)) < 0.95


def test_weight_is_repetition():
    rng = np.random.default_rng(0)
    y, count = rng.normal(size=50), rng.integers(1, 4, size=50)
    weighted = left_out_residuals(IDENTITY, y, np.zeros(50), count.astype(float))
    repeated = left_out_residuals(
        IDENTITY, np.repeat(y, count), np.zeros(count.sum()), np.ones(count.sum())
    )
    np.testing.assert_array_equal(weighted.upper, repeated.upper)
    assert weighted.total == repeated.total


def test_a_prediction_where_the_logarithm_is_not_defined():
    found = left_out_residuals(
        LOG, np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 4.0]), np.ones(3)
    )
    assert np.isfinite(found.upper).all()
    assert np.all(interval(LOG, found, np.array([-1.0, 1.0]), 0.3) > 0)


@pytest.mark.parametrize("coverage", [0, 1, 1.5, "0.9", None])
def test_other_coverages_are_refused(coverage):
    with pytest.raises(ValueError, match="coverage must be strictly between 0 and 1; got coverage"):
        fitted("auto numbers").predict_interval([[0.0]], coverage)


def test_intervals_of_a_saved_model(tmp_path):
    X, y = drawn(120, 0)
    model = AutoKernelRegressor().fit(X, y)
    save_model(model, tmp_path / "m.kboost")
    again = load_model(tmp_path / "m.kboost")
    np.testing.assert_array_equal(again.predict_interval(X, 0.7), model.predict_interval(X, 0.7))


def test_more_coverage_is_never_narrower():
    found = LeftOutResiduals(np.linspace(-1, 1, 512), np.linspace(-2, 2, 512), 1000.0)
    bounds = np.array([found.bounds(c) for c in np.linspace(0.01, 0.99, 99)])
    assert np.all(np.diff(bounds[:, 0]) <= 0)
    assert np.all(np.diff(bounds[:, 1]) >= 0)
