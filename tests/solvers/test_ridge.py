"""Kernel ridge against plain linear algebra, and its left-out errors against fits without a row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost.solvers._lapack import cholesky_in_place
from kboost.solvers.ridge import ridge_left_out, ridge_solve


def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    return K, rng.normal(size=(n, 2)), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-3), (np.float64, 1e-9)])
def test_coefficients_solve_the_normal_equations(dtype, tol):
    K, y, weight = problem()
    expected = np.linalg.solve(K + 0.1 * np.diag(1 / weight), y)
    assert_allclose(ridge_solve(K.astype(dtype), y, weight, 0.1), expected, atol=tol)


def test_left_out_errors_are_those_of_fits_without_the_row():
    K, y, weight = problem(25)
    left = ridge_left_out(K.copy(), y, weight, 0.2)
    for i in range(25):
        others = np.arange(25) != i
        coef = ridge_solve(K[np.ix_(others, others)], y[others], weight[others], 0.2)
        assert_allclose(left[i], y[i] - K[i, others] @ coef, atol=1e-9)


@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-3), (np.float64, 1e-10)])
def test_left_out_errors_of_the_last_rows_alone(dtype, tol):
    K, y, weight = problem(25)
    left = ridge_left_out(K.copy(), y, weight, 0.2)
    for last in (1, 9, 25):
        found = ridge_left_out(K.astype(dtype), y, weight, 0.2, last)
        assert_allclose(found, left[25 - last :], atol=tol)


def test_a_matrix_too_singular_for_float32_is_solved_in_float64():
    K = np.ones((40, 40), dtype=np.float32)
    K[0, 0] = 1 - 1e-3  # not even semidefinite
    y = np.arange(40.0)[:, None]
    coef = ridge_solve(K.copy(), y, np.ones(40), 1e-2)
    assert np.isfinite(coef).all()
    assert_allclose((K.astype(float) + 1e-2 * np.eye(40)) @ coef, y, atol=1e-2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cholesky_in_place(dtype):
    K = (problem()[0] + np.eye(60)).astype(dtype)
    factor = K.copy()
    cholesky_in_place(factor)
    lower = np.tril(factor)
    assert_allclose(lower @ lower.T, K, atol=1e-5)
    assert_allclose(np.triu(factor, 1), np.triu(K, 1))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        cholesky_in_place(-np.eye(3, dtype=dtype))


def test_no_denormal_numbers_are_left_in_a_float32_matrix():
    gaps = np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0)))
    K = np.exp(-(gaps**1.5))
    single = K.astype(np.float32)
    tiny = np.finfo(np.float32).tiny
    assert ((single != 0) & (single < tiny)).any()
    y = np.cos(np.arange(30.0))[:, None]
    coef = ridge_solve(single, y, np.ones(30), 0.1)
    assert not ((single != 0) & (np.abs(single) < tiny)).any()
    assert_allclose(coef, np.linalg.solve(K + 0.1 * np.eye(30), y), atol=1e-6)
