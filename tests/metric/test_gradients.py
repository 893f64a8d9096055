"""Slopes of kernel expansions against finite differences."""

import numpy as np
import pytest

from kboost.kernels import Gaussian, Laplacian, Matern
from kboost.metric.gradients import slopes

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(size=(12, 4))
ROWS = RNG.normal(size=(7, 4))
COEF = RNG.normal(size=(12, 2))
WEIGHT = RNG.uniform(0.5, 2.0, size=7)
KERNELS = [Laplacian(0.3), Gaussian(0.2), Matern(0.4)]


def root_mean_square(kernel, weight):
    """The slopes by central differences of the expansion."""
    out, step = np.zeros(4), 1e-6
    for d in range(4):
        move = step * np.eye(4)[d]
        higher, lower = (kernel(rows, CENTERS) @ COEF for rows in (ROWS + move, ROWS - move))
        slope = (higher - lower) / (2 * step)
        out[d] = np.sqrt(weight / weight.sum() @ np.sum(slope**2, axis=1))
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slopes_agree_with_finite_differences(kernel):
    found = slopes(kernel, CENTERS, ROWS, COEF, np.ones(7))
    np.testing.assert_allclose(found, root_mean_square(kernel, np.ones(7)), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_slopes_are_weighted_means(kernel):
    found = slopes(kernel, CENTERS, ROWS, COEF, WEIGHT)
    np.testing.assert_allclose(found, root_mean_square(kernel, WEIGHT), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_a_row_of_weight_two_equals_the_row_twice(kernel):
    twice = slopes(kernel, CENTERS, np.vstack([ROWS, ROWS[:1]]), COEF, np.ones(8))
    heavy = slopes(kernel, CENTERS, ROWS, COEF, np.array([2.0, 1, 1, 1, 1, 1, 1]))
    np.testing.assert_allclose(twice, heavy, rtol=1e-12)
