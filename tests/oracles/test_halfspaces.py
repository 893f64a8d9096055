"""Halfspaces: the LP (26), the best threshold, and a model of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kboost.columns.halfspaces import HalfspaceSpace, features_used
from kboost.core.column_generation import grow
from kboost.core.protocols import Problem
from kboost.core.stopping import AnyOf, MaxIterations, PriceBelow
from kboost.formulations import nu_tube
from kboost.masters.lp import LPMaster
from kboost.oracles.halfspaces import HalfspaceOracle
from tests.oracles.test_active import Weights

STOP = AnyOf((PriceBelow(1e-6), MaxIterations(200)))


def make(seed=0, n=40, d=5, C=2.0, scaling=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + X[:, 1] > 0.2, 2.0, 0.0) - (X[:, 2] > 0) + 0.05 * rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, size=n)
    return Problem(HalfspaceSpace(X, weight, scaling), nu_tube(y, weight, C, 0.3)), X, y


def classification_lp(rows, p, delta):
    """(26) as it stands: w+, w-, b+, b-, zeta >= 0."""
    n, d = rows.shape
    signs = np.sign(p)
    cost = np.concatenate([np.full(2 * d, delta), [0.0, 0.0], (1 - delta) * np.abs(p)])
    g = signs[:, None] * np.hstack([rows, -rows, np.ones((n, 1)), -np.ones((n, 1))])
    found = linprog(cost, A_ub=-np.hstack([g, np.eye(n)]), b_ub=-np.ones(n), method="highs")
    return found.x[:d] - found.x[d : 2 * d]


@pytest.mark.parametrize("sparsity", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
def test_the_direction_solves_26(sparsity, shape):
    problem, _, _ = make(n=shape[0], d=shape[1])
    space, rng = problem.columns, np.random.default_rng(3)
    p = rng.normal(size=shape[0])
    p -= p.mean()
    p /= np.abs(p).sum()
    m = np.abs(p @ space.rows).max()
    delta = sparsity * m / (1 + m)
    w = classification_lp(space.rows, p, delta)
    search = HalfspaceOracle(sparsity).start(problem)
    found = search._direction(p)[0]
    assert_allclose(found, w / np.abs(w).max(), atol=1e-6)
    # the threshold of delta: just below it w is not 0, just above it is
    assert np.abs(classification_lp(space.rows, p, 0.999 * m / (1 + m))).max() > 0
    assert_allclose(classification_lp(space.rows, p, 1.001 * m / (1 + m)), 0.0, atol=1e-9)


def test_the_cut_is_the_best_along_the_direction():
    problem, X, _ = make()
    space, rng = problem.columns, np.random.default_rng(0)
    for _ in range(5):
        p = rng.normal(size=len(X)) * 3
        p -= p.mean()
        offer = HalfspaceOracle(0.5).start(problem).propose(Weights(p))
        (column,) = offer.hypotheses
        places = space.rows @ column.direction
        best = max(abs(p[places > t].sum()) for t in places)
        assert_allclose(abs(p @ offer.values[:, 0]), best)
        assert offer.price == pytest.approx(best - 1.0)
        assert offer.relative


def test_sparsity_chooses_how_many_features_enter():
    problem, _, _ = make(n=60, d=30)
    p = np.random.default_rng(1).normal(size=60)
    p -= p.mean()
    counts = [
        np.count_nonzero(HalfspaceOracle(s).start(problem)._direction(p))
        for s in (0.05, 0.4, 0.8, 0.99)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] <= 2
    assert counts[0] > 5


@pytest.mark.parametrize("scaling", [None, "floored"])
@pytest.mark.parametrize(("intercept", "both"), [("free", False), ("penalized", True)])
def test_a_model_of_halfspaces(scaling, intercept, both):
    problem, X, y = make(scaling=scaling, C=5.0)
    oracle = HalfspaceOracle(0.5, both_sides=both)
    grown = grow(problem, oracle, LPMaster(intercept=intercept), STOP)
    objectives = grown.trace.values("objective")
    assert (np.diff(objectives) <= 1e-9).all()
    steps = np.diff(grown.trace.values("n_columns"))
    assert (steps <= (2 if both else 1)).all()
    assert steps.max() == (2 if both else 1)
    assert np.mean((grown.model.decision(X)[:, 0] - y) ** 2) < 0.05 * y.var()
    assert np.count_nonzero(grown.fit.coef) <= len(X)  # Corollary 4
    used = np.stack([h.direction for h in grown.hypotheses])[np.abs(grown.fit.coef) > 0.1]
    assert set(features_used(used)) >= {0, 1, 2}


# at the larger C the LP's halfspace is at last one of those in use, of an edge of 1 up to rounding
@pytest.mark.parametrize(("C", "n", "d"), [(0.05, 40, 5), (0.2, 100, 3)])
def test_the_end_is_relative_to_a_search_that_includes_single_features(C, n, d):
    problem, X, _ = make(C=C, n=n, d=d)
    grown = grow(problem, HalfspaceOracle(0.5), LPMaster(), STOP)
    assert "as far as the search could see" in str(grown.reason)
    weights = grown.fit.weights
    for feature in X.T:
        assert max(abs(weights[feature > t].sum()) for t in feature) <= 1 + 1e-6


def test_a_column_in_use_is_not_proposed_again():
    problem, _, _ = make(n=30, d=3, C=1.0)
    grown = grow(problem, HalfspaceOracle(0.5), LPMaster(), AnyOf((MaxIterations(200),)))
    assert grown.reason.rule == "exhausted"


def test_max_columns_holds_in_the_middle_of_a_pair():
    problem, _, _ = make(C=5.0)
    oracle = HalfspaceOracle(0.5, both_sides=True, max_columns=5)
    grown = grow(problem, oracle, LPMaster(intercept="none"), STOP)
    assert grown.trace[-1].n_columns == 5


def test_constant_features_give_no_halfspace():
    y = np.array([0.0, 1.0, 2.0])
    problem = Problem(HalfspaceSpace(np.ones((3, 2)), np.ones(3)), nu_tube(y, np.ones(3), 1.0, 0.5))
    grown = grow(problem, HalfspaceOracle(), LPMaster(), STOP)
    assert len(grown.hypotheses) == 0
