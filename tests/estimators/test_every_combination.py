"""Estimators against full solves: any shape, weights, degenerate data, every combination.

The reference sees the rows as given, with all columns at once; only formulations.py is shared.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.base import clone

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.formulations import hinge, nu_tube, tube
from kboost.kernels import Gaussian, Linear, Polynomial
from tests.contracts.reference import margin_qp

LIBRARY = [Linear(), Polynomial(2, gamma=0.5), Gaussian(0.7), Gaussian(3.0)]
INTERCEPTS = ["free", "penalized", "none"]
COMBINATIONS = list(itertools.product(["l1", "l2"], [False, True], INTERCEPTS))
C, EPSILON, NU = 0.8, 0.2, 0.4


@st.composite
def tables(draw):
    """X, weights and a generator: plain rows, or rows with something wrong about them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(3, 16)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d))
    fault = draw(st.sampled_from(["none", "twins", "constant", "dependent", "one point", "grid"]))
    if fault == "twins":
        X = X[rng.integers(0, (n + 1) // 2, n)]
    elif fault == "constant":
        X[:, 0] = 3.0
    elif fault == "dependent":
        X = np.hstack([X, X @ rng.normal(size=(d, 2))])
    elif fault == "one point":
        X = np.tile(X[:1], (n, 1))
    elif fault == "grid":
        X = rng.integers(-1, 2, size=(n, d)).astype(float)
    weight = draw(st.sampled_from([None, "any", "with zeros"]))
    if weight is None:
        return X, None, rng
    w = rng.uniform(0.2, 3.0, n)
    if weight == "with zeros":
        w[rng.integers(2, n)] = 0.0  # the first two rows, one of each class, stay
    return X, w, rng


def full_optimum(penalty, X, rows, weight, nonnegative, intercept):
    kept = slice(None) if weight is None else weight > 0
    H = np.hstack([kernel(X, X[kept]) for kernel in LIBRARY])
    if penalty == "l2":
        centers = np.unique(X[kept], axis=0)  # a column given twice counts twice in the 2-norm
        H = np.hstack([kernel(X, centers) for kernel in LIBRARY])
        return margin_qp(H, rows, nonnegative, intercept).objective
    return margin_lp_with_level(H, rows, nonnegative, intercept)


def margin_lp_with_level(H, rows, nonnegative, intercept):
    """The margin LP: coef+, coef-, bias+, bias-, level, slacks >= 0."""
    G, r, k = rows.signed(H), len(rows.signs), H.shape[1]
    sign, price = (
        (0.0, 0.0)
        if rows.margin_width is None
        else (rows.margin_width.sign, rows.margin_width.cost)
    )
    own = rows.signs[:, None]
    reach = np.hstack([G, -G, own, -own, np.full((r, 1), sign), np.eye(r)])
    bias = float(intercept == "penalized")
    cost = np.concatenate([np.ones(2 * k), [bias, bias, price], rows.slack_costs])
    upper = np.full(len(cost), np.inf)
    if nonnegative:
        upper[k : 2 * k] = 0.0
    if intercept == "none":
        upper[2 * k : 2 * k + 2] = 0.0
    bounds = np.column_stack([np.zeros(len(cost)), upper])
    found = linprog(cost, A_ub=-reach, b_ub=-rows.targets, bounds=bounds, method="highs")
    assert found.status == 0, found.message
    return float(found.fun)


def all_positive(X, weight):
    X = X[weight > 0]
    return all((kernel(X, X) >= 0).all() for kernel in LIBRARY)


def check(model, optimum, size):
    """The objective is the optimum, and the certificate knows it; `size` is that of f = 0."""
    assert model.objective_ == pytest.approx(optimum, rel=1e-6, abs=1e-6 * size)
    assert -1e-9 * size <= model.dual_gap_ * abs(model.objective_) <= 1e-5 * size
    objectives = [step.objective for step in model.trace_]
    assert all(b <= a + 1e-9 * size for a, b in itertools.pairwise(objectives))


@pytest.mark.parametrize(("penalty", "nonnegative", "intercept"), COMBINATIONS)
@settings(max_examples=8)
@given(table=tables())
def test_classification(penalty, nonnegative, intercept, table):
    X, weight, rng = table
    y = np.where(rng.normal(size=len(X)) + X[:, 0] > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    w = np.ones(len(y)) if weight is None else weight
    shape = {"penalty": penalty, "nonnegative": nonnegative, "intercept": intercept}
    model = KernelBoostClassifier(LIBRARY, C=C, column_scaling=None, tol=1e-9, **shape)
    if nonnegative and intercept == "none" and all_positive(X, w):
        with pytest.raises(ValueError, match="could predict one class only"):
            model.fit(X, y, weight)
        return
    model.fit(X, y, weight)
    rows = hinge(y, w, C)
    optimum = full_optimum(penalty, X, rows, weight, nonnegative, intercept)
    check(model, optimum, float(rows.slack_costs.sum()))


@pytest.mark.parametrize("width", [{"epsilon": EPSILON}, {"nu": NU}])
@pytest.mark.parametrize(("penalty", "nonnegative", "intercept"), COMBINATIONS)
@settings(max_examples=5)
@given(table=tables())
def test_regression(penalty, nonnegative, intercept, width, table):
    X, weight, rng = table
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    w = np.ones(len(y)) if weight is None else weight
    shape = {"penalty": penalty, "nonnegative": nonnegative, "intercept": intercept, **width}
    model = KernelBoostRegressor(LIBRARY, C=C, column_scaling=None, tol=1e-9, **shape)
    model.fit(X, y, weight)
    rows = tube(y, w, C, EPSILON) if "epsilon" in width else nu_tube(y, w, C, NU)
    optimum = full_optimum(penalty, X, rows, weight, nonnegative, intercept)
    check(model, optimum, float(rows.slack_costs[: len(y)] @ np.abs(y)))


def moons_like(seed, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n) > 0.6, 1, 0), rng


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_order_and_repetition_of_the_rows_do_not_matter(penalty, intercept):
    X, y, rng = moons_like(0)
    count = rng.integers(0, 3, len(y))
    count[[y.argmax(), y.argmin()]] = 1
    model = KernelBoostClassifier(LIBRARY, penalty=penalty, C=C, intercept=intercept, tol=1e-9)
    weighted = clone(model).fit(X, y, count.astype(float))
    rows = rng.permutation(np.repeat(np.arange(len(y)), count))
    repeated = clone(model).fit(X[rows], y[rows])
    assert repeated.objective_ == pytest.approx(weighted.objective_, rel=1e-8)
    np.testing.assert_allclose(
        repeated.decision_function(X), weighted.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_swapping_the_classes_turns_the_sign(penalty, intercept):
    X, y, _ = moons_like(0)
    model = KernelBoostClassifier(LIBRARY, penalty=penalty, C=C, intercept=intercept, tol=1e-9)
    one, two = clone(model).fit(X, y), clone(model).fit(X, 1 - y)
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-8)
    if penalty == "l2":  # strictly convex: one optimum
        np.testing.assert_allclose(
            two.decision_function(X), -one.decision_function(X), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("width", [{"epsilon": EPSILON}, {"nu": NU}])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_scaling_the_target_scales_the_model(penalty, intercept, width):
    """1-norm: all terms scale alike; 2-norm: the penalty scales with the square, so C with it."""
    X, _, rng = moons_like(1)
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=len(X))
    power = 1 if penalty == "l1" else 2
    common = {"penalty": penalty, "intercept": intercept, "tol": 1e-10}
    one = KernelBoostRegressor(LIBRARY, C=C, **common, **width).fit(X, y)
    for factor in (0.01, 7.0):
        scaled = {"epsilon": factor * EPSILON} if "epsilon" in width else width
        two = KernelBoostRegressor(LIBRARY, C=C * factor ** (power - 1), **common, **scaled)
        two.fit(X, factor * y)
        assert two.objective_ == pytest.approx(factor**power * one.objective_, rel=1e-6)
        if penalty == "l2":
            np.testing.assert_allclose(two.predict(X), factor * one.predict(X), atol=1e-3 * factor)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_free_and_nonnegative_agree_where_the_optimum_is_nonnegative(penalty):
    """Each column speaks for one row, and every target is positive: no coefficient is negative."""
    X = np.arange(12.0)[:, None]
    y = np.random.default_rng(0).uniform(1.0, 2.0, 12)
    kernels = [Gaussian(50.0)]  # neighbours at distance 1 see exp(-50)
    common = {"penalty": penalty, "C": 3.0, "epsilon": 0.1, "intercept": "none", "tol": 1e-10}
    free = KernelBoostRegressor(kernels, column_scaling=None, **common).fit(X, y)
    bound = KernelBoostRegressor(kernels, column_scaling=None, nonnegative=True, **common).fit(X, y)
    assert free.dual_coef_.min() >= -1e-9
    assert bound.objective_ == pytest.approx(free.objective_, rel=1e-8)
    np.testing.assert_allclose(bound.predict(X), free.predict(X), atol=1e-6)
