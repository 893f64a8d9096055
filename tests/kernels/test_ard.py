"""Widths by marginal likelihood: the gradient, the answer, and what must not change it."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import multivariate_normal

from kboost import KernelBoostRegressor
from kboost.kernels import fit_ard
from kboost.kernels.ard import likelihood

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(150, 4)) * [1.0, 100.0, 1e-3, 1.0] + [0.0, 1e4, 0.0, 5.0]
Y = np.sin(3 * X[:, 0]) + 0.01 * (X[:, 1] - 1e4) + 0.05 * RNG.normal(size=150)


def test_the_likelihood_is_that_of_a_normal_distribution():
    Z, w, logs = RNG.normal(size=(30, 2)), RNG.uniform(0.5, 2, size=30), RNG.normal(size=5)
    y = RNG.normal(size=(30, 2))
    theta, (scale, offset, noise) = np.exp(logs[:2]), np.exp(logs[2:])
    square = np.sum(theta * (Z[:, None] - Z) ** 2, axis=2)
    C = scale * np.exp(-square / 2) + offset + np.diag(noise / w)
    expected = -sum(multivariate_normal.logpdf(y[:, k], cov=C) for k in range(2))
    assert likelihood(Z, y, w, logs)[0] == pytest.approx(
        expected - 30 * np.log(2 * np.pi), rel=1e-6
    )


def test_the_gradient_is_that_of_the_likelihood():
    Z, w, logs = RNG.normal(size=(30, 3)), RNG.uniform(0.5, 2, size=30), RNG.normal(size=6)
    y, step = RNG.normal(size=(30, 2)), 1e-6
    numeric = [
        (likelihood(Z, y, w, logs + e)[0] - likelihood(Z, y, w, logs - e)[0]) / (2 * step)
        for e in step * np.eye(6)
    ]
    np.testing.assert_allclose(likelihood(Z, y, w, logs)[1], numeric, rtol=1e-4, atol=1e-5)


def test_widths_follow_the_features_that_matter():
    found = fit_ard(X, Y)
    relative = found.widths / X.std(axis=0)
    assert relative[0] < relative[1] < relative[2:].min()
    assert found.noise == pytest.approx(0.05**2, rel=0.5)
    assert found.ridge == pytest.approx(found.noise / found.scale)
    a, b = X[:1], X[1:2]
    assert found.kernel(a, b)[0, 0] == pytest.approx(
        np.exp(-0.5 * np.sum(((a - b) / found.widths) ** 2)), rel=1e-9
    )


def test_units_of_features_and_targets_do_not_matter():
    found, other = fit_ard(X, Y), fit_ard(X * [2.0, 0.5, 8.0, 1.0], 1000 * Y)
    assert other.ridge == pytest.approx(found.ridge, rel=1e-2)
    np.testing.assert_allclose(other.widths[:2], found.widths[:2] * [2.0, 0.5], rtol=1e-2)


def test_a_row_twice_is_a_row_of_weight_two():
    weight = np.where(np.arange(150) < 40, 2.0, 1.0)
    twice = np.concatenate([np.arange(150), np.arange(40)])
    one, other = fit_ard(X, Y, sample_weight=weight), fit_ard(X[twice], Y[twice])
    np.testing.assert_array_equal(one.widths, other.widths)
    assert one.ridge == other.ridge


def test_constant_features_and_targets_are_no_trouble():
    found = fit_ard(np.column_stack([X[:, 0], np.ones(150)]), np.zeros(150))
    assert np.isinf(found.widths[1])
    assert np.isfinite(found.ridge)


def test_the_kernel_serves_other_estimators():
    model = KernelBoostRegressor([fit_ard(X, Y).kernel], C=10.0).fit(X, Y)
    assert model.score(X, Y) > 0.97


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"y": Y[:-1]},
            r"^y must have shape \(n,\) or \(n, q\) for the n=150 rows of X; got shape",
        ),
        ({"y": Y, "n_rows": 1}, r"^n_rows must be an integer of at least 2; got n_rows=1\.$"),
        ({"y": Y, "n_rows": 20.5}, r"^n_rows must be an integer of at least 2; got n_rows=20\.5"),
        ({"y": np.where(Y > 0, np.nan, Y)}, r"^y must be finite; got nan or infinite values\.$"),
        ({"y": np.where(Y > 0, "up", "down")}, r"^y must be numeric, .*; got 'up'"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_ard(X, **arguments)


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_rows_must_be_there_and_finite(make):
    with pytest.raises(ValueError, match=r"^X must be finite; got nan or infinite values\.$"):
        fit_ard(make(np.where(X > 1, np.nan, X)), Y)
    with pytest.raises(ValueError, match=r"^X must have at least one row; got shape \(0, "):
        fit_ard(make(X)[:0], Y[:0])


@pytest.fixture
def looks(clock_of):
    """A clock that goes on by a second with every look at it."""
    count = iter(range(10**6))
    clock_of("kboost.kernels.ard", lambda: float(next(count)))


def test_time_enough_changes_nothing():
    plain, limited = fit_ard(X, Y), fit_ard(X, Y, max_seconds=1e6)
    np.testing.assert_array_equal(plain.widths, limited.widths)
    assert plain.log_likelihood == limited.log_likelihood
    assert plain.finished
    assert limited.finished


def test_without_time_the_start_stands(looks):
    found = fit_ard(X, Y, max_seconds=1.0)
    assert not found.finished
    assert np.isnan(found.log_likelihood)
    np.testing.assert_allclose(found.widths, np.sqrt(X.shape[1]) * X.std(axis=0))
    assert found.ridge == pytest.approx(0.1)


def test_more_time_is_a_higher_likelihood(looks):
    """Among searches that end on the same rows, the first ones."""
    found = [fit_ard(X[:120], Y[:120], max_seconds=float(s)) for s in (2, 4, 8, 16)]
    values = [each.log_likelihood for each in found]
    assert not any(each.finished for each in found[:2])
    assert values == sorted(values)
    assert values[0] < values[-1]


@pytest.mark.parametrize("limit", [0, -1.0, "5", True, np.nan])
def test_a_limit_must_be_positive(limit):
    with pytest.raises(ValueError, match=r"^max_seconds must be positive, or None; got max_sec"):
        fit_ard(X, Y, max_seconds=limit)
