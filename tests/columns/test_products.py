"""Products of all columns of a library, summed over blocks."""

import numpy as np
import pytest
from scipy import sparse

from kboost.columns.blocks import BlockSource
from kboost.columns.library import KernelLibrary
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.kernels.adapters import as_kernels

X = np.random.default_rng(1).normal(size=(700, 3))


@pytest.mark.parametrize("block_width", [50, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_are_those_of_the_columns(block_width, n_jobs):
    library = KernelLibrary(
        [Linear(), Gaussian(0.4)], X, scaling="unit", block_width=block_width, n_jobs=n_jobs
    )
    H = library.values(np.arange(library.n_columns))
    products = library.products()
    assert products.flags.c_contiguous
    np.testing.assert_allclose(products, H @ H.T, rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(products, products.T)


def test_kernels_of_degree_one_need_no_blocks(monkeypatch):
    kernels = [Linear(), Polynomial(1, gamma=0.5, coef0=2.0) + 3.0 * Linear(on="standard")]
    library = KernelLibrary(as_kernels(kernels, X), X, centers=X[:40], scaling="unit")
    H = library.values(np.arange(library.n_columns))
    monkeypatch.setattr(BlockSource, "evaluate", None)
    np.testing.assert_allclose(library.products(), H @ H.T, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("rows", [X[:20], sparse.csr_matrix(X)])
def test_few_or_sparse_rows_are_multiplied_in_blocks(rows):
    library = KernelLibrary([Linear()], rows, scaling="unit")
    H = library.values(np.arange(library.n_columns))
    np.testing.assert_allclose(library.products(), H @ H.T, rtol=1e-11, atol=1e-10)
