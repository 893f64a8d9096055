"""Errors of rows left out, against fits without them."""

import numpy as np

from kboost.solvers.leave_one_out import leave_one_out

RNG = np.random.default_rng(0)


def test_errors_are_those_of_fits_without_the_row():
    A, y, w = RNG.normal(size=(12, 4)), RNG.normal(size=(12, 2)), RNG.uniform(0.5, 2, size=12)
    K, ridges = A @ A.T, np.array([0.1, 3.0])
    expected = np.zeros(2)
    for r, ridge in enumerate(ridges):
        for i in range(12):
            rest = np.delete(np.arange(12), i)
            C = K[np.ix_(rest, rest)] + ridge * np.diag(1 / w[rest])
            away = y[i] - K[i, rest] @ np.linalg.solve(C, y[rest])
            expected[r] += w[i] * away @ away / w.sum()
    np.testing.assert_allclose(leave_one_out(K, y, w, ridges), expected, rtol=1e-8)
