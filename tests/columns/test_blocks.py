"""Blocks in threads and at some centres only: the same numbers, within the budget."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.blocks import BlockSource
from kboost.columns.library import KernelLibrary, measured_columns
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
from kboost.kernels import pairings as pairings_module
from kboost.kernels.adapters import FunctionKernel, as_kernels
from tests.columns.test_library import CONTAINERS, EACH, LIBRARIES, resolved, rows, signed, weights

BUDGETS = (1, 20_000, 1 << 30)  # nothing kept; some blocks kept; all kept
SUBSETS = {
    "none": [],
    "one": [17],
    "few, in any order": [30, 2, 11],
    "one of each kernel": [4, 35, 66],
    "most": list(range(1, 29)),
}


class TestSomeColumns:
    @EACH
    @CONTAINERS
    def test_edges_are_those_of_the_full_scan(self, name, container):
        X = container(rows())
        kernels, w = resolved(name, X), signed()
        for budget in BUDGETS:
            library = KernelLibrary(
                kernels, X, sample_weight=weights(), scaling="floored", memory_budget=budget
            )
            full = library.edges(w)
            for subset in [*SUBSETS.values(), np.arange(library.n_columns)[::-1]]:
                ids = np.array(subset, dtype=int)
                ids = ids[ids < library.n_columns]
                size = np.abs(full).max() + 1.0
                assert_allclose(library.edges(w, ids), full[ids], rtol=1e-9, atol=1e-11 * size)

    @pytest.mark.parametrize("budget", BUDGETS)
    def test_precomputed_and_other_centers(self, budget):
        base, w = rows(20), signed(20)
        X = np.hstack([Gaussian(0.4)(base), Linear()(base)])
        centers = np.array([3, 0, 17, 5])[:, None]
        kernels = as_kernels("precomputed", X)
        library = KernelLibrary(kernels, X, centers=centers, memory_budget=budget)
        ids = np.array([6, 1, 3])
        assert_allclose(library.edges(w, ids), library.edges(w)[ids], rtol=1e-12)

    def test_no_other_column_is_touched(self, monkeypatch):
        seen = []
        plain = pairings_module.Pairing.compute_viewed

        def watched(self, VX, VZ):
            seen.append((self.kind, VZ.shape[0]))
            return plain(self, VX, VZ)

        X = rows()
        library = KernelLibrary([Linear(), Gaussian(1.0), Laplacian(1.0)], X, memory_budget=20_000)
        monkeypatch.setattr(pairings_module.Pairing, "compute_viewed", watched)
        library.edges(signed(), np.array([3, 4, 5]))
        assert seen == []  # a linear kernel needs no pairs
        width, kept = library._source.width, {s for p, s in library._source._cacheable if p == 1}
        outside = np.array([c for c in range(31) if c - c % width not in kept])
        assert 0 < len(outside) < 31
        library.edges(signed(), 31 + outside[:2])
        assert {kind for kind, _ in seen} == {"sqeuclidean"}
        assert sum(size for _, size in seen) == 2
        seen.clear()
        library.edges(signed(), 31 + np.array(sorted(kept)))
        assert seen == []  # kept blocks are used

    def test_few_columns_of_a_wide_kept_block_are_picked(self):
        X = np.random.default_rng(0).normal(size=(200, 3))
        library, w = KernelLibrary([Gaussian(1.0), Gaussian(0.1)], X), signed(200)
        full = library.edges(w)
        for ids in ([5], [199, 3, 200], list(range(0, 400, 9)), list(range(100))):
            assert_allclose(library.edges(w, np.array(ids)), full[ids], rtol=1e-10, atol=1e-12)


class TestCenteredAt:
    def test_rows_are_centres_by_default(self):
        library = KernelLibrary([Linear(), Gaussian(1.0)], rows())
        chosen = np.zeros(31, dtype=bool)
        chosen[[2, 30]] = True
        assert_array_equal(np.flatnonzero(library.centered_at(chosen)), [2, 30, 33, 61])
        assert not library.centered_at(np.zeros(31, dtype=bool)).any()

    def test_one_row_of_a_centre_is_enough(self):
        X = rows()
        own = np.array([0, 1, 2, 2, 1])
        library = KernelLibrary([Linear(), Gaussian(1.0)], X[own], centers=X[:4], center_of_row=own)
        chosen = np.array([False, False, False, True, True])
        assert_array_equal(np.flatnonzero(library.centered_at(chosen)), [1, 2, 5, 6])

    def test_not_known_for_centres_of_unknown_origin(self):
        library = KernelLibrary([Linear()], rows(), centers=rows(4, seed=9))
        assert library.centered_at(np.ones(31, dtype=bool)) is None


class TestThreads:
    @EACH
    @pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
    def test_same_numbers_as_one_after_the_other(self, name, container):
        X = container(rows())
        kernels, w, ids = resolved(name, X), signed(), np.arange(31)[::2]
        for budget in BUDGETS:
            one, four = (
                KernelLibrary(kernels, X, scaling="floored", memory_budget=budget, n_jobs=n)
                for n in (1, 4)
            )
            assert_allclose(four.scales, one.scales, rtol=1e-10)
            assert_allclose(four.rms, one.rms, rtol=1e-10)
            size = np.abs(one.edges(w)).max()
            for _ in range(2):
                assert_allclose(four.edges(w), one.edges(w), rtol=1e-9, atol=1e-12 * size)
            assert_allclose(four.edges(w, ids), one.edges(w, ids), rtol=1e-9, atol=1e-12 * size)

    def test_the_same_bits_every_time(self):
        """Which blocks stay does not depend on which thread comes first."""
        X, w = np.random.default_rng(1).normal(size=(120, 6)), signed(120)
        libraries = [
            KernelLibrary(
                LIBRARIES["mixture"], X, scaling="floored", memory_budget=200_000, n_jobs=3
            )
            for _ in range(4)
        ]
        kept = [set(library._source._cache._blocks) for library in libraries]
        assert 0 < len(kept[0]) < len(libraries[0]._source._blocks()) * 4
        assert all(
            k == kept[0] == set(library._source._cacheable)
            for k, library in zip(kept, libraries, strict=True)
        )
        edges = [library.edges(w) for library in libraries]
        some = [library.edges(w, np.arange(0, 720, 5)) for library in libraries]
        for library_edges, library_some in zip(edges, some, strict=True):
            assert_array_equal(library_edges, edges[0])
            assert_array_equal(library_some, some[0])

    @pytest.mark.parametrize("n_jobs", [1, 2, 3])
    def test_no_more_blocks_at_work_than_jobs_however_many_scans(self, n_jobs):
        lock, now, counts = threading.Lock(), [0], []

        def counted(X, Z):
            with lock:
                now[0] += 1
                counts.append(now[0])
            block = np.minimum(X[:, :1], Z[:, :1].T)
            with lock:
                now[0] -= 1
            return block

        library = KernelLibrary([FunctionKernel(counted)], rows(), memory_budget=1, n_jobs=n_jobs)
        scans = [threading.Thread(target=library.edges, args=(signed(),)) for _ in range(4)]
        for scan in scans:
            scan.start()
        for scan in scans:
            scan.join()
        assert len(counts) == 31 * 5  # all of it: a pass for the sizes, and four scans
        assert max(counts) <= n_jobs

    def test_two_jobs_are_two_blocks_at_work(self):
        both = threading.Barrier(2, timeout=60)

        def waits(X, Z):
            both.wait()
            return np.minimum(X[:, :1], Z[:, :1].T)

        library = KernelLibrary([FunctionKernel(waits)], rows(30), memory_budget=1, n_jobs=2)
        assert_allclose(
            library.edges(np.ones(30)), np.minimum(*np.meshgrid(*[rows(30)[:, 0]] * 2)).sum(0)
        )

    @pytest.mark.parametrize("n_jobs", [1, 2, 5])
    @pytest.mark.parametrize("budget", [30_000, 100_000, 1 << 20])
    def test_blocks_of_all_jobs_fit_the_budget(self, n_jobs, budget):
        kernels = [Gaussian(0.1), Gaussian(1.0), Laplacian(1.0)]
        source = BlockSource(kernels, rows(60), rows(60), budget, keep=[0, 1, 2], n_jobs=n_jobs)
        assert source.width >= 1
        if source.width > 1:  # two pairings, three kernels, one to spare
            assert 8 * 60 * source.width * 6 * n_jobs <= budget // 8

    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_an_error_ends_the_scan(self, n_jobs):
        with pytest.raises(ValueError, match="scale the features"):
            KernelLibrary([Polynomial(4)], 1e100 * rows(), memory_budget=1, n_jobs=n_jobs)
        begun = []

        def broken(X, Z):
            begun.append(1)
            raise RuntimeError("broken")

        with pytest.raises(RuntimeError, match="broken"):
            KernelLibrary([FunctionKernel(broken)], rows(), memory_budget=1, n_jobs=n_jobs)
        assert len(begun) <= 31


class TestHandingOut:
    def test_kept_blocks_make_room_for_columns_handed_out(self):
        X, w, budget = np.random.default_rng(0).normal(size=(100, 4)), signed(100), 200_000
        library = KernelLibrary([Gaussian(1.0), Laplacian(1.0)], X, memory_budget=budget, copies=16)
        cache, edges = library._source._cache, library.edges(w)
        first, order = cache.bytes_used, list(library._source._cacheable)
        assert budget // 4 < first <= budget // 2
        for count in range(1, 31):
            library.values(np.array([count]))
            room = 7 * budget // 8 - 16 * 8 * 100 * count
            assert cache.bytes_used <= max(0, room)
            assert list(library._source._cacheable) == order[: len(library._source._cacheable)]
            assert set(cache._blocks) == set(library._source._cacheable)
            assert_allclose(library.edges(w), edges, rtol=1e-9, atol=1e-11)
            assert_allclose(library.edges(w, np.array([7, 150])), edges[[7, 150]], rtol=1e-9)
        assert cache.bytes_used == 0

    def test_columns_given_up_leave_their_room_to_others(self):
        X, budget = np.random.default_rng(0).normal(size=(100, 4)), 200_000
        library = KernelLibrary([Gaussian(1.0), Laplacian(1.0)], X, memory_budget=budget, copies=16)
        for _ in range(5):
            library.values(np.arange(5))
            before = library._source._cache.bytes_used
            library.release(5)
        assert library._source._cache.bytes_used == before > 0

    def test_small_models_leave_the_blocks_alone(self):
        X = np.random.default_rng(0).normal(size=(100, 4))
        library = KernelLibrary([Gaussian(1.0)], X)
        before = library._source._cache.bytes_used
        library.values(np.arange(100))
        assert library._source._cache.bytes_used == before == 100 * 100 * 8


def test_kernels_that_fold_keep_no_blocks():
    X = np.random.default_rng(0).normal(size=(300, 4))
    library = KernelLibrary([Linear(), Gaussian(1.0), Polynomial(2)], X)
    assert {p for p, _ in library._source._cache._blocks} == {1}


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Laplacian(0.2), Polynomial(2), Linear()])
@pytest.mark.parametrize("at_once", [1, 30, 10**9])
def test_values_computed_a_few_rows_at_a_time_are_those_of_all(kernel, at_once, monkeypatch):
    monkeypatch.setattr("kboost.columns.blocks.AT_ONCE", at_once)
    X = rows()
    kernel = kernel.resolve(X)
    source = BlockSource([kernel], X, X, 10**6, keep=())
    for centers in (slice(2, 9), np.array([5, 1, 3])):
        assert_allclose(source.evaluate([0], centers)[0], kernel(X)[:, centers], rtol=1e-12)


@pytest.mark.parametrize("at_once", [1, 40, 10**9])
def test_measured_columns(at_once, monkeypatch):
    monkeypatch.setattr("kboost.columns.library.AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(17, 6)) * [1.0, 1e-200, 1e200, 1e-20, 0.0, 1e90]
    share = rng.dirichlet(np.ones(17))
    least, top, rms = measured_columns(values, share)
    assert_array_equal(least, values.min(axis=0))
    assert_array_equal(top, np.abs(values).max(axis=0))
    unit = np.where(top > 0, top, 1.0)
    assert_allclose(rms, unit * np.sqrt(share @ (values / unit) ** 2), rtol=1e-13)
    assert rms[4] == 0.0
    assert np.all(np.isfinite(rms))
