"""Folding: which kernels have it, what it costs, and pricing without the kernel matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from kboost.kernels import Gaussian, Linear, Polynomial, Sigmoid
from kboost.kernels import folding as module
from kboost.kernels.folding import fold

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.0),
        Sigmoid(1.0),
        Polynomial(4),
        Polynomial(2, coef0=-1.0),
        Linear() + Gaussian(1.0),
        Linear() * Linear(),
    ],
    ids=repr,
)
def test_no_folded_form(kernel):
    assert fold(kernel, X, np.ones(60)) is None


@pytest.mark.parametrize(
    ("kernel", "cost"),
    [
        (Linear(), 4),
        (Linear(columns=[1]), 1),
        (Polynomial(2), 25),
        (Polynomial(2, coef0=0.0), 16),
        (Polynomial(3), 75),
        (2 * Linear() + Polynomial(2), 29),
    ],
    ids=repr,
)
def test_cost_counts_multiplications_a_row(kernel, cost):
    assert fold(kernel, X, np.ones(60)).cost == cost
    assert fold(kernel, X, np.ones((60, 3))).cost == 3 * cost


def test_only_if_cheaper():
    for kernel, few in ((Linear(), 0), (Polynomial(2), 5), (Polynomial(3), 15)):
        assert fold(kernel, X, np.ones(60), only_if_cheaper=True) is not None
        if few:
            assert fold(kernel, X[:few], np.ones(few), only_if_cheaper=True) is None


def test_too_large_to_hold():
    wide = sparse.random(3, 10_000, density=1e-3, format="csr", random_state=0)
    assert fold(Polynomial(2), wide, np.ones(3)) is None
    folded = fold(Linear(), wide, np.ones(3))
    assert_allclose(folded(wide), (wide @ wide.T).toarray().sum(axis=1))


def test_pricing_without_the_matrix():
    kernel = (Polynomial(2, gamma=0.3, on="standard") + 0.5 * Linear(columns=[0, 2])).resolve(X)
    weights = rng.normal(size=60)
    assert_allclose(fold(kernel, X, weights)(X), kernel(X).T @ weights, rtol=1e-10, atol=1e-10)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    degree=st.integers(1, 3),
    coef0=st.sampled_from([0.0, 0.5, 3.0]),
    d=st.integers(1, 6),
)
def test_pieces_make_the_whole(seed, degree, coef0, d):
    draw = np.random.default_rng(seed)
    centers, Z, coef = draw.normal(size=(9, d)), draw.normal(size=(11, d)), draw.normal(size=(9, 2))
    kernel = Polynomial(degree, coef0=coef0, gamma=0.7)
    expected = kernel(Z, centers) @ coef
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", 16)  # a few rows at a time
        got = fold(kernel, centers, coef)(Z)
    assert_allclose(got, expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())


def test_float32_rows_are_summed_in_float64():
    X32 = X.astype(np.float32)
    folded = fold(Polynomial(3), X32, np.ones(60))
    assert folded(X32).dtype == np.float64
    assert_allclose(folded(X32), Polynomial(3)(X32.astype(float)).sum(axis=1), rtol=1e-12)
