"""The interior point against linprog, cold and warm."""

import numpy as np
import pytest

from kboost.formulations import MarginRows
from kboost.solvers.interior import DenseMarginLP, solve_interior
from tests.contracts.reference import margin_lp


def problem(seed, n=60, k=15, *, two_sided=True, free_bias=True, spread=0.0):
    """Random columns of very different sizes where `spread` is large."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], n)
    H = rng.normal(size=(n, k)) * np.exp(spread * rng.normal(size=k))
    rows = MarginRows(signs, rng.uniform(0.3, 1.5, n), rng.uniform(0.2, 3.0, n))
    size = np.sqrt((H**2).mean(axis=0))
    lp = DenseMarginLP(
        columns=np.asfortranarray(signs[:, None] * H / size),
        signs=signs,
        targets=rows.targets,
        caps=rows.caps,
        cost=1.0 / size,
        two_sided=np.full(k, two_sided),
        free_bias=free_bias,
    )
    return H, rows, lp


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("free_bias", [True, False])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_optimum_and_duals(seed, two_sided, free_bias, spread):
    H, rows, lp = problem(seed, two_sided=two_sided, free_bias=free_bias, spread=spread)
    found = solve_interior(lp, np.zeros(15), 0.0, 0.5 * rows.caps, tol=1e-8)
    optimum = margin_lp(H, rows, not two_sided, "free" if free_bias else "none").objective
    assert found.gap <= 1e-8
    assert lp.objective(found.x, found.bias) == pytest.approx(optimum, rel=1e-7)
    assert (found.duals > 0).all()
    assert (found.duals < rows.caps).all()
    assert rows.targets @ found.duals == pytest.approx(optimum, rel=1e-6)
    if free_bias:
        assert abs(rows.signs @ found.duals) <= 1e-8 * found.duals.sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_needs_fewer_steps(seed):
    _, rows, lp = problem(seed)
    cold = solve_interior(lp, np.zeros(15), 0.0, 0.5 * rows.caps, tol=1e-6)
    near = solve_interior(lp, np.zeros(15), 0.0, 0.5 * rows.caps, tol=0.05)
    warm = solve_interior(lp, near.x, near.bias, near.duals, tol=1e-6)
    assert warm.gap <= 1e-6
    assert warm.steps < cold.steps


def test_no_time_gives_the_start_back():
    _, rows, lp = problem(0)
    found = solve_interior(lp, np.zeros(15), 0.0, 0.5 * rows.caps, tol=1e-8, seconds=-1.0)
    assert found.steps == 0
    assert np.isfinite(lp.objective(found.x, found.bias))


def test_dependent_columns_do_no_harm():
    H, rows, lp = problem(1, k=8)
    doubled = DenseMarginLP(
        np.asfortranarray(np.hstack([lp.columns, lp.columns])),
        *(lp.signs, lp.targets, lp.caps, np.tile(lp.cost, 2), np.tile(lp.two_sided, 2), True),
    )
    found = solve_interior(doubled, np.zeros(16), 0.0, 0.5 * rows.caps, tol=1e-8)
    optimum = margin_lp(H, rows).objective
    assert doubled.objective(found.x, found.bias) == pytest.approx(optimum, rel=1e-7)
