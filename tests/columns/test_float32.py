"""Prediction in float32: near float64 on the scale of the terms, whatever the features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.float32 import AugmentedRows, Float32Part, PreparedCenters, to_float32
from kboost.columns.hypothesis import KernelPart
from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid, as_kernels
from kboost.kernels.adapters import FunctionKernel

KERNELS = [
    Gaussian(0.2),
    Laplacian(0.2),
    Matern(0.2, nu=0.5),
    Matern(0.2, nu=2.5),
    Sigmoid(0.1),
    Polynomial(4, gamma=0.1),
    Gaussian(0.2) * Laplacian(0.1),
    Linear() + 0.5 * Gaussian(0.2),
    Gaussian(0.5, on="standard"),
    Laplacian(0.5, on="ranks"),
]


def rows(n, d, seed=0, center=0.0):
    return center + np.random.default_rng(seed).normal(size=(n, d))


def near(part, X):
    """Whether float32 is within 1e-5 of the size of the terms."""
    size = np.abs(part.kernel(X, part.centers)) @ np.abs(part.coef)
    peak = np.abs(part.coef).sum(axis=0)  # of kernels that are at most 1
    error = np.abs(to_float32(part)(X) - part(X))
    return bool((error <= 1e-5 * np.maximum(size, peak)).all())


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_near_float64(kernel, d):
    centers = rows(50, d)
    coef = np.random.default_rng(1).normal(size=(50, 2))
    part = KernelPart(kernel.resolve(centers), centers, coef, np.arange(50))
    assert isinstance(to_float32(part), Float32Part)
    X = np.vstack([rows(40, d, seed=2), centers])  # distances of 0 among them
    found = to_float32(part)(X)
    assert found.dtype == np.float64
    assert near(part, X)


@pytest.mark.parametrize("kernel", [Gaussian(0.2), Laplacian(0.2), Gaussian(0.5, on="standard")])
def test_features_far_from_zero_keep_their_digits(kernel):
    centers = rows(50, 8, center=1e6)
    part = KernelPart(kernel.resolve(centers), centers, np.ones((50, 1)), np.arange(50))
    assert near(part, rows(40, 8, seed=2, center=1e6))


@pytest.mark.parametrize("kernel", [Gaussian(0.2), Laplacian(0.2), Gaussian(0.5, on="standard")])
def test_sparse_rows(kernel):
    dense = rows(60, 6) * (np.random.default_rng(3).random((60, 6)) < 0.4)
    centers, X = sparse.csr_matrix(dense[:30]), sparse.csr_matrix(dense[30:])
    part = KernelPart(kernel.resolve(centers), centers, np.ones((30, 1)), np.arange(30))
    assert near(part, X)


def test_where_float32_overflows_float64_is_used():
    centers = np.array([[1e12], [2e12]])
    part = KernelPart(Polynomial(4), centers, np.full((2, 1), 1e-40), np.arange(2))
    assert part.rest is not None
    assert_array_equal(to_float32(part)(centers), part(centers))


def test_functions_are_called_with_float64():
    seen = []

    def product(X, Z):
        seen.append(X.dtype)
        return X @ Z.T

    part = KernelPart(FunctionKernel(product), rows(5, 2), np.ones((5, 1)), np.arange(5))
    assert near(part, rows(4, 2, seed=1))
    assert set(seen) == {np.dtype(np.float64)}


def test_precomputed_kernels_pick_their_columns():
    K = rows(6, 12)
    kernel = as_kernels("precomputed", K)[1]
    part = KernelPart(kernel, np.array([[1], [4]]), np.ones((2, 1)), np.array([1, 4]))
    assert near(part, K)


def test_what_is_folded_stays_as_it_is():
    part = KernelPart(Linear(), rows(50, 3), np.ones((50, 1)), np.arange(50))
    assert to_float32(part) is part


def test_features_that_are_0_in_all_rows_are_left_out_of_products():
    X = rows(60, 6)
    X[:, [1, 4]] = 0.0
    long = AugmentedRows(X, np.float32, None)
    assert long.values.shape == (60, 4 + 2)
    centers = rows(20, 6, seed=1)  # others than rows: not 0 there
    pairing = Gaussian(0.2).resolve(X).pairings[0]
    side = PreparedCenters(pairing, centers, shift=long.shift, features=long.features)
    expected = ((X[:, None] - centers) ** 2).sum(axis=2)
    for found in (side.augmented_product(long, 0.2), side.approximate(X, 0.2)):
        assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
