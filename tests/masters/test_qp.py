"""The 2-norm master grown to the end, against other solvers; its certificate, its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem, Proposal
from kboost.core.stopping import OUT_OF_TIME, GapBelow, MaxIterations, PriceBelow
from kboost.exceptions import OutOfTimeError, SolverError
from kboost.formulations import MarginRows, hinge, nu_margin, nu_tube, tube
from kboost.kernels import Gaussian, Polynomial
from kboost.kernels.adapters import Precomputed
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle
from kboost.solvers.margin_qp import MarginQP
from tests.contracts.reference import margin_problem, margin_qp, table

VARIANTS = pytest.mark.parametrize(
    ("nonnegative", "intercept"),
    [(sign, offset) for sign in (False, True) for offset in ("free", "penalized", "none")],
)


def problem(seed, kind="hinge", scaling="floored"):
    """A library, rows of a kind on it, and all its columns."""
    library, rows, H = margin_problem(seed, scaling=scaling, noisy_targets=kind == "targets")
    real = np.random.default_rng(seed).normal(size=len(H)) + library.centers[:, 0]
    weight = library.sample_weight
    made = {
        "hinge": rows,
        "targets": rows,
        "tube": tube(real, weight, 1.5, 0.1),
        "nu tube": nu_tube(real, weight, 1.5, 0.4),
        "nu margin": nu_margin(rows.signs, weight, 0.3),
    }
    return library, made[kind], H


TIGHT = GapBelow(1e-9)


def grown(library, rows, master, per_step, stop=TIGHT):
    return grow(Problem(library, rows), ScanOracle(per_step), master, stop)


def proposal(library, ids):
    return Proposal(ids, library.hypotheses(ids), library.values(ids), 1.0, None, library.n_columns)


@VARIANTS
@pytest.mark.parametrize("kind", ["hinge", "targets", "tube", "nu tube", "nu margin"])
def test_grown_to_the_optimum_with_valid_bounds_on_the_way(nonnegative, intercept, kind):
    seed = int(nonnegative != (intercept == "penalized"))  # each with each scaling
    library, rows, H = problem(seed, kind, scaling="floored" if seed else None)
    optimum = margin_qp(H, rows, nonnegative, intercept).objective
    if kind == "nu margin" and optimum > -1e-9:  # rho = 0
        with pytest.raises(ValueError, match="cannot be separated at this nu"):
            grown(library, rows, QPMaster(nonnegative, intercept), 9)
        return
    found = grown(library, rows, QPMaster(nonnegative, intercept), 9)
    assert_allclose(found.fit.objective, optimum, rtol=1e-7, atol=1e-9)
    bounds, objectives = found.trace.values("bound"), found.trace.values("objective")
    slack = 1e-9 * max(1.0, abs(optimum))
    assert (bounds <= optimum + slack).all()
    assert (objectives >= optimum - slack).all()
    assert (np.diff(objectives) <= slack).all()
    assert found.reason.rule in ("gap", "exhausted")
    assert_allclose(bounds[-1], optimum, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kind", ["hinge", "tube"])
def test_the_gap_is_half_the_squared_edges_outside(seed, nonnegative, kind):
    """CG-Boost, Prop. 4.1: at an exactly solved step, when no duals need scaling (t = 1)."""
    library, rows, _ = problem(seed, kind)
    rows = rows.with_scaled_costs(0.01)  # so low a price of errors that some are made
    run = QPMaster(nonnegative).start(Problem(library, rows))
    order = np.random.default_rng(seed).permutation(library.n_columns)
    seen = 0
    for count in (60, 80, 100):
        run.extend(proposal(library, order[len(run.fit.coef) : count]))
        edges = library.edges(run.fit.weights)
        counted = np.maximum(edges, 0.0) if nonnegative else edges
        if rows.targets @ run.duals < counted @ counted:
            continue  # t < 1
        seen += 1
        expected = 0.5 * np.sum(counted[order[count:]] ** 2)
        gap = run.fit.objective - run.bound(edges)
        assert_allclose(gap, expected, rtol=1e-6, atol=1e-8 * run.fit.objective)
        assert_allclose(run.fit.coef, counted[order[:count]], atol=1e-6 * np.abs(edges).max())
    assert seen > 0


@VARIANTS
def test_the_price_is_the_rule_of_the_paper(nonnegative, intercept):
    library, rows, _ = problem(0)
    run = QPMaster(nonnegative, intercept).start(Problem(library, rows))
    run.extend(proposal(library, np.arange(20)))
    edges = library.edges(run.fit.weights)
    for tol in (1e-4, 1e-2):
        violated = 0.5 * edges**2 > tol * run.fit.objective
        if nonnegative:
            violated &= edges > 0
        assert_array_equal(run.price(edges) > tol, violated)


def test_stopped_by_price_no_column_outside_is_violated():
    library, rows, _ = problem(1)
    found = grown(library, rows, QPMaster(), 4, PriceBelow(1e-3))
    assert found.reason.rule == "tol"
    assert 0 < len(found.hypotheses) < library.n_columns
    edges = np.sort(np.abs(library.edges(found.fit.weights)))[: -len(found.hypotheses)]
    assert 0.5 * edges[-1] ** 2 <= 1e-3 * found.fit.objective * (1 + 1e-9)


class TestAgainstLibsvm:
    """The full problem with free coefficients is an SVM on `H H'` (MATH.md)."""

    def test_hinge(self):
        library, rows, H = problem(2)
        y, w = rows.signs, library.sample_weight
        found = grown(library, hinge(y, w, 1.5), QPMaster(), 20)
        svc = SVC(C=1.5, kernel="precomputed", tol=1e-10).fit(H @ H.T, y, sample_weight=w)
        assert_allclose(found.fit.decision, svc.decision_function(H @ H.T), atol=1e-5)

    def test_tube(self):
        library, _, H = problem(2)
        real = library.centers[:, 0] ** 2
        found = grown(library, tube(real, np.ones(24), 0.5, 0.1), QPMaster(), 20)
        svr = SVR(C=0.5, epsilon=0.1, kernel="precomputed", tol=1e-10).fit(H @ H.T, real)
        assert_allclose(found.fit.decision, svr.predict(H @ H.T), atol=1e-5)

    def test_nu_tube(self):
        library, _, H = problem(2)
        real = library.centers[:, 0] ** 2 + np.random.default_rng(0).normal(size=24)
        found = grown(library, nu_tube(real, np.ones(24), 0.05, 0.4), QPMaster(), 20)
        svr = NuSVR(C=0.05, nu=0.4, kernel="precomputed", tol=1e-10).fit(H @ H.T, real)
        assert found.fit.margin_width > 0
        assert_allclose(found.fit.decision, svr.predict(H @ H.T), atol=1e-5)

    def test_nu_margin(self):
        library, rows, H = problem(2)
        found = grown(library, nu_margin(rows.signs, np.ones(24), 0.3), QPMaster(), 20)
        svc = NuSVC(nu=0.3, kernel="precomputed", tol=1e-10).fit(H @ H.T, rows.signs)
        assert_allclose(found.fit.decision, svc.decision_function(H @ H.T), rtol=1e-4, atol=1e-4)


@VARIANTS
@pytest.mark.parametrize("kind", ["hinge", "tube", "nu tube", "nu margin"])
def test_duals_are_exactly_feasible_at_every_step(nonnegative, intercept, kind):
    library, rows, _ = problem(3, kind)
    run = QPMaster(nonnegative, intercept).start(Problem(library, rows))
    for block in np.array_split(np.random.default_rng(0).permutation(library.n_columns), 6):
        run.extend(proposal(library, block))
        duals = run.duals
        assert (duals >= 0).all()
        assert (duals <= rows.slack_costs).all()
        if intercept == "free":
            assert abs(rows.signs @ duals) <= 1e-14 * duals.sum()
        if rows.margin_width is not None:
            assert rows.margin_width.sign * duals.sum() <= rows.margin_width.cost + 1e-14
        assert_allclose(run.fit.weights, rows.weights(duals))


@VARIANTS
def test_a_path_of_slack_costs_meets_each_optimum(nonnegative, intercept):
    library, rows, H = problem(1)
    run = QPMaster(nonnegative, intercept).start(Problem(library, rows))
    run.extend(proposal(library, np.arange(library.n_columns)))
    for factor in (0.01, 0.3, 5.0):
        run.scale_slack_costs(factor)
        optimum = margin_qp(H, rows.with_scaled_costs(factor), nonnegative, intercept).objective
        assert_allclose(run.fit.objective, optimum, rtol=1e-8)
        bound = run.bound(library.edges(run.fit.weights))
        assert_allclose(bound, optimum, rtol=1e-7)
        assert bound <= optimum * (1 + 1e-9)


def test_the_first_factor_is_where_the_bound_stops_being_linear():
    """Below it all duals stay at their caps as far as the bound can see."""
    library, rows, _ = problem(0)
    run = QPMaster().start(Problem(library, rows))
    edges = library.edges(run.fit.weights)
    factor = run.first_factor(edges)
    gain, square = rows.targets @ run.duals, edges @ edges
    assert 0 < factor < 1
    assert_allclose(factor * gain, factor**2 * square)
    assert_allclose(run.bound(edges), 0.5 * gain * factor)


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_swapping_the_classes_swaps_the_sign(intercept, seed):
    library, rows, _ = problem(seed, "targets")
    swapped = MarginRows(-rows.signs, rows.targets, rows.slack_costs)
    one = grown(library, rows, QPMaster(intercept=intercept), 10)
    other = grown(library, swapped, QPMaster(intercept=intercept), 10)
    assert_allclose(one.fit.objective, other.fit.objective, rtol=1e-8)
    assert_allclose(one.fit.decision, -other.fit.decision, atol=1e-5)


def test_free_and_nonnegative_agree_where_the_optimum_is_nonnegative():
    library, rows, _ = problem(0)
    free = grown(library, rows, QPMaster(), 20)
    flipped = np.sign(free.fit.coef)
    values = np.hstack([h.family.columns([h], library.centers) for h in free.hypotheses]) * flipped
    both = []
    for nonnegative in (False, True):
        run = QPMaster(nonnegative).start(Problem(library, rows))
        run.extend(Proposal(np.arange(len(flipped)), free.hypotheses, values, 1.0, None, 0))
        both.append(run.fit)
    assert_allclose(both[0].objective, both[1].objective, rtol=1e-8)
    assert_allclose(both[0].coef, both[1].coef, atol=1e-6 * np.abs(both[0].coef).max())


def test_rows_of_one_sign_need_a_bias_only():
    library, _, _ = problem(0)
    found = grown(library, hinge(np.ones(24), np.ones(24), C=1.0), QPMaster(), 3)
    assert found.fit.objective == pytest.approx(0.0, abs=1e-9)
    assert_allclose(found.fit.decision, np.ones(24), atol=1e-6)


def test_out_of_time_keeps_the_last_fit():
    library, rows, _ = problem(0)
    late = Problem(library, rows, Deadline.after(0.0))
    run = QPMaster().start(late)
    before = run.fit
    with pytest.raises(OutOfTimeError):
        run.extend(proposal(library, np.arange(40)))
    assert run.fit is before
    found = grow(late, ScanOracle(40), QPMaster(), MaxIterations(3))
    assert found.reason.rule == OUT_OF_TIME.rule
    assert found.hypotheses == []
    assert_array_equal(found.fit.weights, before.weights)


def enlarged(size, scaling=None):
    """A library of Gaussian columns times a size, and rows that they can separate."""
    X, y, weight = table(0)
    K = size * Gaussian(1.0)(X)
    library = KernelLibrary(
        [Precomputed(0, 24)], K, centers=np.arange(24)[:, None], scaling=scaling
    )
    return library, hinge(y, weight, 1.0)


@pytest.mark.parametrize("size", [1e4, 1e9, 1e17, 1e150])
def test_columns_of_any_size_are_solved_for(size):
    """Where no error is made, columns times a size are coefficients over it."""
    plain, found = (grown(*enlarged(s), QPMaster(), 4) for s in (1e3, size))
    assert found.gap <= 1e-9
    assert_allclose(found.fit.decision, plain.fit.decision, atol=1e-4)
    half = [one.fit.objective * s * s for one, s in ((plain, 1e3), (found, size))]
    assert_allclose(half[1], half[0], rtol=1e-8)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("size", [1e155, 1e300])
def test_columns_too_large_for_the_solver_raise(size):
    with pytest.raises(SolverError, match="scale the features or the columns"):
        grown(*enlarged(size), QPMaster(), 4)


@pytest.mark.parametrize("size", [1e17, 1e150])
def test_unit_columns_may_have_been_of_any_size(size):
    assert grown(*enlarged(size, scaling="floored"), QPMaster(), 4).gap <= 1e-8


def loosened(monkeypatch, after, spoil):
    """Let the solver fail from so many columns on; `spoil` changes what it then finds."""
    solve = MarginQP.solve

    def short(self, seconds=np.inf, tol=1e-10):
        found = solve(self, seconds, tol)
        if self.columns.shape[1] < after:
            return found
        return replace(spoil(found), gap=3e-4, precise=False)

    monkeypatch.setattr(MarginQP, "solve", short)


def ruined(found):
    return replace(found, coef=found.coef + 1e3, duals=0.0 * found.duals)


@pytest.mark.parametrize("spoil", [lambda found: found, ruined])
def test_an_imprecise_solution_ends_the_fit_with_the_best_model_and_its_gap(monkeypatch, spoil):
    library, rows, H = problem(1)
    optimum = margin_qp(H, rows).objective
    loosened(monkeypatch, after=12, spoil=spoil)
    found = grown(library, rows, QPMaster(), 4)
    assert found.reason.rule == "precision"
    assert "column_scaling='floored'" in str(found.reason)
    assert "3.0e-04" in str(found.reason)
    assert len(found.hypotheses) == 12
    objectives, bound = found.trace.values("objective"), found.trace[-1].bound
    assert len(objectives) == 4
    assert objectives[3] <= objectives[2]
    assert found.fit.objective == objectives[3]
    assert bound <= optimum * (1 + 1e-9) <= found.fit.objective
    assert_allclose(found.gap, (found.fit.objective - bound) / found.fit.objective)


def test_an_imprecise_first_step_without_improvement_raises(monkeypatch):
    library, rows, _ = problem(1)
    loosened(monkeypatch, after=4, spoil=ruined)
    with pytest.raises(SolverError, match=r"relative gap of 3\.0e-04 only; scale"):
        grown(library, rows, QPMaster(), 4)


@pytest.mark.parametrize("C", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_large_unscaled_columns(C, nonnegative):
    """Prices of errors that mean almost none are to be made."""
    X, y, weight = table(1)
    library = KernelLibrary([Polynomial(2, gamma=30.0), Gaussian(1.0)], X)
    H = library.values(np.arange(48))
    assert np.abs(H).max() > 1e4
    rows = hinge(y, weight, C)
    found = grown(library, rows, QPMaster(nonnegative), 12)
    optimum = margin_qp(H, rows, nonnegative).objective
    assert_allclose(found.fit.objective, optimum, rtol=1e-5)
    assert found.gap <= 1e-5
