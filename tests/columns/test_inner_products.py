"""Inner products in the RKHS against the formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import block_diag

from kboost.columns.inner_products import InnerProducts
from kboost.columns.library import KernelLibrary
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid

KERNELS = [Linear(), Gaussian(0.5), Polynomial(2), Laplacian(0.3)]


@pytest.fixture(params=[None, "unit"])
def scaling(request):
    return request.param


@pytest.fixture(params=[np.asarray, sparse.csr_matrix])
def library(request, scaling):
    rng = np.random.default_rng(0)
    X = request.param(rng.normal(size=(14, 3)))
    return KernelLibrary(KERNELS, X, sample_weight=rng.uniform(0.5, 2, 14), scaling=scaling)


def full_gram(library):
    raw = block_diag(*(kernel(library.centers) for kernel in library.kernels))
    return raw / np.outer(library.scales, library.scales)


def test_gram_is_block_diagonal_and_scaled(library):
    rng, Q = np.random.default_rng(1), full_gram(library)
    left, right = rng.permutation(56)[:20], rng.permutation(56)[:30]
    inner = InnerProducts(library)
    assert_allclose(inner.gram(left, right), Q[np.ix_(left, right)], rtol=1e-10, atol=1e-12)
    assert_allclose(inner.gram(left, left), Q[np.ix_(left, left)], rtol=1e-10, atol=1e-12)
    empty = np.zeros(0, dtype=int)
    assert inner.gram(empty, right).shape == (0, 30)
    assert inner.gram(left, empty).shape == (20, 0)


def test_diagonal(library):
    assert_allclose(InnerProducts(library).diagonal, np.diag(full_gram(library)), rtol=1e-10)


def test_power(library):
    H = library.values(np.arange(56))
    assert_allclose(InnerProducts(library).power, library.sample_weight @ H**2, rtol=1e-9)


def test_pull(library):
    rng = np.random.default_rng(2)
    ids, coef = rng.permutation(56)[:17], rng.normal(size=17)
    inner = InnerProducts(library)
    expected = full_gram(library)[:, ids] @ coef
    assert_allclose(inner.pull(ids, coef), expected, rtol=1e-9, atol=1e-10)
    assert_allclose(inner.pull(ids[:0], coef[:0]), np.zeros(56))


def test_energy(library):
    w = np.random.default_rng(3).normal(size=14)
    K = sum(kernel(library.centers) for kernel in KERNELS)
    inner = InnerProducts(library)
    assert_allclose(inner.energy(w, library.edges(w)), w @ K @ w, rtol=1e-9)


def test_energy_with_repeated_rows(scaling):
    """Several rows may have the same centre; the energy is over rows."""
    rng = np.random.default_rng(4)
    centers = rng.normal(size=(6, 3))
    center_of_row = np.array([0, 1, 2, 3, 4, 5, 0, 0, 3])
    X, w = centers[center_of_row], rng.normal(size=9)
    library = KernelLibrary(KERNELS, X, centers=centers, scaling=scaling)
    K = sum(kernel(X) for kernel in KERNELS)
    inner = InnerProducts(library, center_of_row)
    assert_allclose(inner.energy(w, library.edges(w)), w @ K @ w, rtol=1e-9)


def test_definiteness_is_that_of_all_kernels():
    X = np.random.default_rng(5).normal(size=(5, 2))
    assert InnerProducts(KernelLibrary(KERNELS, X)).is_psd
    assert not InnerProducts(KernelLibrary([*KERNELS, Sigmoid(1.0)], X)).is_psd
