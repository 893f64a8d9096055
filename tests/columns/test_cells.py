"""Cells: every row is in one, sizes are bounded, and no column of one value is ever cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import kboost.columns.cells as cells_module
from kboost.columns.cell_tree import (
    cells_around,
    descend,
    graft,
    shared_by_sides,
    split_into_cells,
)
from kboost.columns.cells import CellPart, kernel_block
from kboost.kernels import Gaussian, Laplacian
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View


def rows(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@given(
    n=st.integers(1, 300),
    d=st.integers(1, 4),
    size=st.integers(1, 50),
    values=st.sampled_from([1, 2, 5, 1000]),
    seed=st.integers(0, 10**6),
)
def test_each_row_is_in_the_cell_that_the_tree_says(n, d, size, values, seed):
    X = np.random.default_rng(seed).integers(0, values, size=(n, d)).astype(float)
    tree, cells = split_into_cells(X, np.arange(n), size, View())
    assert tree.n_cells == len(cells)
    assert_array_equal(np.sort(np.concatenate(cells)), np.arange(n))
    where = tree.assign(X)
    for number, cell in enumerate(cells):
        assert (where[cell] == number).all()
        assert len(cell) <= size or (X[cell] == X[cell[0]]).all()


@given(
    n=st.integers(1, 300),
    size=st.integers(1, 50),
    values=st.sampled_from([1, 2, 5, 1000]),
    overlap=st.sampled_from([0.01, 0.5, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_cells_that_overlap_hold_their_rows_and_some_of_their_neighbours(
    n, size, values, overlap, seed
):
    X = np.random.default_rng(seed).integers(0, values, size=(n, 2)).astype(float)
    tree, cells = split_into_cells(
        X, np.arange(n), size, View(), shared=shared_by_sides(n, size, overlap)
    )
    where = tree.assign(X)
    for number, cell in enumerate(cells):
        assert set(np.flatnonzero(where == number)) <= set(cell.tolist())
        assert len(np.unique(cell)) == len(cell)
        assert len(cell) <= size or (X[cell] == X[cell[0]]).all()


def test_an_overlap_is_of_the_rows_nearest_to_the_border():
    X = rows(1000, 1)
    tree, (left, right) = split_into_cells(X, np.arange(1000), 600, View(), shared=0.1)
    ranks = np.argsort(np.argsort(X[:, 0]))
    assert set(ranks[left]) == set(range(600))
    assert set(ranks[right]) == set(range(400, 1000))
    assert np.bincount(tree.assign(X)).tolist() == [500, 500]


def test_an_overlap_multiplies_the_rows_of_all_cells():
    X = rows(20_000, 4)
    _, cells = split_into_cells(
        X, np.arange(20_000), 500, View(), shared=shared_by_sides(20_000, 500, 0.5)
    )
    assert sum(map(len, cells)) == pytest.approx(30_000, rel=0.02)


def test_cuts_are_even_where_values_allow_it():
    X = rows(1024, 3)
    _, cells = split_into_cells(X, np.arange(1024), 64, View())
    assert [len(cell) for cell in cells] == [64] * 16


def test_constant_repeated_and_lopsided_features_are_not_cut():
    X = rows(512, 2)
    lopsided = np.where(np.arange(512) < 3, 1e6, 0.0)
    wide = np.column_stack([np.full(512, 7.0), lopsided, X[:, 0], X[:, 0], X[:, 1]])
    tree, cells = split_into_cells(wide, np.arange(512), 64, View())
    assert set(tree.feature[tree.feature >= 0].tolist()) <= {2, 3, 4}
    _, plain = split_into_cells(X, np.arange(512), 64, View())
    assert {frozenset(cell.tolist()) for cell in cells} == {
        frozenset(cell.tolist()) for cell in plain
    }


def test_wide_is_meant_as_the_kernel_sees_it():
    X = rows(400, 2) * [1.0, 100.0]
    plain, _ = split_into_cells(X, np.arange(400), 200, View())
    assert plain.feature[0] == 1
    transform = Standardize(np.zeros(2, dtype=int), np.zeros(2), np.array([1.0, 1e-3]))
    seen, _ = split_into_cells(X, np.arange(400), 200, View(transform=transform))
    assert seen.feature[0] == 0
    ranked, cells = split_into_cells(
        X, np.arange(400), 100, View(transform=Ranks.fit(X, np.ones(400)))
    )
    assert set(ranked.feature.tolist()) == {-1, 0, 1}
    assert all((ranked.assign(X[cell]) == j).all() for j, cell in enumerate(cells))


def test_cells_around_rows_are_those_of_the_tree():
    X, anchors = rows(500, 3), np.array([3, 77, 400, 77])
    tree, cells = split_into_cells(X, np.arange(500), 60, View())
    found = cells_around(X, np.arange(500), 60, View(), anchors)
    for anchor, cell in zip(anchors, found, strict=True):
        assert_array_equal(np.sort(cell), np.sort(cells[tree.assign(X[[anchor]])[0]]))


def test_splits_that_are_known_are_not_looked_for_again(monkeypatch):
    X, anchors, known = rows(500, 3), np.array([3, 77]), {}
    few = descend(X, np.arange(500), 60, View(), anchors, known)
    seen = len(known)
    tree, cells = split_into_cells(X, np.arange(500), 60, View(), cache=known)
    assert 0 < seen < len(known) == np.count_nonzero(tree.feature >= 0)
    plain, own = split_into_cells(X, np.arange(500), 60, View())
    assert_array_equal(tree.threshold, plain.threshold)
    for cell, other in zip(cells, own, strict=True):
        assert_array_equal(cell, other)
    monkeypatch.setattr("kboost.columns.cell_tree.split", None)  # nobody asks
    again = descend(X, np.arange(500), 60, View(), anchors, known)
    for cell, other in zip(again, few, strict=True):
        assert_array_equal(cell, other)


def test_centres_are_narrow_only_where_nothing_is_lost():
    for X, dtype in ((np.arange(12.0).reshape(6, 2), np.float32), (rows(6, 2), np.float64)):
        part = CellPart(
            Gaussian(0.1), split_into_cells(X, np.arange(6), 6, View())[0], [X], [np.ones((6, 1))]
        )
        assert part.centers.dtype == dtype
        assert_array_equal(part.centers, X)
        assert_allclose(part(X)[:, 0], Gaussian(0.1)(X, X).sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize("seed", [None, 0])
def test_cells_that_are_cut_further_as_they_are_told_of_join_to_the_whole(seed):
    X = rows(400, 3)
    whole, cells = split_into_cells(X, np.arange(400), 40, View(), stream(seed))
    heard, parts = [], []

    def further(inside, own):
        heard.append(inside)
        tree, below = split_into_cells(X, inside, 40, View(), own)
        values = [X[cell] for cell in below]
        parts.append(CellPart(Gaussian(0.5), tree, values, [v[:, :1] for v in values]))

    top, large = split_into_cells(X, np.arange(400), 150, View(), stream(seed), on_cell=further)
    for inside, other in zip(heard, large, strict=True):
        assert_array_equal(inside, other)
    joined = CellPart.joined(Gaussian(0.5), graft(top, [part.tree for part in parts]), parts)
    plain = CellPart(Gaussian(0.5), whole, [X[c] for c in cells], [X[c, :1] for c in cells])
    assert_array_equal(joined.starts, plain.starts)
    assert_array_equal(joined.centers, plain.centers)
    assert_array_equal(joined(X), plain(X))


def stream(seed):
    return None if seed is None else np.random.default_rng(seed)


def test_random_partitions_differ_and_are_partitions():
    X, rng = rows(600, 3), np.random.default_rng(0)
    first, second = (split_into_cells(X, np.arange(600), 50, View(), rng)[1] for _ in range(2))
    assert {frozenset(c.tolist()) for c in first} != {frozenset(c.tolist()) for c in second}
    for cells in (first, second):
        assert_array_equal(np.sort(np.concatenate(cells)), np.arange(600))


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.2), Gaussian(1e9)])
def test_a_part_is_the_sum_over_the_columns_of_the_rows_own_cell(kernel, monkeypatch):
    X, new = rows(200, 3), rows(70, 3, seed=1)
    tree, cells = split_into_cells(X, np.arange(200), 30, View())
    coef = [rows(len(cell), 2, seed=len(cell)) for cell in cells]
    part = CellPart(kernel, tree, [X[cell] for cell in cells], coef)
    where = tree.assign(new)
    expected = [kernel(new[[i]], X[cells[c]])[0] @ coef[c] for i, c in enumerate(where)]
    assert_allclose(part(new), expected, atol=1e-4)
    assert part(new[:0]).shape == (0, 2)
    monkeypatch.setattr(cells_module, "_BLOCK", 50)
    assert_allclose(part(new), expected, atol=1e-4)


def test_blocks_keep_their_digits_far_from_the_origin():
    X = 1e6 + rows(50, 6)
    kernel = Gaussian(0.5)
    assert_allclose(kernel_block(kernel, X, X), kernel(X - 1e6, X - 1e6), atol=1e-4)
