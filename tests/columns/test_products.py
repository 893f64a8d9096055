"""Products of all columns of a library, summed over blocks."""

import numpy as np
import pytest

from kboost.columns.library import KernelLibrary
from kboost.kernels import Gaussian, Linear

X = np.random.default_rng(1).normal(size=(700, 3))


@pytest.mark.parametrize("block_width", [50, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_products_and_sums_are_those_of_the_columns(block_width, n_jobs):
    library = KernelLibrary(
        [Linear(), Gaussian(0.4)], X, scaling="unit", block_width=block_width, n_jobs=n_jobs
    )
    H = library.values(np.arange(library.n_columns))
    products = library.products()
    assert products.flags.c_contiguous
    np.testing.assert_allclose(products, H @ H.T, rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(products, products.T)
    coef = np.random.default_rng(2).normal(size=library.n_columns)
    np.testing.assert_allclose(library.combined(coef), H @ coef, rtol=1e-10, atol=1e-10)
