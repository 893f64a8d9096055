"""The battery every oracle passes; what is special to one is in tests/oracles.

An oracle sees the library and the master's run, nothing else. A new oracle adds its cases.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost.columns.inner_products import InnerProducts
from kboost.columns.library import KernelLibrary
from kboost.core.protocols import Problem
from kboost.formulations import SquaredRows, hinge
from kboost.kernels import Gaussian, Linear
from kboost.masters.least_squares import LeastSquaresMaster
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from tests.contracts.reference import MIXED, table

ORACLES = {
    f"{name} {per_step} of {limit}": oracle(per_step, limit)
    for name, oracle in {"scan": ScanOracle, "stratified": StratifiedOracle}.items()
    for per_step in (1, 4, 1000)
    for limit in (None, 1, 10)
}
MASTERS = {
    "lp": LPMaster(),
    "lp nonnegative": LPMaster(nonnegative=True, intercept="none"),
    "least squares": LeastSquaresMaster(0.5),
}
EACH = pytest.mark.parametrize("oracle", ORACLES.values(), ids=ORACLES.keys())
WITH = pytest.mark.parametrize("master", MASTERS.values(), ids=MASTERS.keys())
SCALINGS = pytest.mark.parametrize("scaling", [None, "unit"])


def make(master, seed=0, scaling="unit", kernels=MIXED, n=20):
    X, y, weight = table(seed, n)
    X[:2] = 0.0  # linear columns at the origin are dead
    library = KernelLibrary(kernels, X, sample_weight=weight, scaling=scaling)
    if isinstance(master, LPMaster):
        return Problem(library, hinge(y, weight, 2.0))
    return Problem(library, SquaredRows(y, weight), inner_products=InnerProducts(library))


def rounds(oracle, master, limit=60, **options):
    """Propose and extend: (problem, run, prices of all columns, proposal, ids taken before)."""
    problem = make(master, **options)
    search, run = oracle.start(problem), master.start(problem)
    taken = np.zeros(0, dtype=int)
    for _ in range(limit):
        prices = run.price(problem.columns.edges(run.fit.weights))
        proposal = search.propose(run)
        yield problem, run, prices, proposal, taken
        if len(proposal.ids) == 0:
            return
        taken = np.concatenate([taken, proposal.ids])
        run.extend(proposal)


@EACH
@WITH
@SCALINGS
def test_offers_are_new_worthwhile_and_within_limits(oracle, master, scaling):
    for problem, _, prices, proposal, taken in rounds(oracle, master, scaling=scaling):
        ids = proposal.ids
        assert len(set(ids.tolist())) == len(ids)
        assert not set(ids.tolist()) & set(taken.tolist())
        assert (prices[ids] > 0).all()
        assert (problem.columns.rms[ids] > 0).all()
        assert len(ids) <= oracle.columns_per_step
        if oracle.max_columns is not None:
            assert len(taken) + len(ids) <= oracle.max_columns


@EACH
@WITH
def test_a_proposal_is_what_the_library_says(oracle, master):
    for problem, _, _, proposal, _ in rounds(oracle, master, limit=5):
        library = problem.columns
        assert_allclose(proposal.values, library.values(proposal.ids))
        assert list(proposal.hypotheses) == list(library.hypotheses(proposal.ids))
        assert proposal.values.shape == (20, len(proposal.ids))
        assert 0 < proposal.n_priced <= library.n_columns
        assert proposal.complete == (proposal.n_priced == library.n_columns)


@EACH
@WITH
def test_only_who_has_seen_everything_has_a_bound(oracle, master):
    problem = make(master)
    search, run = oracle.start(problem), master.start(problem)
    for _ in range(5):
        proposal = search.propose(run)
        bound = run.bound(problem.columns.edges(run.fit.weights))
        assert search.bound(run) == bound
        if proposal.complete:
            assert proposal.bound == pytest.approx(bound, rel=1e-9, abs=1e-12)
        else:
            assert proposal.bound is None
        run.extend(proposal)


@EACH
@WITH
def test_the_price_at_error_points(oracle, master):
    for problem, run, prices, proposal, taken in rounds(oracle, master, limit=8):
        if run.fit.errors is None:
            assert proposal.error_price is None
            continue
        left = prices.copy()
        left[taken] = 0.0
        left[problem.columns.rms == 0] = 0.0
        best = max(0.0, left[problem.columns.centered_at(run.fit.errors)].max(initial=0.0))
        assert 0.0 <= proposal.error_price <= best * (1 + 1e-9)
        if proposal.complete:
            assert proposal.error_price == pytest.approx(best, rel=1e-9, abs=1e-12)


@EACH
@WITH
@SCALINGS
def test_the_price_is_the_best_of_the_columns_seen_and_not_taken(oracle, master, scaling):
    for problem, _, prices, proposal, taken in rounds(oracle, master, scaling=scaling):
        left = prices.copy()
        left[taken] = 0.0
        left[problem.columns.rms == 0] = 0.0
        best = max(0.0, left.max())
        if proposal.complete:
            assert proposal.price == pytest.approx(best, rel=1e-9, abs=1e-12)
        else:
            offered = left[proposal.ids].max(initial=0.0)
            assert offered * (1 - 1e-9) <= proposal.price <= best * (1 + 1e-9)


@WITH
@pytest.mark.parametrize("per_step", [1, 4])
@pytest.mark.parametrize("kind", [ScanOracle, StratifiedOracle])
def test_the_end_is_an_empty_proposal_of_price_zero(kind, master, per_step):
    *_, (problem, _, prices, proposal, taken) = rounds(kind(per_step), master, limit=500)
    assert len(proposal.ids) == 0
    assert list(proposal.hypotheses) == []
    assert proposal.values.shape == (20, 0)
    assert proposal.price == 0.0
    assert proposal.complete
    open_columns = np.setdiff1d(np.flatnonzero(problem.columns.rms > 0), taken)
    assert (prices[open_columns] <= 1e-12).all()


@EACH
def test_searches_do_not_share_state(oracle):
    master = LPMaster()
    problem = make(master)
    run = master.start(problem)
    first, second = oracle.start(problem), oracle.start(problem)
    one, other = first.propose(run), second.propose(run)
    assert_allclose(one.ids, other.ids)
    assert len(one.ids) > 0


@EACH
@WITH
def test_dead_columns_are_never_offered(oracle, master):
    dead = [0, 1]
    for problem, _, _, proposal, _ in rounds(oracle, master, kernels=(Linear(), Gaussian(1.0))):
        assert (problem.columns.rms[dead] == 0).all()
        assert not np.isin(proposal.ids, dead).any()
