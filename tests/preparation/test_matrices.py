"""Matrices of numbers pass unchanged; gaps are filled and marked, also in sparse rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kboost.preparation import TablePreparation


def test_numbers_without_gaps_pass_unchanged():
    X = np.random.default_rng(0).normal(size=(20, 3))
    prepare = TablePreparation()
    assert prepare.fit_transform(X) is X
    assert prepare.transform(X) is X
    new = X[:3].copy()
    new[0, 1] = np.nan
    assert prepare.transform(new)[0, 1] == np.median(X[:, 1])


def test_running_numbers_and_constants_of_a_matrix_are_kept():
    X = np.column_stack([np.arange(30), np.ones(30)])
    np.testing.assert_array_equal(TablePreparation().fit_transform(X), X)


def test_gaps_of_a_matrix_are_marked():
    X = np.array([[1.0, np.nan], [2.0, 5.0], [np.nan, 6.0], [3.0, 8.0]])
    prepare = TablePreparation()
    out = prepare.fit_transform(X)
    np.testing.assert_array_equal(out, [[1, 0, 6, 1], [2, 0, 5, 0], [2, 1, 6, 0], [3, 0, 8, 0]])
    np.testing.assert_array_equal(prepare.one_hot_, [False, True, False, True])
    np.testing.assert_array_equal(prepare.fit_transform(X.astype(object)), out)


def test_a_column_without_values_is_left_out():
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    prepare = TablePreparation()
    np.testing.assert_array_equal(prepare.fit_transform(X), [[1], [2]])
    np.testing.assert_array_equal(prepare.transform(X), [[1], [2]])


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_without_gaps_pass_unchanged(kind):
    X = kind(sparse.random(30, 8, density=0.3, random_state=0))
    prepare = TablePreparation()
    assert prepare.fit_transform(X) is X
    assert prepare.transform(X) is X


def test_gaps_of_sparse_rows_are_filled_as_in_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(41, 5)) * (rng.random((41, 5)) < [0.9, 0.2, 0.6, 0.9, 0.1])
    X[rng.random((41, 5)) < [0.2, 0.2, 0, 0, 0]] = np.nan
    weight = rng.integers(0, 3, 41)
    dense, rows = TablePreparation(), TablePreparation()
    out = rows.fit_transform(sparse.csr_matrix(X), sample_weight=weight)
    assert sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.fit_transform(X, sample_weight=weight))
    assert rows.columns_ == dense.columns_
    X[3, 3] = np.nan
    np.testing.assert_array_equal(
        rows.transform(sparse.csr_matrix(X)).toarray(), dense.transform(X)
    )
    np.testing.assert_array_equal(rows.transform(X), dense.transform(X))


def test_numbers_that_are_0_or_1_are_told():
    X = np.column_stack([[0, 1, 1, 0], [0, 1, 2, 0]])
    np.testing.assert_array_equal(TablePreparation().fit(X).one_hot_, [True, False])
    np.testing.assert_array_equal(
        TablePreparation().fit(sparse.csr_matrix(X)).one_hot_, [True, False]
    )
