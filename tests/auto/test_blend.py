"""Weights of a blend against a solver for quadratic programs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kboost.auto.blend import blend_weights

RNG = np.random.default_rng(0)
TARGETS = RNG.normal(size=(80, 2))
WEIGHT = RNG.uniform(0.5, 3.0, size=80)


def noisy(size, seed):
    return TARGETS + size * np.random.default_rng(seed).normal(size=TARGETS.shape)


def error(share, values):
    away = np.tensordot(share, np.array(values), axes=1) - TARGETS
    return float(np.average(np.sum(away**2, axis=1), weights=WEIGHT))


def brute_force(values):
    n = len(values)
    total = {"type": "eq", "fun": lambda share: share.sum() - 1}
    return minimize(
        error, np.full(n, 1 / n), (values,), "SLSQP", bounds=[(0, 1)] * n, constraints=[total],
        options={"ftol": 1e-14, "maxiter": 500},
    ).x  # fmt: skip


@pytest.mark.parametrize("sizes", [(1.0, 1.0), (1.0, 0.8, 1.2), (0.9, 1.0, 1.1, 1.0)])
def test_the_weights_are_optimal(sizes):
    values = [noisy(size, seed) for seed, size in enumerate(sizes)]
    share = blend_weights(values, TARGETS, WEIGHT)
    np.testing.assert_allclose(share, brute_force(values), atol=1e-4)
    assert share.sum() == pytest.approx(1.0)


def test_small_weights_are_dropped_and_the_rest_is_optimal():
    values = [noisy(0.5, 0), noisy(0.5, 1), noisy(4.0, 2)]
    share = blend_weights(values, TARGETS, WEIGHT)
    assert share[2] == 0
    np.testing.assert_allclose(share[:2], brute_force(values[:2]), atol=1e-4)


def test_a_blend_must_be_worth_it():
    values = [noisy(0.5, 0), TARGETS + 3.0]
    assert blend_weights(values, TARGETS, WEIGHT).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e-200])
def test_exact_models_are_not_blended(scale):
    values = [scale * TARGETS, scale * TARGETS, scale * TARGETS]
    assert blend_weights(values, scale * TARGETS, WEIGHT).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_do_not_matter(scale):
    values = [noisy(1.0, 0), noisy(1.0, 1)]
    plain = blend_weights(values, TARGETS, WEIGHT)
    scaled = blend_weights([scale * each for each in values], scale * TARGETS, WEIGHT)
    np.testing.assert_allclose(scaled, plain, atol=1e-6)


def test_models_that_are_zero_everywhere():
    """Weights of 0 / 0 left a matrix without columns, on which SciPy's nnls aborts."""
    values = [np.zeros_like(TARGETS)] * 3
    assert blend_weights(values, TARGETS, WEIGHT).tolist() == [1.0, 0.0, 0.0]
