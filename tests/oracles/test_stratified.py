"""Stratified pricing against Algorithm 5.1 written out, step by step."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import (
    OUT_OF_TIME,
    AnyOf,
    ErrorPriceBelow,
    MaxColumns,
    MaxIterations,
    PriceBelow,
)
from kboost.core.trace import relative_gap
from kboost.core.validation import ValidationMonitor
from kboost.exceptions import OutOfTimeError
from kboost.formulations import hinge, nu_tube, tube
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.masters.lp import LPMaster, LPRun
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from tests.contracts.reference import MIXED, margin_lp, table

LQR = (Linear(), Polynomial(2, gamma=0.5), Gaussian(0.7))
SEEDS = pytest.mark.parametrize("seed", range(4))
SCALINGS = pytest.mark.parametrize("scaling", [None, "floored"])


def setup(seed, scaling="floored", kernels=LQR, n=18, C=0.7):
    """Rows of which some share their x, the distinct x as centres, and all columns."""
    X, y, weight = table(seed, n)
    own = np.concatenate([np.arange(n), [3, 5, 5]])
    y, weight = np.concatenate([y, -y[[3, 5]], y[[5]]]), np.concatenate([weight, weight[:3]])
    library = KernelLibrary(
        kernels, X[own], centers=X, center_of_row=own, sample_weight=weight, scaling=scaling
    )
    return library, hinge(y, weight, C), own, library.values(np.arange(library.n_columns))


def algorithm_5_1(H, n_centers, own, rows, fit, taken, *, tol=0.0, errors_only=False):
    """Steps 5 to 8 for one column: (the column or None, the columns priced)."""
    price, looked = np.abs(H.T @ fit.weights) - 1.0, set()
    slack = np.maximum(0.0, rows.targets - rows.signs * fit.decision)
    error_points = {int(own[i]) for i in range(len(own)) if slack[i] > 1e-5}
    passes = [error_points] if errors_only else [error_points, set(range(n_centers))]
    for centers in passes:
        for p in range(H.shape[1] // n_centers):
            found, best = None, tol
            for c in sorted(centers):
                j = p * n_centers + c
                looked.add(j)
                if j not in taken and price[j] > best:
                    found, best = j, price[j]
            if found is not None:
                return found, looked
    return None, looked


def run_with(library, rows, oracle, stop=None, master=None, watch=None):
    stop = stop or PriceBelow(oracle.tol if isinstance(oracle, StratifiedOracle) else 1e-9)
    return grow(Problem(library, rows), oracle, master or LPMaster(), stop, watch)


class TestAlgorithm:
    @SEEDS
    @SCALINGS
    @pytest.mark.parametrize("errors_only", [False, True])
    def test_every_step_is_the_algorithms(self, seed, scaling, errors_only):
        library, rows, own, H = setup(seed, scaling)
        problem, tol = Problem(library, rows), 1e-7
        search = StratifiedOracle(1, tol=tol, errors_only=errors_only).start(problem)
        run, taken, counts = LPMaster().start(problem), [], []
        while True:
            expected, looked = algorithm_5_1(
                H, 18, own, rows, run.fit, taken, tol=tol, errors_only=errors_only
            )
            proposal = search.propose(run)
            assert proposal.n_priced == len(looked)
            assert proposal.complete == (len(looked) == library.n_columns)
            if expected is None:
                break
            assert proposal.ids.tolist() == [expected]
            counts.append(proposal.n_priced)
            taken.append(expected)
            run.extend(proposal)
        assert len(proposal.ids) == 0
        assert proposal.error_price <= tol
        assert min(counts) < library.n_columns / 3

    @SEEDS
    @pytest.mark.parametrize("per_step", [3, 100])
    def test_several_columns_come_from_one_kernel_best_first(self, seed, per_step):
        library, rows, own, H = setup(seed, None)
        problem, tol = Problem(library, rows), 1e-7
        search = StratifiedOracle(per_step, tol=tol).start(problem)
        run, taken = LPMaster().start(problem), []
        while True:
            expected, looked = algorithm_5_1(H, 18, own, rows, run.fit, taken, tol=tol)
            proposal = search.propose(run)
            assert proposal.n_priced == len(looked)
            if expected is None:
                break
            ids, prices = proposal.ids, np.abs(H.T @ run.fit.weights) - 1.0
            assert ids[0] == expected
            assert len(set((ids // 18).tolist())) == 1
            assert (np.diff(prices[ids]) <= 1e-9).all()
            same = [j for j in looked if j // 18 == expected // 18 and j not in taken]
            violated = [j for j in same if prices[j] > tol]
            assert len(ids) == min(per_step, len(violated))
            taken.extend(ids.tolist())
            run.extend(proposal)

    @pytest.mark.parametrize("formulation", [tube, nu_tube])
    def test_a_sample_outside_the_tube_on_either_side_is_an_error_point(self, formulation):
        X, _, weight = table(3, 30)
        y = np.sin(2 * X[:, 0]) + X[:, 1]
        rows = formulation(y, weight, 0.5, 0.2)
        problem = Problem(KernelLibrary(LQR, X, sample_weight=weight, scaling="floored"), rows)
        run, search = LPMaster().start(problem), StratifiedOracle(1, tol=1e-7).start(problem)
        for _ in range(6):
            width = run.fit.margin_width if formulation is nu_tube else 0.2
            outside = np.abs(y - run.fit.decision) > width + 1e-5
            assert_array_equal(run.fit.errors, outside)
            proposal = search.propose(run)
            assert outside[proposal.ids % 30].all()
            assert proposal.n_priced == outside.sum() * (1 + proposal.ids[0] // 30)
            run.extend(proposal)


class Library:
    """Given edges: two kernels with three centres each, one a row."""

    n_columns, strata = 6, (slice(0, 3), slice(3, 6))

    def __init__(self, edges, rms=None):
        self._edges = np.asarray(edges, dtype=float)
        self.rms = np.ones(6) if rms is None else np.asarray(rms, dtype=float)
        self.asked = []

    def edges(self, weights, ids=None):
        ids = np.arange(6) if ids is None else ids
        self.asked.append(ids.tolist())
        return self._edges[ids]

    def centered_at(self, rows):
        return np.tile(rows, 2)

    def values(self, ids, *, keep=True):
        return np.zeros((3, len(ids)))

    def hypotheses(self, ids):
        return ids.tolist()


def propose(edges, errors, rms=None, **options):
    library = Library(edges, rms)
    errors = None if errors is None else np.array(errors, dtype=bool)
    run = SimpleNamespace(
        fit=SimpleNamespace(weights=np.ones(3), errors=errors),
        price=lambda e: np.abs(e) - 1.0,
        bound=lambda e: -float(np.abs(e).max()),
    )
    search = StratifiedOracle(**options).start(Problem(library, rows=None))
    return library, search, run, search.propose(run)


class TestOnePass:
    def test_the_first_kernel_goes_first_though_the_second_is_better(self):
        library, _, _, found = propose([1.1, 0, 0, 9, 9, 9], [1, 0, 0])
        assert (found.ids.tolist(), library.asked, found.n_priced) == ([0], [[0]], 1)
        assert found.price == found.error_price == pytest.approx(0.1)
        assert (found.bound, found.complete) == (None, False)

    def test_error_points_go_before_the_rest_of_a_better_kernel(self):
        library, _, _, found = propose([0, 9, 0.5, 0, 0, 1.5], [0, 0, 1])
        assert (found.ids.tolist(), library.asked, found.n_priced) == ([5], [[2], [5]], 2)

    def test_then_all_columns_none_priced_twice(self):
        library, _, _, found = propose(
            [0, 1.2, 1.5, 9, 0, 0], [0, 1, 0], columns_per_step=5, tol=0.3
        )
        assert library.asked == [[1], [4], [0, 2]]
        assert (found.ids.tolist(), found.n_priced) == ([2], 4)
        assert found.price == pytest.approx(0.5)
        assert found.error_price == pytest.approx(0.2)
        assert (found.bound, found.complete) == (None, False)

    def test_the_last_kernel_makes_it_whole(self):
        _, _, _, found = propose([0, 0.5, 0.5, 3, 0, 0], [0, 1, 0])
        assert (found.ids.tolist(), found.n_priced) == ([3], 6)
        assert (found.bound, found.complete) == (-3.0, True)

    def test_nothing_found_has_seen_everything(self):
        _, search, run, found = propose([1.0, 0.5, -1.0, 0, 0, 0], [0, 1, 0])
        assert (found.ids.tolist(), found.price, found.n_priced) == ([], 0.0, 6)
        assert (found.bound, found.complete) == (-1.0, True) == (search.bound(run), True)

    def test_nothing_above_tol_offers_nothing(self):
        _, _, _, found = propose([1.05, 0.5, 1.0, 1.09, 0, 0], [1, 1, 0], tol=0.1)
        assert found.ids.tolist() == []
        assert found.price == found.error_price == pytest.approx(0.09)
        assert found.complete

    def test_errors_only_leaves_the_second_pass_out(self):
        library, search, run, found = propose([0, 9, 9, 0, 9, 9], [1, 0, 0], errors_only=True)
        assert (found.ids.tolist(), found.n_priced, found.error_price) == ([], 2, 0.0)
        assert (found.bound, found.complete) == (None, False)
        assert search.bound(run) == -9.0
        assert library.asked[-1] == [0, 1, 2, 3, 4, 5]

    def test_no_error_point_at_all(self):
        library, _, _, found = propose([0, 2, 0, 0, 0, 0], [0, 0, 0])
        assert (found.ids.tolist(), found.error_price, found.n_priced) == ([1], 0.0, 3)
        assert library.asked == [[], [], [0, 1, 2]]

    def test_a_master_without_error_points_has_one_pass(self):
        library, _, _, found = propose([0, 2, 0, 9, 9, 9], None)
        assert (found.ids.tolist(), found.error_price, library.asked) == ([1], None, [[0, 1, 2]])

    def test_dead_and_taken_columns_do_not_hold_the_search(self):
        sizes = [0, 1, 1, 1, 1, 1]
        _, search, run, found = propose([9, 2, 0, 3, 0, 0], [1, 1, 0], sizes)
        assert found.ids.tolist() == [1]
        assert search.propose(run).ids.tolist() == [3]

    def test_ranked_by_price_whatever_the_size_as_in_the_paper(self):
        sizes = [0.1, 1, 9, 1, 1, 1]
        _, _, _, found = propose([2, 3, 4, 0, 0, 0], [1, 1, 1], sizes, columns_per_step=2)
        assert found.ids.tolist() == [2, 1]

    def test_the_limit_of_columns_is_kept(self):
        _, search, run, found = propose([2, 3, 4, 9, 9, 9], [1, 1, 1], max_columns=2)
        again, empty = search.propose(run), search.propose(run)
        assert [p.ids.tolist() for p in (found, again, empty)] == [[2], [1], []]
        assert empty.price == 1.0


class TestOptimum:
    @SEEDS
    @SCALINGS
    @pytest.mark.parametrize("per_step", [1, 7])
    def test_run_to_the_end_it_is_the_scans(self, seed, scaling, per_step):
        library, rows, _, H = setup(seed, scaling, MIXED)
        found = run_with(library, rows, StratifiedOracle(per_step, tol=1e-8))
        scan = run_with(library, rows, ScanOracle(per_step))
        assert found.reason.rule == "tol"
        assert found.trace[-1].complete
        assert found.fit.objective == pytest.approx(scan.fit.objective, rel=1e-6)
        assert found.fit.objective == pytest.approx(margin_lp(H, rows).objective, rel=1e-6)
        assert found.gap <= 1e-6

    def test_few_columns_are_priced(self):
        library, rows, _, _ = setup(1, kernels=MIXED, n=60)
        priced = run_with(library, rows, StratifiedOracle(1, tol=1e-8)).trace.values("n_priced")
        assert np.mean(priced) < 0.7 * library.n_columns
        assert priced[-1] == library.n_columns

    def test_simple_kernels_are_preferred(self):
        library, rows, _, _ = setup(0, n=60)
        strata, scan = (
            [h.family.kernel for h in run_with(library, rows, oracle, MaxColumns(5)).hypotheses]
            for oracle in (StratifiedOracle(1, tol=1e-8), ScanOracle(1))
        )
        assert strata[0] == Linear()
        assert strata.count(Linear()) >= scan.count(Linear())

    def test_rounding_does_not_end_the_search_at_the_first_kernel(self):
        """A price below tol at a first kernel must not hide the large ones behind it."""
        library, rows, _, _ = setup(2)
        found = run_with(library, rows, StratifiedOracle(1, tol=1e-3), PriceBelow(1e-3))
        assert found.reason.rule == "tol"
        assert found.gap <= 2e-3


def whole_gap(H, rows, found, runs):
    """The gap of the kept fit to the best of the bounds at the steps that saw everything."""
    run = runs[-1]
    edges = H.T @ run.fit.weights
    last = rows.targets @ run.duals / max(1.0, np.abs(edges).max())
    earlier = [step.bound for step in found.trace[:-1] if step.bound is not None]
    return relative_gap(found.fit.objective, max([last, *earlier]))


@pytest.fixture
def runs(monkeypatch):
    """Every LP run that was started."""
    started, plain = [], LPRun.__init__

    def init(self, *arguments):
        plain(self, *arguments)
        started.append(self)

    monkeypatch.setattr(LPRun, "__init__", init)
    return started


class TestCertificateAfterAnEarlyStop:
    @SEEDS
    @pytest.mark.parametrize("stop", [MaxColumns(4), MaxIterations(3), MaxIterations(0)], ids=str)
    def test_equals_the_full_computation(self, seed, stop, runs):
        library, rows, _, H = setup(seed)
        found = run_with(library, rows, StratifiedOracle(1, 4, tol=1e-8), stop)
        assert found.reason.rule == stop(found.trace).rule
        assert found.gap == pytest.approx(whole_gap(H, rows, found, runs), rel=1e-9)
        assert found.gap > 0.01
        optimum = margin_lp(H, rows).objective
        assert found.trace[-1].bound <= optimum * (1 + 1e-9)

    def test_when_time_runs_out_inside_the_solver(self, monkeypatch, runs):
        library, rows, _, H = setup(0)
        plain, calls = LPRun.extend, []

        def late(self, proposal):
            calls.append(1)
            if len(calls) == 3:
                raise OutOfTimeError("late")
            plain(self, proposal)

        monkeypatch.setattr(LPRun, "extend", late)
        found = run_with(library, rows, StratifiedOracle(1, tol=1e-8))
        assert found.reason is OUT_OF_TIME
        assert found.gap == pytest.approx(whole_gap(H, rows, found, runs), rel=1e-9)

    def test_with_a_watch_it_is_that_of_the_model_kept(self, runs):
        library, rows, _, H = setup(0)
        errors = iter([0.5, 0.2, 0.4, 0.6])
        watch = ValidationMonitor(np.zeros((2, 3)), lambda _: next(errors))
        found = run_with(
            library, rows, StratifiedOracle(1, tol=1e-8), MaxIterations(3), watch=watch
        )
        assert len(found.fit.coef) == 1
        assert found.gap == pytest.approx(whole_gap(H, rows, found, runs), rel=1e-9)


class TestTR1:
    @SEEDS
    @pytest.mark.parametrize("errors_only", [False, True])
    def test_stops_when_error_points_have_nothing_to_offer(self, seed, errors_only, runs):
        library, rows, own, H = setup(seed)
        oracle = StratifiedOracle(1, tol=1e-7, errors_only=errors_only)
        found = run_with(library, rows, oracle, AnyOf((PriceBelow(1e-7), ErrorPriceBelow(1e-7))))
        assert found.reason.rule in ("stop_at_errors", "tol")
        prices = np.abs(H.T @ runs[0].fit.weights) - 1.0
        at_errors = np.isin(np.arange(library.n_columns) % 18, own[found.fit.errors])
        assert (prices[at_errors] <= 1e-6).all()
        if found.reason.rule == "stop_at_errors":
            assert str(found.reason).startswith("TR1: ")
        if errors_only:
            assert not found.trace[-1].complete
            assert found.reason.rule == "stop_at_errors"
        assert_allclose(found.gap, whole_gap(H, rows, found, runs), rtol=1e-9, atol=1e-12)

    @SEEDS
    def test_the_scan_knows_it_too(self, seed, runs):
        library, rows, own, H = setup(seed)
        found = run_with(
            library, rows, ScanOracle(1), AnyOf((PriceBelow(1e-7), ErrorPriceBelow(1e-7)))
        )
        for step in found.trace[:-1]:
            assert step.price >= step.error_price > 1e-7
        prices = np.abs(H.T @ runs[0].fit.weights) - 1.0
        at_errors = np.isin(np.arange(library.n_columns) % 18, own[found.fit.errors])
        best = max(0.0, prices[at_errors].max(initial=0.0))
        assert found.trace[-1].error_price == pytest.approx(best, abs=1e-7)
        assert found.trace[-1].error_price <= 1e-7

    def test_is_weaker_than_the_optimum(self):
        """Somewhere it stops early: that is its point."""
        early = 0
        for seed in range(8):
            library, rows, _, _ = setup(seed, C=0.3)
            oracle = StratifiedOracle(1, tol=1e-7, errors_only=True)
            found = run_with(library, rows, oracle, ErrorPriceBelow(1e-7))
            best = run_with(library, rows, ScanOracle(5)).fit.objective
            assert found.fit.objective >= best * (1 - 1e-9)
            early += found.fit.objective > best * (1 + 1e-6)
        assert early > 0
