"""The 1-norm master grown to the end, against other solvers; its start, its limits."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem, Proposal
from kboost.core.stopping import OUT_OF_TIME, PriceBelow
from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows, hinge
from kboost.kernels import Gaussian, Polynomial
from kboost.kernels.adapters import Precomputed
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from kboost.solvers.margin_lp import MarginVertex
from tests.contracts.reference import margin_lp, margin_problem, table

VARIANTS = pytest.mark.parametrize(
    ("nonnegative", "intercept"),
    [(sign, offset) for sign in (False, True) for offset in ("free", "penalized", "none")],
)


def grown(library, rows, master, per_step, tol=1e-7):
    return grow(Problem(library, rows), ScanOracle(per_step), master, PriceBelow(tol))


@VARIANTS
@pytest.mark.parametrize("per_step", [1, 6, 10**6])
@pytest.mark.parametrize("seed", range(3))
def test_grown_to_the_optimum_with_valid_bounds_on_the_way(nonnegative, intercept, per_step, seed):
    scaling = "floored" if seed % 2 else None
    library, rows, H = margin_problem(seed, scaling=scaling, noisy_targets=seed == 2)
    master = LPMaster(nonnegative, intercept, few_rows=0 if per_step == 6 else 10**6)
    found = grown(library, rows, master, per_step)
    optimum = margin_lp(H, rows, nonnegative, intercept).objective
    assert_allclose(found.fit.objective, optimum, rtol=1e-6)
    bounds, objectives = found.trace.values("bound"), found.trace.values("objective")
    assert (bounds <= optimum * (1 + 1e-9)).all()
    assert (objectives >= optimum * (1 - 1e-9)).all()
    assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()
    assert found.gap <= 2e-7
    assert found.reason.rule in ("tol", "exhausted")


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
def test_an_interior_point_method_finds_the_same_optimum(intercept):
    """HiGHS is inside scipy too; Clarabel is a different code."""
    library, rows, H = margin_problem(7)
    found = grown(library, rows, LPMaster(intercept=intercept), 5)
    n, k = H.shape
    # variables coef, size of coef, bias, size of bias, slack
    cost = np.concatenate([np.zeros(k), np.ones(k), [0.0, 1.0], rows.slack_costs])
    if intercept == "free":
        cost[2 * k + 1] = 0.0
    margin = np.hstack(
        [
            -rows.signs[:, None] * H,
            np.zeros((n, k)),
            -rows.signs[:, None] * (0.0 if intercept == "none" else 1.0),
            np.zeros((n, 1)),
            -np.eye(n),
        ]
    )
    sizes = [np.hstack([s * np.eye(k), -np.eye(k), np.zeros((k, 2 + n))]) for s in (1.0, -1.0)]
    bias = np.zeros((2, 2 * k + 2 + n))
    bias[:, 2 * k : 2 * k + 2] = [[1.0, -1.0], [-1.0, -1.0]]
    positive = np.hstack([np.zeros((n, 2 * k + 2)), -np.eye(n)])
    A = np.vstack([margin, *sizes, bias, positive])
    b = np.concatenate([-rows.targets, np.zeros(2 * k + 2 + n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((len(cost), len(cost))),
        cost,
        sparse.csc_matrix(A),
        b,
        [clarabel.NonnegativeConeT(len(b))],
        settings,
    )
    assert_allclose(found.fit.objective, solver.solve().obj_val, rtol=1e-6)


def test_a_penalized_bias_starts_from_feasible_duals():
    """Duals at their caps would overrate the heavier class and price no column at all."""
    X = np.array([0.3, -0.5, 0.5, 0.7, 0.9])[:, None]
    rows = hinge(np.array([1.0, -1.0, 1.0, 1.0, -1.0]), np.ones(5), C=3.0)
    library = KernelLibrary([Polynomial(3, coef0=0.0)], X, scaling="floored")
    run = LPMaster(intercept="penalized").start(Problem(library, rows))
    assert abs(run.fit.weights.sum()) <= 1 + 1e-12
    found = grown(library, rows, LPMaster(intercept="penalized"), 1)
    H = library.values(np.arange(5))
    assert_allclose(found.fit.objective, margin_lp(H, rows, intercept="penalized").objective)
    assert found.fit.objective < 13.0 - 1e-3  # that of the bias alone
    assert found.gap <= 1e-9


class TestStart:
    """Without columns."""

    @VARIANTS
    @pytest.mark.parametrize("seed", range(5))
    def test_weights_are_an_optimal_dual(self, nonnegative, intercept, seed):
        library, rows, H = margin_problem(seed, noisy_targets=seed > 2)
        run = LPMaster(nonnegative, intercept).start(Problem(library, rows))
        optimum = margin_lp(H[:, :0], rows, nonnegative, intercept).objective
        assert_allclose(run.fit.objective, optimum, rtol=1e-9)
        assert_allclose(rows.targets @ (rows.signs * run.fit.weights), optimum, rtol=1e-9)
        balance = abs(run.fit.weights.sum())
        assert balance <= {"free": 1e-12, "penalized": 1 + 1e-12, "none": np.inf}[intercept]

    def test_ties_are_spread_evenly(self):
        """Of the many optimal duals, the one that treats the rows of a class alike."""
        _, y, weight = table(0, 30)
        library, _, _ = margin_problem(0, 30)
        rows = hinge(y, weight, C=2.0)
        fit = LPMaster().start(Problem(library, rows)).fit
        share = np.abs(fit.weights) / rows.slack_costs
        for side in (y > 0, y < 0):
            assert_allclose(share[side], share[side][0], rtol=1e-12)
        assert share.max() == pytest.approx(1.0)

    @pytest.mark.parametrize("few_rows", [0, 10**6])
    def test_rows_of_one_sign_need_a_bias_only(self, few_rows):
        library, _, _ = margin_problem(0)
        rows = hinge(np.ones(24), np.ones(24), C=1.0)
        found = grown(library, rows, LPMaster(few_rows=few_rows), 3)
        assert found.fit.objective == pytest.approx(0.0, abs=1e-9)
        assert_allclose(found.fit.bias, 1.0)
        assert found.hypotheses == []
        assert found.gap == 0.0


class Sloppy:
    """A solver that is right to about `error` only, as every solver is."""

    def __init__(self, vertex, error, seed):
        rng = np.random.default_rng(seed)
        self.vertex = MarginVertex(
            coef=vertex.coef + error * rng.normal(size=len(vertex.coef)),
            bias=vertex.bias,
            duals=vertex.duals + error * rng.normal(size=len(vertex.duals)),
            pivots=0,
        )

    def extend(self, columns):
        pass

    def solve(self, seconds):
        return self.vertex


@VARIANTS
@pytest.mark.parametrize("error", [1e-9, 1e-3])
@pytest.mark.parametrize("seed", range(3))
def test_inexact_duals_of_the_solver_are_repaired(nonnegative, intercept, error, seed):
    library, rows, H = margin_problem(seed)
    optimum = margin_lp(H, rows, nonnegative, intercept)
    exact = MarginVertex(optimum.coef, optimum.bias, optimum.duals, 0)
    run = LPMaster(nonnegative, intercept).start(Problem(library, rows))
    run._lp = Sloppy(exact, error, seed)
    ids = np.arange(library.n_columns)
    run.extend(Proposal(ids, library.hypotheses(ids), H, 1.0, None, len(ids)))
    duals = rows.signs * run.fit.weights
    assert (duals >= 0).all()
    assert (duals <= rows.slack_costs).all()
    balance = abs(run.fit.weights.sum())
    assert balance <= {"free": 1e-14, "penalized": 1 + 1e-14, "none": np.inf}[intercept]
    if nonnegative:
        assert (run.fit.coef >= 0).all()
    # both ends of the certificate hold for what was repaired, and are as close as the error
    bound = run.bound(library.edges(run.fit.weights))
    assert bound <= optimum.objective * (1 + 1e-12)
    assert run.fit.objective >= optimum.objective * (1 - 1e-12)
    assert run.fit.objective - bound <= 1e3 * error * optimum.objective


@pytest.mark.parametrize("few_rows", [0, 10**6])
def test_out_of_time_keeps_the_last_fit(few_rows):
    library, rows, _ = margin_problem(0)
    problem = Problem(library, rows, Deadline.after(0.0))
    run = LPMaster(few_rows=few_rows).start(problem)
    before, ids = run.fit, np.arange(40)
    with pytest.raises(OutOfTimeError):
        run.extend(Proposal(ids, library.hypotheses(ids), library.values(ids), 1.0, None, 40))
    assert run.fit is before
    found = grow(problem, ScanOracle(40), LPMaster(few_rows=few_rows), PriceBelow(1e-6))
    assert found.reason.rule == OUT_OF_TIME.rule
    assert found.hypotheses == []
    assert_array_equal(found.fit.weights, before.weights)


@pytest.mark.parametrize("few_rows", [0, 10**6])
@pytest.mark.parametrize("size", [1e-12, 1e5])
def test_the_size_of_the_columns_does_not_matter_to_the_solver(few_rows, size):
    X, y, weight = table(0)
    K = size * Gaussian(1.0)(X)
    for scaling in (None, "floored"):
        library = KernelLibrary(
            [Precomputed(0, 24)], K, centers=np.arange(24)[:, None], scaling=scaling
        )
        end = grown(library, hinge(y, weight, 1.0), LPMaster(few_rows=few_rows), 4)
        assert end.gap <= 1e-6
        if scaling is None and size > 1:  # coefficients cost next to nothing
            assert end.fit.objective < 1e-3


@VARIANTS
@pytest.mark.parametrize("seed", range(3))
def test_doubling_C_and_all_weights_halved_is_the_same_problem(nonnegative, intercept, seed):
    library, rows, _ = margin_problem(seed)
    master = LPMaster(nonnegative, intercept)
    one = grown(library, hinge(rows.signs, library.sample_weight, 1.5), master, 4)
    other = grown(library, hinge(rows.signs, library.sample_weight / 2, 3.0), master, 4)
    assert_allclose(one.fit.objective, other.fit.objective, rtol=1e-9)


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_swapping_the_classes_swaps_the_sign(intercept, seed):
    library, rows, _ = margin_problem(seed, noisy_targets=True)
    swapped = MarginRows(-rows.signs, rows.targets, rows.slack_costs)
    one = grown(library, rows, LPMaster(intercept=intercept), 4)
    other = grown(library, swapped, LPMaster(intercept=intercept), 4)
    assert_allclose(one.fit.objective, other.fit.objective, rtol=1e-7)
    assert_allclose(one.fit.decision, -other.fit.decision, atol=1e-5)
