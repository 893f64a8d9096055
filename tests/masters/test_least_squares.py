"""The least-squares master grown to the end is kernel ridge; its price is a drop."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kboost.columns.inner_products import InnerProducts
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem, Proposal
from kboost.core.stopping import PriceBelow
from kboost.formulations import SquaredRows
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kboost.masters.least_squares import LeastSquaresMaster
from kboost.oracles.scan import ScanOracle
from tests.contracts.reference import kernel_ridge, squared_problem

INTERCEPT = pytest.mark.parametrize("intercept", [True, False])
LIBRARIES = [
    (Gaussian(0.5),),
    (Laplacian(1.0), Gaussian(0.1)),
    (Linear(), Polynomial(2), Gaussian(1.0)),
]


def offer(library, ids):
    ids = np.asarray(ids)
    return Proposal(ids, library.hypotheses(ids), library.values(ids), 1.0, None, library.n_columns)


def problem_of(library, rows):
    return Problem(library, rows, inner_products=InnerProducts(library))


@INTERCEPT
@pytest.mark.parametrize("kernels", LIBRARIES, ids=repr)
@pytest.mark.parametrize("ridge", [0.1, 5.0])
@pytest.mark.parametrize("scaling", [None, "unit"])
@pytest.mark.parametrize("per_step", [1, 10])
def test_grown_to_the_end_it_is_kernel_ridge(intercept, kernels, ridge, scaling, per_step):
    library, rows, K = squared_problem(3, kernels=kernels, scaling=scaling)
    master = LeastSquaresMaster(ridge, intercept)
    found = grow(problem_of(library, rows), ScanOracle(per_step), master, PriceBelow(1e-12))
    optimum, decision = kernel_ridge(K, rows, ridge, intercept)
    assert_allclose(found.fit.objective, optimum, rtol=1e-5)
    assert_allclose(found.fit.decision, decision, atol=1e-3)
    objectives = found.trace.values("objective")
    assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()
    assert (found.trace.values("bound") <= optimum * (1 + 1e-9)).all()
    assert found.gap <= 1e-5
    assert_allclose(
        found.model.decision(library.centers)[:, 0], found.fit.decision, atol=1e-6
    )  # the model that is kept predicts what was fitted


@INTERCEPT
@pytest.mark.parametrize("scaling", [None, "unit"])
@pytest.mark.parametrize("seed", range(3))
def test_the_price_is_the_drop_when_only_that_coefficient_moves(intercept, scaling, seed):
    kernels, ridge = LIBRARIES[2], 0.7
    library, rows, _ = squared_problem(seed, n=12, kernels=kernels, scaling=scaling)
    run = LeastSquaresMaster(ridge, intercept).start(problem_of(library, rows))
    everything = np.arange(library.n_columns)
    H, Q = library.values(everything), InnerProducts(library).gram(everything, everything)
    taken = np.zeros(0, dtype=int)
    for ids in ([], [0, 14, 30], [2, 25]):
        if ids:
            run.extend(offer(library, ids))
            taken = np.append(taken, ids)
        coef = np.zeros(library.n_columns)
        coef[taken] = run.fit.coef

        def objective(j, step, coef=coef):
            moved = coef.copy()
            moved[j] += step
            residual = rows.targets - H @ moved - run.fit.bias
            return 0.5 * rows.sample_weight @ residual**2 + 0.5 * ridge * moved @ Q @ moved

        prices = run.price(library.edges(run.fit.weights))
        for j in everything:
            # a parabola through three points
            low, mid, high = (objective(j, step) for step in (-1.0, 0.0, 1.0))
            slope, curvature = (high - low) / 2, high + low - 2 * mid
            assert_allclose(prices[j], 0.5 * slope**2 / curvature, rtol=1e-6, atol=1e-9)
            best = objective(j, -slope / curvature)
            assert_allclose(mid - best, prices[j], rtol=1e-6, atol=1e-9)


def test_kernels_that_are_not_definite_are_refused():
    library, rows, _ = squared_problem(0, kernels=(Gaussian(1.0), Sigmoid(0.5)))
    with pytest.raises(ValueError, match=r"positive semidefinite kernels.*Sigmoid"):
        LeastSquaresMaster().start(problem_of(library, rows))


@INTERCEPT
def test_without_a_ridge_dependent_columns_do_no_harm_and_nothing_is_certified(intercept):
    """24 linear columns of 3 features: rank 3."""
    library, rows, _ = squared_problem(1, kernels=(Linear(), Polynomial(2)))
    run = LeastSquaresMaster(0.0, intercept).start(problem_of(library, rows))
    before = run.fit.objective
    for ids in np.array_split(np.arange(library.n_columns), 12):
        run.extend(offer(library, ids))
        assert run.fit.objective <= before * (1 + 1e-7)
        before = run.fit.objective
        assert run.bound(library.edges(run.fit.weights)) is None
    A, w = library.values(np.arange(library.n_columns)), np.sqrt(rows.sample_weight)
    if intercept:
        A = np.column_stack([np.ones(24), A])
    x = np.linalg.lstsq(w[:, None] * A, w * rows.targets, rcond=1e-10)[0]
    best = 0.5 * rows.sample_weight @ (rows.targets - A @ x) ** 2
    assert_allclose(run.fit.objective, best, rtol=1e-5)


def test_the_start_is_the_weighted_mean_or_nothing():
    library, rows, _ = squared_problem(2)
    with_bias = LeastSquaresMaster().start(problem_of(library, rows)).fit
    assert_allclose(with_bias.bias, np.average(rows.targets, weights=rows.sample_weight))
    without = LeastSquaresMaster(fit_intercept=False).start(problem_of(library, rows)).fit
    assert without.bias == 0.0
    assert_array_equal(without.decision, 0.0)
    assert_allclose(without.objective, 0.5 * rows.sample_weight @ rows.targets**2)


def test_dead_columns_are_worth_nothing():
    X = np.vstack([np.zeros((3, 2)), np.random.default_rng(0).normal(size=(9, 2))])
    library = KernelLibrary([Linear()], X)
    rows = SquaredRows(np.arange(12.0), np.ones(12))
    for ridge in (0.0, 1.0):
        run = LeastSquaresMaster(ridge).start(problem_of(library, rows))
        prices = run.price(library.edges(run.fit.weights))
        assert_array_equal(prices[:3], 0.0)
        assert (prices[3:] > 0).all()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_perfect_fit_has_nothing_left_to_bound(seed, size):
    """What is left is rounding; it must not pass for a certificate."""
    library, rows, _ = squared_problem(seed, kernels=(Gaussian(1.0),))
    flat = SquaredRows(np.full(24, size / 3), rows.sample_weight)
    run = LeastSquaresMaster(1.0).start(problem_of(library, flat))
    assert run.fit.objective <= 1e-28 * size**2
    assert run.bound(library.edges(run.fit.weights)) <= 1e-28 * size**2


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e7])
def test_a_large_offset_of_the_targets_leaves_the_bound_valid(seed, shift):
    library, rows, K = squared_problem(seed, kernels=(Gaussian(1.0), Laplacian(1.0)))
    optimum, _ = kernel_ridge(K, rows, 1e-3, intercept=True)  # does not depend on the shift
    shifted = SquaredRows(rows.targets + shift, rows.sample_weight)
    run = LeastSquaresMaster(1e-3).start(problem_of(library, shifted))
    for ids in np.array_split(np.random.default_rng(seed).permutation(library.n_columns), 4):
        run.extend(offer(library, ids))
        assert run.bound(library.edges(run.fit.weights)) <= optimum * (1 + 1e-6)
    assert_allclose(run.fit.objective, optimum, rtol=1e-3)
