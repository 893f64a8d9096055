"""Data that break careless code: no NaN, no endless loop, no warnings."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
from tests.estimators.boost import boost

BASE, Y = make_moons(40, noise=0.1, random_state=0)


def finite_fit(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = boost(**options).fit(X, y)
        values = model.decision_function(X)
    assert np.isfinite(values).all()
    assert np.isfinite(model.dual_coef_).all()
    assert np.isfinite(model.objective_)
    assert 0 <= model.dual_gap_ <= 1e-3
    return model


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300])
def test_any_scale_of_the_features_with_the_default_library(scale):
    model = finite_fit(BASE * scale, Y)
    plain = finite_fit(BASE, Y)
    assert model.score(BASE * scale, Y) == plain.score(BASE, Y)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(), Laplacian()])
def test_raw_kernels_at_absurd_scales_work_or_say_so(scale, kernel):
    overflows = scale > 1 and not isinstance(kernel, Laplacian)
    if overflows:
        with pytest.raises(ValueError, match=r"^[^\n]*scale the features[^\n]*$"):
            finite_fit(BASE * scale, Y, kernels=[kernel])
    else:
        assert finite_fit(BASE * scale, Y, kernels=[kernel]).n_columns_ >= 0


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((10, 3)), np.arange(10) % 2),
        (np.c_[BASE, np.full(40, 7.0)], Y),
        (np.repeat(BASE[:4], 10, axis=0), np.repeat(Y[:4], 10)),
        (BASE[:, :1], Y),
        (np.array([[0.0], [1.0]]), np.array([0, 1])),
        (np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 1])),
        (np.zeros((6, 1)), np.array([0, 0, 0, 0, 0, 1])),
        (np.eye(12), np.arange(12) % 2),
    ],
    ids=[
        "constant",
        "constant feature",
        "duplicates",
        "one feature",
        "two rows",
        "contradiction",
        "nothing to learn",
        "orthogonal",
    ],
)
def test_degenerate_tables(X, y):
    model = finite_fit(X, y)
    assert model.score(X, y) >= np.bincount(y).max() / len(y)


def test_contradicting_rows_cost_their_slack():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    model = finite_fit(X, y, C=1.0, tol=1e-9)
    assert model.objective_ >= 2.0  # f(0) cannot serve both labels: their slacks sum to 2


def test_narrow_widths_do_not_overfit_under_the_defaults():
    X, y = make_classification(
        400, 6, n_informative=2, n_redundant=0, flip_y=0.15, class_sep=1.5, random_state=0
    )
    scores = []
    for kernels in ("auto", ["auto", Gaussian(200.0, on="standard")]):
        model = boost(kernels).fit(X[:200], y[:200])
        scores.append(model.score(X[200:], y[200:]))
    assert scores[1] >= scores[0] - 0.02


def a_curve(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n)


@cache
def tube_of_the_curve(n, **options):
    """The model of plain targets, one for all scales; do not change it."""
    return KernelBoostRegressor([Gaussian(1.0)], C=0.5, **options).fit(*a_curve(n))


@pytest.mark.parametrize(("scale", "shift"), [(1e-8, 0.0), (1e8, 0.0), (1e12, 0.0), (1.0, 1e7)])
@pytest.mark.parametrize("options", [{}, {"penalty": "l2"}, {"solver": "barrier"}])
@pytest.mark.parametrize("n", [40, 90])
def test_targets_of_any_size_and_place(n, options, scale, shift):
    """Objective and tube are multiples of the targets' size, and a free offset takes a shift."""
    X, y = a_curve(n)
    # 1/2 |x|^2 is of second order: its price of errors grows with the targets
    price = scale if options.get("penalty") == "l2" else 1.0
    unit = scale * price
    plain, other = tube_of_the_curve(n, **options), KernelBoostRegressor([Gaussian(1.0)], **options)
    other.set_params(C=0.5 * price).fit(X, scale * y + shift)
    gap = plain.dual_gap_ + other.dual_gap_
    assert gap < 5e-3
    np.testing.assert_allclose(other.objective_ / unit, plain.objective_, rtol=gap + 1e-6)
    np.testing.assert_allclose((other.predict(X) - shift) / scale, plain.predict(X), atol=0.05)
