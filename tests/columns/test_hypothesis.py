"""Parts of a model: scales folded back, folded or pair by pair, dense or CSR."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.columns.library import KernelLibrary
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid

KERNELS = [
    Linear(),
    Polynomial(2),
    Polynomial(3, gamma=0.2),
    Gaussian(0.5),
    Laplacian(0.5),
    Sigmoid(0.3),
    Linear() + 0.5 * Polynomial(2),
    Linear() + Gaussian(1.0),
]
FOLDING = [Linear(), Polynomial(2), Polynomial(3, gamma=0.2), Linear() + 0.5 * Polynomial(2)]


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("scaling", [None, "floored"])
def test_combined_members_are_their_sum(kernel, container, n_outputs, scaling):
    X, new = container(rows(40)), container(rows(17, seed=1))
    library = KernelLibrary([kernel], X, scaling=scaling)
    ids = np.random.default_rng(2).permutation(40)[:35]
    members = library.hypotheses(ids)
    family = members[0].family
    coef = np.random.default_rng(3).normal(size=(35, n_outputs))
    part = family.combine(members, coef)
    assert_allclose(part(new), family.columns(members, new) @ coef, rtol=1e-9, atol=1e-9)
    # coefficients belong to unscaled columns, in the members' order
    assert_allclose(part.coef * library.scales[ids][:, None], coef, rtol=1e-12)
    assert_allclose(kernel(new, part.centers) @ part.coef, part(new), rtol=1e-9, atol=1e-9)
    assert_array_equal(part.indices, ids)


@pytest.mark.parametrize("kernel", FOLDING, ids=repr)
def test_many_centers_fold_and_few_do_not(kernel):
    rng = np.random.default_rng(0)
    many = KernelPart(kernel, rows(200), rng.normal(size=(200, 2)), np.arange(200))
    assert many.folded
    assert many.rest is None
    few = KernelPart(kernel, rows(1), rng.normal(size=(1, 2)), np.arange(1))
    for part in (many, few):
        new = rows(11, seed=4)
        assert_allclose(part(new), kernel(new, part.centers) @ part.coef, rtol=1e-9, atol=1e-9)


def test_a_folded_part_forms_no_pairs(monkeypatch):
    part = KernelPart(Linear(), rows(50), np.ones((50, 1)), np.arange(50))
    expected = rows(5, seed=1) @ rows(50).sum(axis=0)

    def refuse(*_):
        raise AssertionError("pairs were formed")

    monkeypatch.setattr(Linear, "__call__", refuse)
    assert_allclose(part(rows(5, seed=1))[:, 0], expected, rtol=1e-10)


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Sigmoid(1.0), Linear() * Gaussian(1.0)], ids=repr
)
def test_other_kernels_do_not_fold(kernel):
    part = KernelPart(kernel, rows(200), np.ones((200, 1)), np.arange(200))
    assert not part.folded
    assert part.rest == kernel


@pytest.mark.parametrize("factor", [1.0, 0.5])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_terms_of_a_sum_that_fold_are_folded(factor, n_outputs, monkeypatch):
    kernel = factor * (Linear() + Polynomial(2) + Gaussian(1.0))
    coef = np.random.default_rng(0).normal(size=(200, n_outputs))
    new = rows(11, seed=4)
    expected = kernel(new, rows(200)) @ coef
    part = KernelPart(kernel, rows(200), coef, np.arange(200))
    assert len(part.folded) == 2
    assert part.rest == factor * Gaussian(1.0)
    monkeypatch.setattr(Linear, "profile", lambda *_: 1 / 0)
    monkeypatch.setattr(Polynomial, "profile", lambda *_: 1 / 0)
    assert_allclose(part(new), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_stacked_rows_are_the_rows(container):
    X = container(rows(6))
    stacked = stack_rows([X[[2]], X[[0]], X[[2]]])
    dense = stacked.toarray() if sparse.issparse(stacked) else stacked
    assert sparse.issparse(stacked) == sparse.issparse(X)
    assert_array_equal(dense, rows(6)[[2, 0, 2]])
