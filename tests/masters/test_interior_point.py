"""The interior-point master: the optimum, a vertex, and valid bounds at every step."""

import numpy as np
import pytest

from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import grow
from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem
from kboost.core.stopping import MaxIterations, PriceBelow
from kboost.formulations import MarginRows
from kboost.masters.interior_point import InteriorLPMaster
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from kboost.solvers.row_generation import solve_near_margin
from tests.contracts.reference import MIXED, margin_lp, table


def set_up(seed, n=70, scaling="floored", factor=1.5):
    X, y, weight = table(seed, n)
    library = KernelLibrary(MIXED, X, sample_weight=weight, scaling=scaling)
    targets = np.random.default_rng(seed + 7).uniform(0.2, 1.5, size=n)
    rows = MarginRows(y, targets, factor * weight)
    return library, rows, library.values(np.arange(library.n_columns))


@pytest.mark.parametrize("scaling", ["floored", None])
@pytest.mark.parametrize(("intercept", "seed"), [("free", 0), ("penalized", 1), ("none", 2)])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("factor", [0.05, 2.0])
def test_the_optimum_over_the_library(scaling, intercept, seed, nonnegative, factor):
    library, rows, H = set_up(seed, scaling=scaling, factor=factor)
    optimum = margin_lp(H, rows, nonnegative, intercept).objective
    master = InteriorLPMaster(nonnegative, intercept)
    grown = grow(Problem(library, rows), ScanOracle(4), master, PriceBelow(1e-9))
    assert grown.fit.objective == pytest.approx(optimum, rel=1e-8)
    assert grown.gap <= 1e-7
    assert (grown.trace.values("bound") <= optimum * (1 + 1e-9)).all()
    objective = grown.trace.values("objective")
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
    duals = rows.signs * grown.fit.weights
    assert (duals >= 0).all()
    assert (duals <= rows.slack_costs).all()


@pytest.mark.parametrize("first", [(0, 5, 9), tuple(range(0, 200, 7))])
def test_first_columns_at_the_full_cost(first):
    library, rows, H = set_up(0)
    optimum = margin_lp(H, rows, False, "free").objective
    first = tuple(j for j in first if library.rms[j] > 0)
    oracle, master = ScanOracle(4, first=first), InteriorLPMaster(at_full_cost=True)
    grown = grow(Problem(library, rows), oracle, master, PriceBelow(1e-9))
    start = library.hypotheses(np.array(first))
    assert grown.hypotheses[: len(first)] == start
    assert len(set(grown.hypotheses)) == len(grown.hypotheses)
    assert grown.fit.objective == pytest.approx(optimum, rel=1e-8)
    assert grown.gap <= 1e-7


def test_many_rows_are_solved_by_those_near_the_margin(monkeypatch):
    X, y, weight = table(0, 900)
    library = KernelLibrary(MIXED, X, centers=X[:15], sample_weight=weight, scaling="floored")
    rows = MarginRows(y, np.ones(len(y)), 2.0 * weight)
    optimum = grow(Problem(library, rows), ScanOracle(20), LPMaster(), PriceBelow(1e-9))
    found = []

    def record(*args, **options):
        found.append(solve_near_margin(*args, **options))
        return found[-1]

    monkeypatch.setattr("kboost.masters.interior_point.solve_near_margin", record)
    grown = grow(Problem(library, rows), ScanOracle(20), InteriorLPMaster(), PriceBelow(1e-9))
    assert any(path is not None for path in found)
    assert grown.fit.objective == pytest.approx(optimum.fit.objective, rel=1e-8)
    assert grown.gap <= 1e-7


@pytest.mark.parametrize("seed", range(3))
def test_it_ends_at_a_vertex_as_sparse_as_simplex(seed):
    library, rows, _ = set_up(seed)
    inside, simplex = (
        grow(Problem(library, rows), ScanOracle(4), master, PriceBelow(1e-9))
        for master in (InteriorLPMaster(), LPMaster())
    )
    assert inside.fit.objective == pytest.approx(simplex.fit.objective, rel=1e-9)
    assert np.count_nonzero(inside.fit.coef) <= library.n_rows
    assert inside.model.n_columns <= simplex.model.n_columns + 3


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_stopped_early_it_is_the_vertex_of_the_columns_so_far(steps):
    library, rows, _ = set_up(0)
    grown = grow(Problem(library, rows), ScanOracle(4), InteriorLPMaster(), MaxIterations(steps))
    chosen = np.hstack([h.family.columns([h], library.centers) for h in grown.hypotheses])
    optimum = margin_lp(chosen, rows).objective
    assert grown.fit.objective == pytest.approx(optimum, rel=1e-8)


def test_out_of_time_keeps_the_interior_fit():
    library, rows, H = set_up(0)
    late = Problem(library, rows, Deadline.after(0.0))
    grown = grow(late, ScanOracle(4), InteriorLPMaster(), MaxIterations(3))
    assert np.isfinite(grown.fit.objective)
    assert grown.fit.objective >= margin_lp(H, rows).objective * (1 - 1e-9)
