"""The margin LP by the rows near the margin: the whole problem's optimum, with its certificate."""

from __future__ import annotations

import numpy as np
import pytest

from kboost.solvers.interior_point import InteriorPath, begin, solve_interior
from kboost.solvers.predictor_corrector import DenseMarginLP
from kboost.solvers.row_generation import PartPath, centered_rows, solve_near_margin

N, K = 1_500, 12


@pytest.fixture(scope="module")
def lp() -> DenseMarginLP:
    """Two noisy classes."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, K))
    signs = np.sign(values[:, :3].sum(axis=1) + 0.7 * rng.normal(size=N))
    columns = np.asfortranarray(signs[:, None] * values)
    upper = rng.uniform(0.5, 1.5, N)
    return DenseMarginLP(
        columns, signs, np.ones(N), upper, np.full(K, 20.0), np.ones(K, dtype=bool), True
    )


@pytest.fixture(scope="module")
def near(lp: DenseMarginLP) -> InteriorPath:
    return solve_interior(lp, begin(lp, np.zeros(K), 0.0, 0.5 * lp.upper), tol=0.05)


def test_optimum_is_that_of_all_rows(lp: DenseMarginLP, near: InteriorPath) -> None:
    whole = solve_interior(lp, near.iterates[-1][1], tol=1e-9).best
    path = solve_near_margin(lp, near.iterates[-1][1], tol=1e-8)
    assert path is not None
    found = path.best
    assert found.gap <= 1e-8
    np.testing.assert_allclose(found.objective, whole.objective, rtol=1e-8)
    # the certificate, from the definitions
    slack = np.maximum(0.0, lp.targets - lp.columns @ found.x - lp.signs * found.bias)
    objective = lp.cost @ np.abs(found.x) + lp.upper @ slack
    scale = max(1.0, float(np.max(np.abs(lp.columns.T @ found.duals) / lp.cost)))
    assert (objective - lp.targets @ found.duals / scale) / objective <= 1e-8
    assert np.all((found.duals >= 0.0) & (found.duals <= lp.upper))
    assert abs(lp.signs @ found.duals) <= 1e-6 * lp.upper.sum()
    assert len(path.iterates[0][1].u) < N  # it was the problem of some rows


def test_solves_go_on_from_its_iterates(lp: DenseMarginLP, near: InteriorPath) -> None:
    path = solve_near_margin(lp, near.iterates[-1][1], tol=1e-4)
    assert path is not None
    iterate = path.at_gap(1e-2)
    assert len(iterate.u) == N
    assert np.all((iterate.u > 0.0) & (iterate.u < lp.upper))
    assert np.all((iterate.over > 0.0) & (iterate.under > 0.0))
    again = solve_interior(lp, iterate, tol=1e-8)
    assert again.best.gap <= 1e-8


@pytest.mark.parametrize("fewest", [20, 40])  # the first is doubled; both grow
def test_violated_rows_join_the_part(
    lp: DenseMarginLP, near: InteriorPath, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = near.iterates[-1][1]
    whole = solve_interior(lp, start, tol=1e-9).best
    monkeypatch.setattr("kboost.solvers.row_generation._PER_COLUMN", 0)
    monkeypatch.setattr("kboost.solvers.row_generation._FEWEST", fewest)
    path = solve_near_margin(lp, start, tol=1e-8)
    assert isinstance(path, PartPath)
    assert path.before is not None
    np.testing.assert_allclose(path.best.objective, whole.objective, rtol=1e-8)
    assert path.best.gap <= 1e-8
    assert len(path.before.iterates[0][1].u) < len(path.iterates[0][1].u) < N
    assert len(path.at_gap(1e-2).u) == N  # of the smaller part, if the last began below this gap


def test_coefficients_nearer_the_optimum_choose_the_rows(
    lp: DenseMarginLP, near: InteriorPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = solve_interior(lp, near.iterates[-1][1], tol=1e-9).best
    monkeypatch.setattr("kboost.solvers.row_generation._PER_COLUMN", 0)
    monkeypatch.setattr("kboost.solvers.row_generation._FEWEST", 60)
    start = near.iterates[-1][1]
    path = solve_near_margin(lp, start, (whole.x, whole.bias), tol=1e-8)
    assert isinstance(path, PartPath)
    assert path.before is None  # no row was missing
    assert len(path.iterates[0][1].u) == 60
    np.testing.assert_allclose(path.best.objective, whole.objective, rtol=1e-8)


def test_no_solution_far_from_the_optimum(lp: DenseMarginLP) -> None:
    start = begin(lp, np.full(K, -1.0), 0.0, 0.5 * lp.upper)
    assert solve_near_margin(lp, start, tol=1e-6) is None


@pytest.mark.parametrize("mu", [1.0, 1e-6])
def test_centered_rows(mu: float) -> None:
    upper = np.array([2.0, 2.0, 0.5, 1.0, 1.0])
    residual = np.array([0.0, 3.0, -4.0, 1e-3, -1e-3])
    over, under, u = centered_rows(upper, residual, mu)
    np.testing.assert_allclose(under * u, mu, rtol=1e-9)
    np.testing.assert_allclose(over - under, residual, rtol=1e-9, atol=1e-9)
    assert np.all((u > 0.0) & (u < upper))
