"""The full scan against brute force, step by step."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import MaxColumns, PriceBelow
from kboost.formulations import hinge
from kboost.kernels import Gaussian
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from tests.contracts.reference import margin_problem, table


class Library:
    """A dictionary of given columns."""

    def __init__(self, H):
        self.H = H
        self.rms = np.sqrt(np.mean(H**2, axis=0))
        self.n_columns = H.shape[1]

    def edges(self, weights):
        return self.H.T @ weights

    def values(self, ids, *, keep=True):
        return self.H[:, ids]

    def hypotheses(self, ids):
        return [int(j) for j in ids]


class Quoting:
    """A run that asks the given prices, whatever the edges."""

    def __init__(self, prices, n_rows=3):
        self.prices = np.asarray(prices, dtype=float)
        self.fit = SimpleNamespace(weights=np.ones(n_rows), errors=None)

    def price(self, edges):
        return self.prices

    def bound(self, edges):
        return -1.0


def offered(prices, sizes, per_step=2, limit=None):
    library = Library(np.ones((3, 1)) * np.asarray(sizes, dtype=float))
    search = ScanOracle(per_step, limit).start(Problem(library, rows=None))
    return search, search.propose(Quoting(prices))


def brute_force(prices, sizes, taken, count):
    """Pick one at a time the untaken column of the largest price per size."""
    chosen = []
    for _ in range(count):
        best, found = 0.0, None
        for j, (price, size) in enumerate(zip(prices, sizes, strict=True)):
            if j in taken or j in chosen or size == 0 or price <= 0:
                continue
            if found is None or price / size > best:
                best, found = price / size, j
        if found is None:
            break
        chosen.append(found)
    return chosen


@pytest.mark.parametrize("per_step", [1, 3, 50])
@pytest.mark.parametrize("scaling", [None, "floored"])
@pytest.mark.parametrize("seed", range(4))
def test_equals_brute_force_at_every_step(per_step, scaling, seed):
    library, rows, H = margin_problem(seed, n=14, scaling=scaling)
    sizes = np.sqrt(library.sample_weight @ H**2 / library.sample_weight.sum())
    problem, master = Problem(library, rows), LPMaster()
    search, run, taken = ScanOracle(per_step).start(problem), master.start(problem), []
    while True:
        prices = np.abs(H.T @ run.fit.weights) - 1.0
        expected = brute_force(prices, sizes, taken, per_step)
        proposal = search.propose(run)
        # equal but for ties within rounding
        steepness = prices / sizes
        got = proposal.ids.tolist()
        assert len(got) in (len(expected), len(expected) - 1, len(expected) + 1)
        shared = min(len(got), len(expected))
        np.testing.assert_allclose(steepness[got[:shared]], steepness[expected[:shared]], rtol=1e-7)
        assert proposal.n_priced == library.n_columns
        if not got:
            break
        taken.extend(got)
        run.extend(proposal)


def test_best_first_by_price_per_size():
    _, proposal = offered(prices=[1.0, 3.0, 2.0, 8.0], sizes=[1.0, 4.0, 1.0, 5.0], per_step=3)
    assert_array_equal(proposal.ids, [2, 3, 0])
    assert proposal.price == 8.0  # the best price, though not the first offered
    assert (proposal.bound, proposal.n_priced) == (-1.0, 4)


def test_ties_go_to_the_lower_number():
    _, proposal = offered(prices=[1.0, 2.0, 2.0, 2.0], sizes=np.ones(4))
    assert_array_equal(proposal.ids, [1, 2])


def test_only_positive_prices_and_live_columns():
    _, proposal = offered(prices=[-1.0, 0.0, 5.0, 1e-300], sizes=[1.0, 1.0, 0.0, 1.0], per_step=9)
    assert_array_equal(proposal.ids, [3])
    assert proposal.price == 1e-300


def test_no_positive_price():
    _, proposal = offered(prices=[-1.0, -2.0, 0.0], sizes=np.ones(3))
    assert len(proposal.ids) == len(proposal.hypotheses) == 0
    assert proposal.values.shape == (3, 0)
    assert proposal.price == 0.0


def test_taken_columns_are_not_proposed_again_until_the_limit():
    search, first = offered(prices=[4.0, 3.0, 2.0, 1.0, 0.5], sizes=np.ones(5), limit=3)
    second, third = (search.propose(Quoting([4.0, 3.0, 2.0, 1.0, 0.5])) for _ in range(2))
    assert_array_equal(first.ids, [0, 1])
    assert_array_equal(second.ids, [2])
    assert_array_equal(third.ids, [])
    assert [p.price for p in (first, second, third)] == [4.0, 2.0, 1.0]  # still priced


def test_restored_columns_are_proposed_again():
    prices = [3.0, 2.0, 1.0]
    search, first = offered(prices, sizes=np.ones(3))
    search.restore(first)
    again = search.propose(Quoting(prices))
    assert_array_equal(again.ids, first.ids)


def test_a_limit_of_columns_is_met_exactly():
    library, rows, _ = margin_problem(1, scaling=None)
    for limit in (1, 4, 7):
        found = grow(
            Problem(library, rows),
            ScanOracle(3, limit),
            LPMaster(),
            lambda trace, limit=limit: MaxColumns(limit)(trace) or PriceBelow(1e-9)(trace),
        )
        assert found.reason.rule == "max_columns"
        assert len(found.hypotheses) == limit


def test_a_column_given_twice_is_harmless():
    """Two equal centres give equal columns; either may be taken, the optimum is one."""
    X, y, weight = table(0)
    rows = hinge(y, weight, 1.0)
    plain, doubled = (
        grow(
            Problem(KernelLibrary([Gaussian(1.0)], X, centers=centers, sample_weight=weight), rows),
            ScanOracle(5),
            LPMaster(),
            PriceBelow(1e-9),
        )
        for centers in (X, np.vstack([X, X]))
    )
    assert doubled.fit.objective == pytest.approx(plain.fit.objective, rel=1e-7)
    assert doubled.gap <= 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_of_correlated_columns_one_is_proposed_per_step(seed):
    """Against picking one at a time by hand; what is left out comes in a later step."""
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(40, 5))[:, rng.integers(0, 5, 14)] + 0.1 * rng.normal(size=(40, 14))
    library, prices = Library(H), rng.uniform(1.0, 2.0, 14)
    search = ScanOracle(4, max_correlation=0.9).start(Problem(library, rows=None))
    rank, correlation = np.argsort(-prices / library.rms), np.abs(np.corrcoef(H.T))
    taken = set()
    for _ in range(3):
        expected = []
        waiting = [j for j in rank if j not in taken][:12]
        for j in waiting:
            if len(expected) < 4 and all(correlation[j, i] <= 0.9 for i in expected):
                expected.append(j)
        found = search.propose(Quoting(prices, 40)).ids.tolist()
        assert found == expected
        taken |= set(found)
    assert len(taken) > 5  # more than there are directions: neighbours came later


def test_comparing_columns_does_not_fill_the_cache():
    X = np.random.default_rng(0).normal(size=(50, 3))
    library = KernelLibrary([Gaussian(0.5)], X, scaling="floored", memory_budget=60_000)
    ids = np.arange(20)
    kept = library._source._cache.bytes_used
    assert kept > 0
    looked = library.values(ids, keep=False)
    assert library._source._cache.bytes_used == kept
    np.testing.assert_array_equal(library.values(ids), looked)
    assert library._source._cache.bytes_used < kept  # columns handed out make blocks give way


@pytest.mark.parametrize(("growth", "count"), [(0.0, 2), (0.5, 2), (1.0, 4)])
def test_steps_grow_with_the_columns_in_use(growth, count):
    search = ScanOracle(2, growth=growth).start(Problem(Library(np.ones((3, 9))), rows=None))
    run = Quoting(np.arange(1.0, 10.0))
    run.fit.coef = np.array([3.0, -1.0, 0.0, 1e-9, 2.0, -2.0])
    assert_array_equal(search.propose(run).ids, np.arange(8, 8 - count, -1))


class Counting:
    """A library that counts how often all its columns are priced."""

    def __init__(self, library):
        self._library, self.scans = library, 0

    def __getattr__(self, name):
        return getattr(self._library, name)

    def edges(self, weights, ids=None):
        self.scans += ids is None
        return self._library.edges(weights, ids)


@pytest.mark.parametrize("first", [(), (3, 8, 60)])
def test_between_scans_only_columns_near_the_best_are_priced(monkeypatch, first):
    monkeypatch.setattr("kboost.oracles.scan.MANY", 0)
    X, y, weight = table(0, 120)
    rows = hinge(y, weight, 2.0)
    library = Counting(KernelLibrary([Gaussian(0.5), Gaussian(2.0)], X, scaling="floored"))
    problem = Problem(library, rows)
    scan = grow(problem, ScanOracle(3, first=first), LPMaster(), PriceBelow(1e-9))
    scans, library.scans = library.scans, 0
    part = grow(problem, ScanOracle(3, first=first, near=0.2), LPMaster(), PriceBelow(1e-9))
    assert part.fit.objective == pytest.approx(scan.fit.objective, rel=1e-9)
    assert part.gap <= 1e-8
    complete = [step.complete for step in part.trace]
    assert complete[-1]
    assert library.scans == sum(complete) < scans
    assert {step.n_priced for step in part.trace} - {library.n_columns} <= {
        int(0.2 * library.n_columns),
        len(first),
    }
    assert all(step.bound is None for step in part.trace[:1] if not step.complete)
    best = [j for j, step in enumerate(complete) if step]
    assert max(np.diff(best), default=0) <= 4  # three steps between two scans


def test_a_search_near_the_best_columns_goes_on_from_its_position(monkeypatch):
    monkeypatch.setattr("kboost.oracles.scan.MANY", 0)
    monkeypatch.setattr("kboost.oracles.scan._FAIR", 0.0)
    X, y, weight = table(0, 60)
    library, rows = KernelLibrary([Gaussian(0.5)], X, scaling="floored"), hinge(y, weight, 2.0)
    problem, oracle = Problem(library, rows), ScanOracle(2, near=0.3)
    run, search = LPMaster().start(problem), oracle.start(problem)
    run.extend(search.propose(run))
    other = oracle.start(problem)
    other.proposed(np.flatnonzero(~search._candidates.available))
    assert search.position() is not None
    other.resume(search.position())
    found, again = search.propose(run), other.propose(run)
    assert not found.complete
    assert_array_equal(found.ids, again.ids)
    assert search.position()["steps"] == other.position()["steps"] == 1
    other.restore(again)
    assert other.position() is None  # prices of other costs say nothing
