"""The SVM dual from a guess, its certificate, and the best bias."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kboost.kernels import Gaussian, Linear
from kboost.solvers.svm_active_set import (
    active_sets,
    balanced,
    best_bias,
    best_multiple,
    certified,
    from_guess,
)
from tests.contracts.reference import table


def machine(K, y, upper):
    peer = SVC(kernel="precomputed", C=1.0, tol=1e-10).fit(K, y, upper)
    duals = np.zeros(len(y))
    duals[peer.support_] = np.abs(peer.dual_coef_[0])
    return duals, peer.intercept_[0]


def test_from_the_solution_of_another_kernel():
    X, y, weight = table(0, n=80)
    duals, _ = machine(Gaussian(0.5)(X), y, weight)
    K = Gaussian(0.6)(X)
    found = from_guess(K, y, weight, duals, 1e-9)
    exact, bias = machine(K, y, weight)
    np.testing.assert_allclose(found.duals, exact, atol=1e-6)
    assert found.bias == pytest.approx(bias, abs=1e-6)
    assert 0 <= found.gap <= 1e-9
    assert y @ found.duals == pytest.approx(0.0, abs=1e-12)


def test_a_bad_guess_returns_none():
    X, y, weight = table(1, n=40)
    assert from_guess(Linear()(X), y, weight, np.zeros(40), 1e-9) is None  # no row is free
    every = from_guess(Linear()(X), y, weight, weight / 2, 1e-9)  # 40 rows free, rank 3
    assert every is None or every.gap <= 1e-9


def test_a_dual_scaled_for_balance_is_still_at_its_bound():
    signs, upper = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.3, 0.3, 0.3, 0.7])
    duals = balanced(signs, upper, np.array([0.3, 0.3 * (1 + 1e-12), 0.3, 0.3 - 1e-13]))
    free, at_upper = active_sets(duals, upper)
    assert (duals[:3] < upper[:3]).any()
    np.testing.assert_array_equal(at_upper, [True, True, True, False])
    np.testing.assert_array_equal(free, [False, False, False, True])


def test_the_certificate_of_any_duals_holds():
    X, y, weight = table(2, n=40)
    K = Gaussian(0.5)(X)
    best = certified(K, y, weight, machine(K, y, weight)[0])
    assert best.gap < 1e-7
    for seed in range(5):
        raw = np.random.default_rng(seed).uniform(-1, 2, size=40) * weight
        duals = balanced(y, weight, raw)
        assert (duals >= 0).all()
        assert (duals <= weight).all()
        assert y @ duals == pytest.approx(0.0, abs=1e-12)
        point = certified(K, y, weight, duals)
        assert point.value <= best.value <= best.primal <= point.primal


@pytest.mark.parametrize("seed", range(5))
def test_no_other_bias_has_a_lower_cost(seed):
    rng = np.random.default_rng(seed)
    values, signs = rng.normal(size=15), np.where(rng.random(15) < 0.4, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    upper = rng.uniform(0.1, 2.0, size=15)
    bias, price = best_bias(values, signs, upper)
    assert price == pytest.approx(upper @ np.maximum(0, 1 - signs * (values + bias)))
    for other in np.concatenate([signs - values, rng.normal(size=20)]):
        assert price <= upper @ np.maximum(0, 1 - signs * (values + other)) + 1e-12


def test_between_equal_biases_the_middle_one():
    bias, price = best_bias(np.array([3.0, -5.0]), np.array([1.0, -1.0]), np.ones(2))
    assert price == 0.0
    assert bias == pytest.approx(1.0)  # any from -2 to 4 is as good


@pytest.mark.parametrize("price", [0.1, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_no_multiple_of_the_function_has_a_lower_value(seed, price):
    X, y, weight = table(seed, n=30)
    K, upper = Gaussian(0.5)(X), price * weight
    duals = balanced(y, upper, np.random.default_rng(seed).uniform(0, 1, size=30) * weight)
    point = certified(K, y, upper, duals)
    found = best_multiple(K, y, upper, point)
    v = y * duals
    margins = y * (K @ v + point.bias)
    for t in np.concatenate([np.linspace(0, 3, 300), 1 / margins[margins > 0]]):
        value = t * t / 2 * (v @ K @ v) + upper @ np.maximum(0, 1 - t * margins)
        assert found.primal <= value * (1 + 1e-12)
    assert found.primal <= point.primal


def test_margins_below_1_by_rounding_cost_nothing():
    X, y, weight = table(3, n=30)
    K, upper = Gaussian(5.0)(X), 1e9 * weight
    point = certified(K, y, upper, balanced(y, upper, machine(K, y, 1e3 * weight)[0]))
    assert point.gap > 1e-4
    assert best_multiple(K, y, upper, point).gap <= 1e-7


def test_a_function_that_is_zero_has_no_multiples():
    y, upper = np.array([1.0, -1.0]), np.ones(2)
    point = certified(np.zeros((2, 2)), y, upper, np.ones(2))
    assert best_multiple(np.zeros((2, 2)), y, upper, point) == point
