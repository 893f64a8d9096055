"""The interior point against linprog, cold and warm."""

from dataclasses import replace

import numpy as np
import pytest

from kboost.formulations import MarginRows
from kboost.solvers.interior_point import begin, resume, solve_interior
from kboost.solvers.predictor_corrector import DenseMarginLP
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
        upper=rows.slack_costs,
        cost=1.0 / size,
        two_sided=np.full(k, two_sided),
        free_bias=free_bias,
    )
    return H, rows, lp


def cold(lp):
    return begin(lp, np.zeros(len(lp.cost)), 0.0, 0.5 * lp.upper)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("free_bias", [True, False])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_optimum_and_duals(seed, two_sided, free_bias, spread):
    H, rows, lp = problem(seed, two_sided=two_sided, free_bias=free_bias, spread=spread)
    found = solve_interior(lp, cold(lp), tol=1e-8).best
    optimum = margin_lp(H, rows, not two_sided, "free" if free_bias else "none").objective
    assert found.gap <= 1e-8
    assert lp.objective(found.x, found.bias) == pytest.approx(optimum, rel=1e-7)
    assert (found.duals > 0).all()
    assert (found.duals < rows.slack_costs).all()
    assert rows.targets @ found.duals == pytest.approx(optimum, rel=1e-6)
    if free_bias:
        assert abs(rows.signs @ found.duals) <= 1e-8 * found.duals.sum()


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_needs_fewer_steps(seed):
    _, _, lp = problem(seed)
    whole = solve_interior(lp, cold(lp), tol=1e-6)
    near = solve_interior(lp, cold(lp), tol=0.05).best
    warm = solve_interior(lp, begin(lp, near.x, near.bias, near.duals), tol=1e-6)
    assert warm.best.gap <= 1e-6
    assert len(warm.iterates) < len(whole.iterates)


def some_columns(lp, ids):
    return replace(
        lp,
        columns=np.asfortranarray(lp.columns[:, ids]),
        cost=lp.cost[ids],
        two_sided=lp.two_sided[ids],
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("two_sided", [True, False])
def test_resuming_with_other_columns(seed, two_sided):
    """Columns come and go; the optimum is that of the new set, reached from where it was."""
    H, rows, lp = problem(seed, k=24, two_sided=two_sided)
    before, after = np.arange(18), np.arange(3, 24)
    old, new = some_columns(lp, before), some_columns(lp, after)
    place = np.where(after < 18, after, -1)
    path = solve_interior(old, cold(old), tol=1e-6)
    start = resume(new, old, path.at_gap(0.1), place, gap=0.1)
    assert (start.v > 0).all()
    assert (start.z > 0).all()
    found = solve_interior(new, start, tol=1e-8)
    optimum = margin_lp(H[:, after], rows, not two_sided).objective
    assert new.objective(found.best.x, found.best.bias) == pytest.approx(optimum, rel=1e-7)


def test_resuming_with_the_same_columns_changes_nothing():
    _, _, lp = problem(0)
    path = solve_interior(lp, cold(lp), tol=1e-3)
    iterate = path.at_gap(0.05)
    again = resume(lp, lp, iterate, np.arange(15), gap=0.1)
    for name in ("v", "z", "over", "under", "u"):
        np.testing.assert_array_equal(getattr(again, name), getattr(iterate, name))


def test_iterates_by_their_gap():
    _, _, lp = problem(0)
    path = solve_interior(lp, cold(lp), tol=1e-6)
    gaps = [gap for gap, _ in path.iterates]
    assert min(gaps) == path.best.gap
    wanted = 0.5 * (gaps[2] + gaps[3])
    assert path.at_gap(wanted) is path.iterates[2][1]
    assert path.at_gap(np.inf) is path.iterates[0][1]


def test_without_time_the_start_is_returned():
    _, _, lp = problem(0)
    found = solve_interior(lp, cold(lp), tol=1e-8, seconds=-1.0)
    assert len(found.iterates) == 1
    assert np.isfinite(found.best.objective)


def test_dependent_columns_do_no_harm():
    H, rows, lp = problem(1, k=8)
    doubled = DenseMarginLP(
        np.asfortranarray(np.hstack([lp.columns, lp.columns])),
        *(lp.signs, lp.targets, lp.upper, np.tile(lp.cost, 2), np.tile(lp.two_sided, 2), True),
    )
    found = solve_interior(doubled, cold(doubled), tol=1e-8).best
    optimum = margin_lp(H, rows).objective
    assert doubled.objective(found.x, found.bias) == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("n_other", [0, 1, 2])
def test_mirrored_rows_give_the_same_normal_matrix(n_other):
    rng = np.random.default_rng(0)
    _, _, lp = problem(0, n=40, k=6)
    above = lp.columns[:20]
    columns = np.vstack([above, -above])
    columns[:, 6 - n_other :] = rng.normal(size=(40, n_other))
    mirrored = replace(lp, columns=np.asfortranarray(columns))
    weights = rng.uniform(0.1, 2.0, 40)
    expected = columns.T @ (weights[:, None] * columns)
    assert mirrored.n_mirrored == 6 - n_other
    np.testing.assert_allclose(np.tril(mirrored.normal(weights)), np.tril(expected), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("price", [1e-4, 1e-6, 1e-7])
def test_a_column_may_be_the_bias(seed, price):
    """The system of a step is all but singular then: its last pivot is the column's own."""
    H, rows, lp = problem(seed)
    both = replace(
        lp,
        columns=np.asfortranarray(np.column_stack([lp.columns, lp.signs])),
        cost=np.append(lp.cost, price),
        two_sided=np.append(lp.two_sided, True),
    )
    found = solve_interior(both, cold(both), tol=1e-8).best
    assert found.gap <= 1e-8
    # the bias is free, so the column that is like it does not pay
    assert found.objective == pytest.approx(margin_lp(H, rows, False, "free").objective, rel=1e-7)
