"""The peer of tube regression, and the rows that it and kboost are given."""

import numpy as np
import pytest

from benchmarks.entries.sre_speed import NU, C, gammas, rows_of
from benchmarks.solvers.full_tube_lp import gaussians, program, solve
from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian


@pytest.mark.parametrize("name", ["sinc", "mackey-glass"])
def test_both_methods_find_the_optimum_of_kboost(name):
    X, y = rows_of(name, 40)
    np.testing.assert_allclose([X.mean(), X.std(), y.mean(), y.std()], [0, 1, 0, 1], atol=1e-12)
    kernels = [Gaussian(gamma) for gamma in gammas(X)]
    model = KernelBoostRegressor(kernels, C=C, nu=NU, tol=1e-7, column_scaling=None).fit(X, y)
    lp = program(gaussians(X, gammas(X)), y, C, NU)
    for method in ("simplex", "ipm"):
        found = solve(lp, method, 60.0)
        assert found["done"]
        assert found["objective"] == pytest.approx(model.objective_, rel=1e-6)


def test_a_peer_without_time_says_so():
    X, y = rows_of("sinc", 60)
    found = solve(program(gaussians(X, gammas(X)), y, C, NU), "simplex", 0.0)
    assert not found["done"]
    assert found["objective"] is None
