"""Columns of a model on a part of the rows, found again in the library of all rows."""

import numpy as np
from numpy.testing import assert_array_equal

from kboost.columns.library import KernelLibrary
from kboost.data.merged_rows import hold_out, merge_rows
from kboost.kernels import Gaussian, Laplacian
from kboost.plans.first_columns import columns_in

KERNELS = [Gaussian(0.5), Laplacian(1.0)]


def library(rows):
    return KernelLibrary(
        KERNELS, rows.X, centers=rows.centers, center_of_row=rows.center_of_row, scaling=None
    )


def test_the_columns_of_every_split_are_found_by_kernel_and_centre():
    rng = np.random.default_rng(0)
    rows = merge_rows(
        np.repeat(rng.normal(size=(15, 2)), 2, axis=0), rng.integers(3, size=30), np.ones(30)
    )
    whole, splits, models, expected = library(rows), [], [], []
    for seed in range(2):
        part = hold_out(rows, 0.3, np.random.RandomState(seed), by_code=False)[0]
        of_part = library(part)
        models.append(of_part.hypotheses(np.array([1, 4, of_part.n_centers + 2])))
        splits.append((of_part, part))
        expected += [h.family.columns([h], rows.X) for h in models[-1]]
    found = whole.values(columns_in(whole, rows, models, splits))
    assert_array_equal(np.unique(np.hstack(expected), axis=1), np.unique(found, axis=1))
