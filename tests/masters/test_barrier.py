"""The barrier master against the full LP."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import AnyOf, GapBelow, MaxIterations, PriceBelow
from kboost.formulations import hinge, nu_tube, tube
from kboost.masters._smoothed_lp import SmoothedLP
from kboost.masters.barrier import BarrierMaster
from kboost.masters.margin import MarginPenalty
from kboost.oracles.scan import ScanOracle
from tests.contracts.reference import MIXED, table

KINDS = {
    "hinge": lambda y, w: hinge(np.sign(y - np.median(y) + 1e-9), w, 0.5),
    "tube": lambda y, w: tube(y, w, 0.5, 0.1),
    "nu tube": lambda y, w: nu_tube(y, w, 0.5, 0.3),
}
EACH = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
PENALTIES = pytest.mark.parametrize(
    "penalty",
    [
        MarginPenalty(),
        MarginPenalty(intercept="penalized"),
        MarginPenalty(intercept="none"),
        MarginPenalty(nonnegative=True),
    ],
    ids=str,
)


def make(kind, seed=0, n=20, scale=1.0, scaling="floored"):
    X, _, weight = table(seed, n)
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.2 * np.random.default_rng(seed).normal(size=n)
    library = KernelLibrary(MIXED, X, sample_weight=weight, scaling=scaling)
    return Problem(library, kind(scale * y, weight))


def full_lp(problem, penalty):
    """The optimum over the whole library: coef+, coef-, bias+, bias-, level, slacks >= 0."""
    rows, library = problem.rows, problem.columns
    H = library.values(np.arange(library.n_columns))
    k, r = H.shape[1], len(rows.signs)
    G = rows.signs[:, None] * H[np.arange(r) if rows.sample is None else rows.sample]
    ones = rows.signs[:, None]
    margin_width = np.zeros(r) if rows.margin_width is None else np.full(r, rows.margin_width.sign)
    A = np.hstack([G, -G, ones, -ones, margin_width[:, None], np.eye(r)])
    b = {"free": 0.0, "penalized": 1.0, "none": 1e9}[penalty.intercept]
    price = 0.0 if rows.margin_width is None else rows.margin_width.cost
    cost = np.concatenate([np.ones(2 * k), [b, b, price], rows.slack_costs])
    if penalty.nonnegative:
        cost[k : 2 * k] = 1e9
    found = linprog(cost, A_ub=-A, b_ub=-rows.targets, method="highs")
    assert found.status == 0
    return found.fun


def run_to(problem, master, tol, per_step=10):
    stop = AnyOf((PriceBelow(tol), GapBelow(tol), MaxIterations(400)))
    return grow(problem, ScanOracle(per_step), master, stop)


@EACH
@PENALTIES
def test_derivatives(kind, penalty):
    problem = make(kind)
    rng = np.random.default_rng(1)
    columns = problem.columns.values(rng.permutation(problem.columns.n_columns)[:6])
    g = SmoothedLP(columns, problem.rows, penalty, barrier=0.2, mu=0.05)
    coef = rng.normal(size=6)
    x = g.join(0.3, 0.4, np.abs(coef) if penalty.nonnegative else coef)
    everything, h = np.arange(len(x)), 1e-6
    slopes = [(g.value(x + h * e) - g.value(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    assert_allclose(g.gradient(x), slopes, rtol=1e-5, atol=1e-7)
    bends = [(g.gradient(x + h * e) - g.gradient(x - h * e)) / (2 * h) for e in np.eye(len(x))]
    whole = g.block(g.curvature(x), everything, everything)
    assert_allclose(whole, bends, rtol=1e-5, atol=1e-6)
    some, others = everything[::2], everything[1::2]
    assert_allclose(g.block(g.curvature(x), some, others), whole[np.ix_(some, others)])


@EACH
def test_variables_added_later_start_at_zero(kind):
    problem = make(kind)
    columns = problem.columns.values(np.arange(8))
    few = SmoothedLP(columns[:, :5], problem.rows, MarginPenalty(), 0.2, 0.05)
    many = SmoothedLP(columns, problem.rows, MarginPenalty(), 0.2, 0.05)
    coef = np.random.default_rng(0).normal(size=5)
    old = few.curvature(few.join(0.3, 0.4, coef))
    new = many.curvature(many.join(0.3, 0.4, np.append(coef, np.zeros(3))))
    everything = np.arange(len(many.join(0.0, 0.0, np.zeros(8))))
    assert_allclose(
        many.block(old, everything, everything), many.block(new, everything, everything)
    )


def test_the_softplus_lies_within_its_bound_above_the_slack():
    problem = make(KINDS["nu tube"])
    rows, rng = problem.rows, np.random.default_rng(0)
    for barrier in (1.0, 0.1, 0.001):
        g = SmoothedLP(np.zeros((20, 0)), rows, MarginPenalty(intercept="none"), barrier, 1e-300)
        x = g.join(0.0, float(rng.uniform(0.01, 1)), np.zeros(0))
        exact = rows.slack_costs @ rows.slack(np.zeros(20), x[0]) + rows.margin_width.cost * x[0]
        above = g.value(x) - exact
        assert -1e-9 <= above <= np.log(2) * barrier * rows.slack_costs.sum() + 1e-9


@EACH
@PENALTIES
def test_it_converges_to_the_full_lp(kind, penalty):
    problem = make(kind)
    optimum = full_lp(problem, penalty)
    gaps = []
    for tol in (1e-2, 1e-6):
        master = BarrierMaster(penalty.nonnegative, penalty.intercept, tol=tol)
        grown = run_to(problem, master, tol)
        assert grown.reason.rule in ("gap", "tol")
        inside = grown.trace[-1]  # before the vertex was looked for
        assert optimum * (1 - 1e-9) <= inside.objective <= optimum * (1 + 2 * tol)
        assert inside.bound <= optimum * (1 + 1e-9)
        gaps.append(inside.objective / optimum - 1)
        assert grown.fit.objective <= inside.objective * (1 + 1e-9)
        assert np.count_nonzero(grown.fit.coef) <= problem.columns.n_rows  # Corollary 4
    assert gaps[-1] <= 2e-6


@EACH
def test_one_sided_coefficients_converge_where_errors_cost_much(kind):
    problem = make(kind, n=40)
    problem = replace(problem, rows=problem.rows.with_scaled_costs(2000.0))
    grown = run_to(problem, BarrierMaster(nonnegative=True, tol=1e-4), 1e-4)
    assert grown.reason.rule in ("gap", "tol")
    assert_allclose(grown.fit.objective, full_lp(problem, MarginPenalty(True)), rtol=1e-3)


def test_a_solve_without_progress_does_not_block_the_barrier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=40)
    problem = Problem(KernelLibrary(MIXED, X), tube(y, np.ones(40), 1e6, 0.1))
    grown = run_to(problem, BarrierMaster(), 1e-4)
    assert grown.reason.rule in ("gap", "tol")
    assert_allclose(grown.fit.objective, full_lp(problem, MarginPenalty()), rtol=1e-3)


def test_a_negligible_price_is_certified():
    problem = make(KINDS["nu tube"])
    problem = replace(problem, rows=problem.rows.with_scaled_costs(1e-5))
    grown = run_to(problem, BarrierMaster(tol=1e-6), 1e-6)
    assert grown.gap <= 1e-5


def test_basic_fits_have_no_more_columns_than_rows_at_any_step():
    problem = make(KINDS["tube"], n=15)
    problem = replace(problem, rows=problem.rows.with_scaled_costs(20.0))
    counts = {}
    for basic in (False, True):
        search = ScanOracle(60).start(problem)
        run = BarrierMaster(basic=basic).start(problem)
        counts[basic] = []
        for _ in range(12):
            run.extend(search.propose(run))
            counts[basic].append(np.count_nonzero(run.fit.coef))
    assert max(counts[False]) > 15 >= max(counts[True])


@EACH
def test_the_objective_never_rises_and_bounds_stay_below_the_optimum(kind):
    problem = make(kind, seed=3)
    optimum = full_lp(problem, MarginPenalty())
    grown = run_to(problem, BarrierMaster(), 1e-5, per_step=3)
    assert (np.diff(grown.trace.values("objective")) <= 1e-12).all()
    assert (grown.trace.values("bound") <= optimum * (1 + 1e-9)).all()


@EACH
def test_every_fit_matches_its_coefficients(kind):
    # steps on the way are judged on rows held out, and kept where a limit ends the fit
    problem = make(kind, seed=4)
    search, run = ScanOracle(4).start(problem), BarrierMaster().start(problem)
    for _ in range(25):
        run.extend(search.propose(run))
        fit = run.fit
        again = run.make_fit(fit.coef, fit.bias, run.duals, fit.margin_width)
        assert_allclose(again.decision, fit.decision, atol=1e-9)
        assert_allclose(again.objective, fit.objective, rtol=1e-9)


def test_the_barrier_falls_only_by_the_rule():
    problem = make(KINDS["nu tube"])
    search, run = ScanOracle(3).start(problem), BarrierMaster(beta_factor=0.5).start(problem)
    falls = stays = 0
    for _ in range(50):
        proposal, before, share, left = (
            search.propose(run),
            run.barrier,
            run._beta,
            run._gradient_size,
        )
        run.extend(proposal)
        if max(proposal.price, left) <= share:
            assert_allclose(run.barrier, 0.5 * before)
            falls += 1
        else:
            assert run.barrier == before
            stays += 1
    assert falls > 5
    assert stays > 3


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_targets_does_not_matter(scale):
    kind = KINDS["nu tube"]
    one = run_to(make(kind), BarrierMaster(), 1e-5)
    other = run_to(make(kind, scale=scale), BarrierMaster(), 1e-5)
    assert len(one.trace) == len(other.trace)
    assert_allclose(other.trace.values("objective"), scale * one.trace.values("objective"))


def test_constant_targets():
    rows = tube(np.zeros(10), np.ones(10), 1.0, 0.1)
    library = KernelLibrary(MIXED, np.random.default_rng(0).normal(size=(10, 3)))
    grown = run_to(Problem(library, rows), BarrierMaster(), 1e-4)
    assert grown.fit.objective == pytest.approx(0.0, abs=1e-12)
    assert np.count_nonzero(grown.fit.coef) == 0
