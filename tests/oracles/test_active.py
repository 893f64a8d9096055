"""The search for centres and widths against a fine grid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost.columns.active import ActiveLibrary
from kboost.core.column_generation import grow
from kboost.core.protocols import Fit, Problem
from kboost.core.stopping import AnyOf, GapBelow, MaxIterations, PriceBelow
from kboost.formulations import nu_tube, tube
from kboost.kernels import Gaussian
from kboost.masters.lp import LPMaster
from kboost.oracles.active import ActiveOracle
from kboost.oracles.scan import ScanOracle

SCALINGS = pytest.mark.parametrize("scaling", [None, "floored"])
KERNELS = tuple(Gaussian(g) for g in (0.05, 0.3, 2.0))
STOP = AnyOf((PriceBelow(1e-5), GapBelow(1e-6), MaxIterations(200)))


def make(seed=0, n=40, d=2, scaling=None, C=2.0, formulate=nu_tube, parameter=0.3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, d))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] ** 2 + 0.1 * rng.normal(size=n)
    weight = rng.uniform(0.5, 2.0, size=n)
    library = ActiveLibrary(
        KERNELS, X, sample_weight=weight, scaling=scaling, width_bounds=(0.4, 4.0)
    )
    return Problem(library, formulate(y, weight, C, parameter))


class Weights:
    """A run that only prices: the 1-norm master at given weights."""

    def __init__(self, weights):
        n = len(weights)
        self.fit = Fit(np.zeros(0), 0.0, np.zeros(n), weights, 0.0)

    def price(self, edges):
        return np.abs(edges) - 1.0

    def bound(self, edges):
        return -float(np.abs(edges).max())


@SCALINGS
@pytest.mark.parametrize("d", [1, 2])
def test_no_point_of_a_fine_grid_is_better(scaling, d):
    problem = make(d=d, scaling=scaling)
    library, rng = problem.columns, np.random.default_rng(5)
    axes = [np.linspace(lo, hi, 25) for lo, hi in zip(library.lower, library.upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, d + 1)
    for _ in range(5):
        weights = rng.normal(size=library.n_rows)
        weights -= weights.mean()
        found = ActiveOracle(5).start(problem).propose(Weights(weights))
        assert found.price >= (np.abs(library.edges_at(grid, weights)[0]) - 1.0).max() - 1e-6


def test_columns_of_low_price_are_left_out_only_while_others_have_a_higher_one():
    problem = make()
    weights = np.random.default_rng(5).normal(size=problem.columns.n_rows)
    weights -= weights.mean()

    def offered(least):
        found = ActiveOracle(30, least=least).start(problem).propose(Weights(weights))
        return found.price, np.abs(weights @ found.values) - 1.0

    price, every = offered(0.0)
    middle = float(np.median(every))
    told, dear = offered(middle)
    assert told == price  # the certificate is of all that was seen
    assert 0 < len(dear) < len(every)
    assert dear.min() > middle
    assert len(offered(2 * price)[1]) == len(every)


@SCALINGS
def test_a_maximum_at_the_bound_of_the_widths_is_found(scaling):
    """Two rows of equal weight and opposite sign: only narrow columns tell them apart."""
    X = np.concatenate([np.linspace(-2, 2, 30), [0.05, 0.1]])[:, None]
    weights = np.zeros(len(X))
    weights[-2:] = 1.0, -1.0
    library = ActiveLibrary([Gaussian(0.5)], X, scaling=scaling, width_bounds=(0.01, 2.0))
    found = ActiveOracle(3).start(Problem(library, None)).propose(Weights(3 * weights))
    grid = np.stack(np.meshgrid(np.linspace(-2, 2, 801), [np.log(0.01)]), axis=-1).reshape(-1, 2)
    assert found.price >= np.abs(library.edges_at(grid, 3 * weights)[0]).max() - 1.0 - 1e-3
    assert min(h.width for h in found.hypotheses) < 0.1


def test_a_maximum_between_rows_is_found_though_many_rows_have_larger_edges():
    """Seven rows two widths from each other: together, from their middle, they are worth most."""
    corners = np.sqrt(2.0) * np.eye(7)  # on the 6 features of the plane they lie in
    middle = corners.mean(axis=0)
    plane = np.linalg.svd(corners - middle)[2][:6]
    rows = (corners - middle) @ plane.T
    lonely = np.zeros((150, 6))
    lonely[:, 0] = 20.0 * np.arange(1, 151)
    X = np.concatenate([lonely, rows])
    weights = np.concatenate([np.tile([0.95, -0.95], 75), np.full(7, 0.37)])
    library = ActiveLibrary([Gaussian(0.5)], X, width_bounds=(1.0, 1.05))
    assert np.abs(library.edges(weights)).max() < 1.0  # no column at a row is worth its price
    at_middle = library.edges_at(np.zeros((1, 7)), weights)[0][0]
    assert at_middle > 1.05
    found = ActiveOracle(5).start(Problem(library, None)).propose(Weights(weights))
    assert found.price >= at_middle - 1.0


@SCALINGS
def test_proposals_are_new_of_positive_price_and_within_limits(scaling):
    problem = make(scaling=scaling)
    library, oracle = problem.columns, ActiveOracle(4, max_columns=30)
    search, run = oracle.start(problem), LPMaster().start(problem)
    numbers = []
    for _ in range(12):
        offer = search.propose(run)
        weights = run.fit.weights
        scanned = run.price(library.edges(weights))
        assert offer.price >= scanned.max() - 1e-12  # no worse than the kernels it started from
        assert offer.relative
        assert offer.complete
        assert len(offer.ids) <= 4
        assert offer.bound == pytest.approx(
            problem.rows.targets @ run.duals / (1 + offer.price), rel=1e-12
        )
        if len(offer.ids) == 0:
            break
        family = offer.hypotheses[0].family
        assert_allclose(family.columns(offer.hypotheses, library._X), offer.values, atol=1e-10)
        assert (run.price(offer.values.T @ weights) > 0).all()
        inside = np.array([[*h.center[0], np.log(h.width)] for h in offer.hypotheses])
        assert (inside >= library.lower - 1e-12).all()
        assert (inside <= library.upper + 1e-12).all()
        numbers.extend(offer.ids.tolist())
        run.extend(offer)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) <= 30


@SCALINGS
@pytest.mark.parametrize(("formulate", "parameter"), [(nu_tube, 0.3), (tube, 0.1)])
def test_the_infinite_optimum_is_below_the_finite_one_and_certified(scaling, formulate, parameter):
    problem = make(scaling=scaling, formulate=formulate, parameter=parameter)
    library = problem.columns
    grown = grow(problem, ActiveOracle(20), LPMaster(), STOP)
    scan = grow(problem, ScanOracle(20), LPMaster(), STOP)  # the columns at the rows alone
    assert grown.fit.objective < scan.fit.objective
    assert grown.gap <= 1e-4
    assert "as far as the search could see" in str(grown.reason)
    assert grown.trace[-1].price <= 1e-4  # the violation that is left
    # no column of a random sample of the continuum breaks dual feasibility by more
    rng = np.random.default_rng(1)
    anywhere = rng.uniform(library.lower, library.upper, size=(20_000, 3))
    assert np.abs(library.edges_at(anywhere, grown.fit.weights)[0]).max() <= 1 + 1e-4
    # Corollary 4: at a vertex, no more hypotheses than rows
    assert np.count_nonzero(grown.fit.coef) <= library.n_rows


def test_a_relative_bound_is_not_carried_on():
    problem = make()
    grown = grow(problem, ActiveOracle(3), LPMaster(), MaxIterations(8))
    search, run = ActiveOracle(3).start(problem), LPMaster().start(problem)
    for step in grown.trace:
        offer = search.propose(run)
        assert step.bound == pytest.approx(offer.bound, rel=1e-12)
        assert step.relative
        run.extend(offer)


def test_nonnegative_coefficients_follow_positive_edges():
    problem = make()
    master = LPMaster(nonnegative=True)
    grown = grow(problem, ActiveOracle(10), master, STOP)
    assert (grown.fit.coef >= 0).all()
    edges = problem.columns.edges_at(
        np.random.default_rng(0).uniform(problem.columns.lower, problem.columns.upper, (5000, 3)),
        grown.fit.weights,
    )[0]
    assert edges.max() <= 1 + 1e-4
