"""The library against columns computed pair by pair."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.library import KernelLibrary
from kboost.columns.scaling import SPIKE_FLOOR
from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from kboost.kernels import pairings as pairings_module
from kboost.kernels.adapters import FunctionKernel, Precomputed, SklearnKernel, as_kernels
from tests.contracts.reference import naive_columns


def largest_difference(X, Z):
    X, Z = (V.toarray() if sparse.issparse(V) else V for V in (X, Z))
    return np.exp(-np.abs(X[:, None] - Z[None]).max(axis=2))


LIBRARIES = {
    "linear": [Linear()],
    "quadratic": [Polynomial(2)],
    "cubic": [Polynomial(3, coef0=0.5, gamma=0.3)],
    "quartic": [Polynomial(4, gamma=0.2)],
    "sigmoid": [Sigmoid(0.4)],
    "gaussians": [Gaussian(0.1), Gaussian(1.0), Gaussian("mean")],
    "laplacian": [Laplacian(0.5), Laplacian("median")],
    "matern": [Matern(nu=0.5), Matern(nu=2.5)],
    "sum that folds": [2.0 * Linear() + Polynomial(2, columns=[1])],
    "sum that does not": [Linear() + 0.5 * Gaussian(0.7)],
    "product": [Linear() * Gaussian(0.7)],
    "views": [Gaussian(columns=[0, 2], on="standard"), Linear(on="standard")],
    "callable": [FunctionKernel(largest_difference), SklearnKernel("cosine")],
    "mixture": [
        Linear(),
        Gaussian(0.3),
        Polynomial(2),
        Laplacian(1.0),
        Gaussian(2.0),
        Sigmoid(0.1),
    ],
}
SCALINGS = pytest.mark.parametrize("scaling", [None, "floored"])
CONTAINERS = pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
EACH = pytest.mark.parametrize("name", LIBRARIES)


def rows(n=31, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    X[n // 2] = X[0]
    return X


def weights(n=31, seed=1):
    return np.random.default_rng(seed).uniform(0.2, 3.0, size=n)


def signed(n=31, seed=2):
    return np.random.default_rng(seed).normal(size=n)


def resolved(name, X):
    return [kernel.resolve(X) for kernel in LIBRARIES[name]]


@EACH
@CONTAINERS
def test_edges_and_values_are_those_of_the_naive_columns(name, container):
    X = container(rows())
    kernels, w = resolved(name, X), signed()
    raw = naive_columns(kernels, rows(), rows())  # dense, whatever the library is given
    ids = np.random.default_rng(3).permutation(raw.shape[1])
    for scaling, budget in product([None, "floored"], [1, 20_000, 1 << 30]):
        library = KernelLibrary(
            kernels, X, sample_weight=weights(), scaling=scaling, memory_budget=budget
        )
        expected = raw / library.scales
        assert library.n_columns == len(kernels) * 31 == expected.shape[1]
        values = library.values(ids)
        assert values.flags.f_contiguous
        assert_allclose(values, expected[:, ids], rtol=1e-10, atol=1e-11)
        size = np.abs(expected).sum(axis=0).max()
        for _ in range(2):  # the second time some blocks come from the cache
            assert_allclose(library.edges(w), expected.T @ w, rtol=1e-9, atol=1e-12 * size)


@EACH
def test_centers_need_not_be_the_rows(name):
    X, centers, w = rows(), rows(9, seed=5), signed()
    kernels = resolved(name, X)
    library = KernelLibrary(kernels, X, centers=centers, scaling="floored")
    expected = naive_columns(kernels, X, centers) / library.scales
    assert (library.n_rows, library.n_centers) == (31, 9)
    assert_allclose(library.edges(w), expected.T @ w, rtol=1e-9, atol=1e-10)
    assert_allclose(library.values(np.array([8, 0])), expected[:, [8, 0]], rtol=1e-10, atol=1e-12)


@SCALINGS
@pytest.mark.parametrize("budget", [1, 1 << 30])
def test_precomputed(scaling, budget):
    base, w = rows(20), signed(20)
    matrices = [Gaussian(0.4)(base), Linear()(base)]
    X = np.hstack(matrices)
    centers = np.array([3, 0, 17, 5])[:, None]
    library = KernelLibrary(
        as_kernels("precomputed", X), X, centers=centers, scaling=scaling, memory_budget=budget
    )
    expected = np.hstack([K[:, centers[:, 0]] for K in matrices]) / library.scales
    assert_allclose(library.values(np.arange(8)), expected, rtol=1e-12)
    assert_allclose(library.edges(w), expected.T @ w, rtol=1e-10, atol=1e-12)
    new = np.hstack([Gaussian(0.4)(rows(6, seed=9), base), Linear()(rows(6, seed=9), base)])
    members = library.hypotheses(np.array([1, 2]))
    got = members[0].family.columns(members, new)
    assert_allclose(got, new[:, [0, 17]] / library.scales[[1, 2]], rtol=1e-12)


@EACH
@SCALINGS
def test_hypotheses_are_the_same_columns_on_any_rows(name, scaling):
    X, new = rows(), rows(12, seed=8)
    kernels = resolved(name, X)
    library = KernelLibrary(kernels, X, scaling=scaling)
    everywhere = naive_columns(kernels, np.vstack([X, new]), X) / library.scales
    ids = np.arange(library.n_columns)[::11]
    for j, hypothesis in zip(ids, library.hypotheses(ids), strict=True):
        assert hypothesis.family.kernel == kernels[j // 31]
        assert hypothesis.index == j % 31
        at_rows = hypothesis.family.columns([hypothesis], X)
        assert_allclose(at_rows, library.values(np.array([j])), rtol=1e-10, atol=1e-11)
        at_new = hypothesis.family.columns([hypothesis], new)
        assert_allclose(at_new[:, 0], everywhere[31:, j], rtol=1e-10, atol=1e-11)


def test_hypotheses_are_equal_by_kernel_and_center():
    X = rows()
    library = KernelLibrary([Gaussian(1.0), Linear()], X)
    a, b, c, d = library.hypotheses(np.array([4, 4, 5, 35]))
    assert a == b
    assert hash(a) == hash(b)
    assert len({a, c, d}) == 3


def test_strata_and_owners():
    library = KernelLibrary([Gaussian(1.0), Linear(), Sigmoid(1.0)], rows())
    assert library.strata == [slice(0, 31), slice(31, 62), slice(62, 93)]
    ids = np.array([70, 3, 31, 2, 92])
    owned = {p: ids[where].tolist() for p, where in library.by_kernel(ids)}
    assert owned == {0: [3, 2], 1: [31], 2: [70, 92]}


class TestScaling:
    @EACH
    def test_unit_scaling_is_the_weighted_root_mean_square_or_the_floor(self, name):
        X, w = rows(), weights()
        kernels = resolved(name, X)
        raw = naive_columns(kernels, X, X)
        rms, peak = np.sqrt(w @ raw**2 / w.sum()), np.abs(raw).max(axis=0)
        library = KernelLibrary(kernels, X, sample_weight=w, scaling="floored")
        floored = rms < SPIKE_FLOOR * peak
        assert_allclose(library.scales[~floored], rms[~floored], rtol=1e-9)
        assert_allclose(library.scales[floored], SPIKE_FLOOR * peak[floored], rtol=1e-9)
        values = library.values(np.arange(library.n_columns))
        assert_allclose(library.rms, np.sqrt(w @ values**2 / w.sum()), rtol=1e-9)
        assert_allclose(library.rms[~floored], 1.0, rtol=1e-9)
        assert (library.rms[floored] < 1.0).all()

    def test_a_spike_is_floored_and_a_wide_column_is_not(self):
        X = 10.0 * np.arange(400.0)[:, None]
        library = KernelLibrary([Gaussian(5.0), Gaussian(1e-9)], X, scaling="floored")
        assert_allclose(library.scales[:400], SPIKE_FLOOR)  # 1/20 by the root mean square
        assert_allclose(library.rms[:400], 0.05 / SPIKE_FLOOR)
        assert_allclose(library.rms[400:], 1.0)

    def test_no_scaling_leaves_columns_alone(self):
        X, w = rows(), weights()
        library = KernelLibrary([Gaussian(1.0)], X, sample_weight=w)
        assert_array_equal(library.scales, 1.0)
        assert_allclose(library.values(np.arange(31)), Gaussian(1.0)(X), rtol=1e-12)
        assert_allclose(library.rms, np.sqrt(w @ Gaussian(1.0)(X) ** 2 / w.sum()), rtol=1e-12)

    @SCALINGS
    def test_dead_columns_have_no_size_and_stay_finite(self, scaling):
        X = np.vstack([np.zeros((2, 3)), rows(10, 3)])
        library = KernelLibrary([Linear(), Gaussian(1.0)], X, scaling=scaling)
        assert_array_equal(library.rms[:2], 0.0)
        assert (library.rms[12:] > 0).all()
        assert_array_equal(library.values(np.array([0, 1])), 0.0)
        assert_array_equal(library.edges(np.ones(12))[:2], 0.0)

    @pytest.mark.parametrize("factor", [1e-160, 1e160])
    def test_sizes_beyond_the_range_of_squares(self, factor):
        base = rows(10, 3) + 0.1
        K = factor * Gaussian(1.0)(base)
        library = KernelLibrary(
            [Precomputed(0, 10)], K, centers=np.arange(10)[:, None], scaling="floored"
        )
        plain = KernelLibrary([Gaussian(1.0)], base, scaling="floored")
        assert_allclose(library.scales / factor, plain.scales, rtol=1e-9)
        assert_allclose(library.rms, plain.rms, rtol=1e-9)
        assert_allclose(
            library.values(np.arange(10)), plain.values(np.arange(10)), rtol=1e-9, atol=1e-12
        )

    def test_overflow_is_refused_in_words(self):
        with pytest.raises(ValueError, match="scale the features"):
            KernelLibrary([Polynomial(4)], 1e100 * rows())


class TestInvariance:
    @EACH
    @SCALINGS
    def test_a_row_given_twice_is_a_row_of_weight_two(self, name, scaling):
        X, w, s = rows(), weights(), signed()
        kernels = resolved(name, X)
        again = np.array([3, 7, 7, 20])
        count = 1.0 + np.bincount(again, minlength=31)
        twice = np.concatenate([np.arange(31), again])
        merged = KernelLibrary(kernels, X, sample_weight=w * count, scaling=scaling)
        repeated = KernelLibrary(
            kernels, X[twice], centers=X, sample_weight=w[twice], scaling=scaling
        )
        assert_allclose(repeated.scales, merged.scales, rtol=1e-10)
        assert_allclose(repeated.rms, merged.rms, rtol=1e-10)
        assert_allclose(repeated.edges(s[twice]), merged.edges(s * count), rtol=1e-9, atol=1e-10)

    @EACH
    @SCALINGS
    def test_order_of_rows_does_not_matter(self, name, scaling):
        X, w, s = rows(), weights(), signed()
        kernels, order = resolved(name, X), np.random.default_rng(4).permutation(31)
        one = KernelLibrary(kernels, X, sample_weight=w, scaling=scaling)
        other = KernelLibrary(kernels, X[order], centers=X, sample_weight=w[order], scaling=scaling)
        assert_allclose(other.rms, one.rms, rtol=1e-10)
        assert_allclose(other.edges(s[order]), one.edges(s), rtol=1e-9, atol=1e-10)
        ids = np.arange(one.n_columns)[::7]
        assert_allclose(other.values(ids), one.values(ids)[order], rtol=1e-10, atol=1e-12)


@pytest.fixture
def calls(monkeypatch):
    """How often each elementary block was computed, by kind."""
    counts = dict.fromkeys(pairings_module.BLOCKS, 0)

    def counted(kind, function):
        def block(X, Z):
            counts[kind] += 1
            return function(X, Z)

        return block

    wrapped = {k: counted(k, f) for k, f in pairings_module.BLOCKS.items()}
    monkeypatch.setattr(pairings_module, "BLOCKS", wrapped)
    return counts


class TestWork:
    WIDTHS = (Gaussian(0.1), Gaussian(1.0), Gaussian(10.0), Matern(1.0, nu=1.5))

    def test_all_widths_share_one_distance_block(self, calls):
        library = KernelLibrary(self.WIDTHS, rows())
        assert calls == {"dot": 0, "sqeuclidean": 1, "cityblock": 0}
        library.edges(signed())
        assert calls["sqeuclidean"] == 1  # all blocks were kept

    def test_nothing_kept_means_one_distance_block_a_scan(self, calls):
        library = KernelLibrary(
            self.WIDTHS, rows(), memory_budget=1
        )  # one centre at a time, nothing kept
        assert calls["sqeuclidean"] == 31
        library.edges(signed())
        assert calls["sqeuclidean"] == 62

    def test_distances_of_one_view_are_shared_and_of_two_are_not(self, calls):
        X = rows()
        kernels = [k.resolve(X) for k in (Gaussian(1.0, columns=[0]), Gaussian(1.0, columns=[1]))]
        KernelLibrary([*kernels, Gaussian(2.0, columns=(0,)), Laplacian(1.0), Laplacian(2.0)], X)
        assert calls == {"dot": 0, "sqeuclidean": 2, "cityblock": 1}

    @pytest.mark.parametrize(
        "kernel", [Linear(), Polynomial(2), Linear() + Polynomial(2)], ids=repr
    )
    def test_low_degrees_are_priced_without_their_columns(self, calls, kernel):
        X = rows()
        library = KernelLibrary([kernel], X, memory_budget=1)
        before, w = dict(calls), signed()
        edges = library.edges(w)
        assert calls == before
        assert_allclose(edges, kernel(X).T @ w, rtol=1e-9, atol=1e-10)

    def test_a_mixture_forms_only_what_it_must(self, calls):
        library = KernelLibrary([Linear(), Gaussian(1.0), Polynomial(2)], rows(), memory_budget=1)
        calls.update(dict.fromkeys(calls, 0))
        library.edges(signed())
        assert calls == {"dot": 0, "sqeuclidean": 31, "cityblock": 0}

    def test_values_compute_only_the_columns_asked_for(self, monkeypatch):
        seen = []
        original = pairings_module.Pairing.compute_viewed

        def watched(self, VX, VZ):
            seen.append((self.kind, VZ.shape[0]))
            return original(self, VX, VZ)

        library = KernelLibrary([Gaussian(1.0), Linear()], rows())
        monkeypatch.setattr(pairings_module.Pairing, "compute_viewed", watched)
        library.values(np.array([3, 40, 5]))
        assert sorted(seen) == [("dot", 1), ("sqeuclidean", 2)]
        assert library.values(np.zeros(0, dtype=int)).shape == (31, 0)

    @pytest.mark.parametrize("budget", [1, 5_000, 30_000, 100_000, 1 << 24])
    def test_memory_stays_within_the_budget(self, budget):
        library = KernelLibrary(self.WIDTHS, rows(60), memory_budget=budget)
        for _ in range(3):
            library.edges(signed(60))
        source = library._source
        held = source._cache.bytes_used
        assert held == sum(block.nbytes for block in source._cache._blocks.values())
        assert held <= budget // 2
        assert 1 <= source.width <= 1024
        if source.width > 1:  # the blocks at work
            assert 8 * 60 * source.width * (len(self.WIDTHS) + 2) <= budget // 4
