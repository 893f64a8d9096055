"""Basic solutions: the same sum of columns from few of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost.solvers.basic_solution import basic_solution


def crowded(rng, n, k, width):
    """Gaussian columns, many of which say nearly the same."""
    x, s = np.linspace(0, 1, n), rng.uniform(size=k)
    return np.exp(-((x[:, None] - s) ** 2) / (2 * width**2))


COLUMNS = {
    "random": lambda rng: rng.normal(size=(15, 60)),
    "crowded": lambda rng: crowded(rng, 30, 200, 0.05),
    "very crowded": lambda rng: crowded(rng, 30, 200, 0.5),
    "twice": lambda rng: np.tile(rng.normal(size=(15, 20)), 2),
    "one column": lambda rng: np.tile(rng.normal(size=(15, 1)), 9),
    "nothing": lambda rng: np.zeros((15, 20)),
    "few": lambda rng: rng.normal(size=(15, 6)),
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("seed", range(5))
def test_the_sum_stays_and_neither_number_nor_norm_grows(kind, seed):
    rng = np.random.default_rng(seed)
    columns = COLUMNS[kind](rng)
    coef = rng.normal(size=columns.shape[1]) * rng.exponential(size=columns.shape[1])
    coef[rng.random(len(coef)) < 0.1] = 0.0
    found = basic_solution(columns, coef)
    assert_allclose(columns @ found, columns @ coef, atol=1e-10 * np.abs(coef).sum())
    assert np.abs(found).sum() <= np.abs(coef).sum() * (1 + 1e-12)
    assert np.count_nonzero(found) <= np.linalg.matrix_rank(columns)
    assert (found * coef >= 0.0).all()
    assert not found[coef == 0.0].any()


def test_independent_columns_stay():
    rng = np.random.default_rng(0)
    columns, coef = rng.normal(size=(15, 6)), rng.normal(size=6)
    assert_allclose(basic_solution(columns, coef), coef)
    assert_allclose(basic_solution(columns, np.zeros(6)), 0.0)
