"""Pairings: accuracy of the elementary blocks, sharing between kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid, default_kernels
from kboost.kernels.pairings import Pairing
from kboost.kernels.views import View


@pytest.mark.parametrize("d", [1, 4, 5, 30])
@pytest.mark.parametrize("kind", ["sqeuclidean", "cityblock"])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), offset=st.sampled_from([0.0, 1.0, 1e3, 1e6]))
def test_distances_keep_their_digits(d, kind, seed, offset):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=(12, d)) * rng.choice([1e-6, 1.0], size=(12, 1))
    Z = np.vstack([X[::3], X[:2] + 1e-4 * rng.normal(size=(2, d))])
    got = Pairing(kind, View()).compute(X, Z)
    assert_allclose(got, cdist(X, Z, kind), rtol=1e-9, atol=1e-28 * max(1.0, offset) ** 2)
    on_csr = Pairing(kind, View()).compute(sparse.csr_matrix(X), sparse.csr_matrix(Z))
    assert_allclose(on_csr, cdist(X, Z, kind), rtol=1e-9, atol=1e-28 * max(1.0, offset) ** 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_equal_rows_are_at_distance_zero(dtype, d, offset):
    X = (offset + np.random.default_rng(0).normal(size=(30, d))).astype(dtype)
    block = Pairing("sqeuclidean", View()).compute(X, X[10:20].copy())
    assert_array_equal(np.diagonal(block[10:20]), 0)
    assert (block >= 0).all()
    for kernel in (Gaussian(), Laplacian(), Matern(nu=0.5)):
        assert_array_equal(np.diagonal(kernel(X)), 1)


def test_families_share_blocks():
    X = np.random.default_rng(0).normal(size=(20, 3))
    gaussians = [Gaussian(0.1), Gaussian("mean"), Matern(nu=2.5)]
    dots = [Linear(), Polynomial(2), Sigmoid()]
    for family in (gaussians, dots):
        assert len({p for k in family for p in k.resolve(X).pairings}) == 1
    sums = (Gaussian(0.1) + Gaussian(0.2) * Linear()).resolve(X)
    assert [p.kind for p in sums.pairings] == ["sqeuclidean", "dot"]
    assert len({p for k in default_kernels(X) for p in k.pairings}) == 3


def test_identity_view_returns_the_rows_themselves():
    X = np.ones((2, 3))
    assert View().apply(X) is X
    assert Gaussian(1.0, columns=[0, 1, 2]).resolve(X) == Gaussian(1.0)


def test_unresolved_kernels_have_no_pairings():
    with pytest.raises(ValueError, match="must be resolved first"):
        _ = Gaussian(columns=["a"]).pairings
    with pytest.raises(ValueError, match="must be resolved first"):
        _ = Linear(on="ranks").pairings
