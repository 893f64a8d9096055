"""The growing Cholesky factor against scipy's, and columns that depend on others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError, cholesky

from kboost.solvers._lapack import solve_lower_in_place
from kboost.solvers.growing_cholesky import GrowingCholesky


def grow(G, sizes):
    factor, used = GrowingCholesky(), 0
    for size in sizes:
        new = slice(used, used + size)
        factor.append(G[:used, new], G[new, new])
        used += size
    assert factor.size == used == len(G)
    return factor


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=6),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_growing_equals_factoring_at_once(seed, sizes, scale):
    rng = np.random.default_rng(seed)
    k = sum(sizes)
    A = rng.normal(size=(2 * k + 3, k))
    G = scale * (A.T @ A)
    factor = grow(G, sizes)
    assert_allclose(factor.lower, cholesky(G, lower=True), rtol=1e-8, atol=1e-10 * np.sqrt(scale))
    right = rng.normal(size=k)
    assert_allclose(factor.solve(right), np.linalg.solve(G, right), rtol=1e-6, atol=1e-9 / scale)


@example(seed=2, sizes=[1, 1, 1, 1, 2], rank=2)  # pivots of rounding that come out positive
@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 4), min_size=2, max_size=5),
    rank=st.integers(1, 3),
)
def test_dependent_columns_survive(seed, sizes, rank):
    """A least-squares fit through the factor is as good as the one of an independent solver."""
    rng = np.random.default_rng(seed)
    k = sum(sizes)
    A = rng.normal(size=(20, rank)) @ rng.normal(size=(rank, k))
    b = rng.normal(size=20)
    factor = grow(A.T @ A, sizes)
    assert np.isfinite(factor.lower).all()
    x = factor.solve(A.T @ b)
    assert np.isfinite(x).all()
    best = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    assert np.linalg.norm(A @ x - b) == pytest.approx(np.linalg.norm(A @ best - b), rel=1e-5)


def test_a_column_given_twice_is_harmless():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(15, 4))
    A = np.hstack([A, A[:, :2]])
    factor = grow(A.T @ A, [4, 1, 1])
    b = rng.normal(size=15)
    x = factor.solve(A.T @ b)
    best = np.linalg.lstsq(A[:, :4], b, rcond=None)[0]
    assert_allclose(A @ x, A[:, :4] @ best, atol=1e-5)


def test_an_indefinite_block_raises():
    factor = GrowingCholesky()
    with pytest.raises(LinAlgError):
        factor.append(np.zeros((0, 2)), np.array([[1.0, 3.0], [3.0, 1.0]]))


@pytest.mark.parametrize("shape", [(5,), (5, 1), (5, 3), (0, 2)])
@pytest.mark.parametrize("transposed", [False, True])
def test_triangular_systems_are_solved_in_a_corner_of_an_array(shape, transposed):
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(8, 8)) + 4 * np.eye(8)
    corner = whole[: shape[0], : shape[0]]
    right = rng.normal(size=shape)
    lower = np.tril(corner)
    expected = np.linalg.solve(lower.T if transposed else lower, right)
    solve_lower_in_place(corner, right, transposed=transposed)
    assert_allclose(right, expected, rtol=1e-12)


def test_the_least_pivot_is_relative_to_the_diagonal():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 6))
    G = A.T @ A
    factor = grow(G[:2, :2], [2])
    least = factor.append(G[:2, 2:], G[2:, 2:])
    lower = cholesky(G, lower=True)
    assert_allclose(factor.lower, lower)
    assert least == pytest.approx(np.min(np.diag(lower)[2:] ** 2 / np.diag(G)[2:]))
    assert factor.append(G[:, [0]], G[[0]][:, [0]]) == 0.0  # spanned by the others


def test_a_factor_in_float32_solves_to_its_precision():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 20))
    G, right = A.T @ A + np.eye(20), rng.normal(size=(20, 3))
    factor = GrowingCholesky(dtype=np.float32)
    for new in (slice(0, 8), slice(8, 20)):
        assert factor.append(G[: new.start, new], G[new, new]) > 0
    assert factor.lower.dtype == np.float32
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(G, right), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(
        factor.solve(right[:, 0]), np.linalg.solve(G, right[:, 0]), rtol=1e-3, atol=1e-5
    )
    assert factor.append(G[:, :1], G[:1, :1]) == 0.0  # a column that is there
