"""The margin QP against an independent solver, cold and warm, with its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows, hinge, nu_margin, nu_tube, tube
from kboost.solvers.margin_lp import MarginData
from kboost.solvers.margin_qp import MarginQP
from tests.contracts.reference import margin_qp, margin_qp_objective

INTERCEPTS = ("free", "penalized", "none")
VARIANTS = pytest.mark.parametrize(
    ("nonnegative", "intercept"),
    [(sign, offset) for sign in (False, True) for offset in INTERCEPTS],
)


def make_rows(kind, y, real, weight):
    if kind == "hinge":
        return hinge(y, weight, 0.7)
    if kind == "targets":
        targets = np.random.default_rng(5).uniform(-0.5, 1.5, len(y))
        return MarginRows(y, targets, weight)
    if kind == "tube":
        return tube(real, weight, 0.8, 0.2)
    if kind == "nu tube":
        return nu_tube(real, weight, 0.8, 0.3)
    return nu_margin(y, weight, 0.4)


def draw(seed, kind="hinge", n=30, k=12):
    rng = np.random.default_rng(seed)
    H = rng.normal(size=(n, k)) * rng.uniform(0.2, 3.0, k) + 0.3
    real = H[:, 0] - 0.5 * H[:, 1] + rng.normal(size=n)
    y = np.where(real > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return H, make_rows(kind, y, real, rng.uniform(0.3, 2.0, n))


def start(rows, nonnegative=False, intercept="free"):
    margin_width = (
        None if rows.margin_width is None else (rows.margin_width.sign, rows.margin_width.cost)
    )
    data = MarginData(
        rows.signs, rows.targets, rows.slack_costs, nonnegative, intercept, margin_width
    )
    return MarginQP(data, 0.5 * rows.slack_costs, rows.sample)


def objective(H, rows, found, intercept):
    return margin_qp_objective(H, rows, found.coef, found.bias, intercept, found.margin_width)


@VARIANTS
@pytest.mark.parametrize("kind", ["hinge", "targets", "tube", "nu tube", "nu margin"])
def test_the_optimum_warm_and_cold(kind, nonnegative, intercept):
    H, rows = draw(0, kind)
    warm = start(rows, nonnegative, intercept)
    for k in (0, 3, 4, 12):
        warm.extend(H[:, warm.columns.shape[1] : k])
        cold = start(rows, nonnegative, intercept)
        cold.extend(H[:, :k])
        optimum = margin_qp(H[:, :k], rows, nonnegative, intercept).objective
        for found in (warm.solve(), cold.solve()):
            value = objective(H[:, :k], rows, found, intercept)
            assert_allclose(value, optimum, rtol=1e-8, atol=1e-9)
            assert found.gap <= 1e-9


@VARIANTS
@pytest.mark.parametrize("kind", ["hinge", "targets", "tube", "nu tube"])
@pytest.mark.parametrize("seed", range(3))
def test_the_conditions_of_optimality(kind, nonnegative, intercept, seed):
    H, rows = draw(seed, kind)
    qp = start(rows, nonnegative, intercept)
    qp.extend(H)
    found = qp.solve()
    u = found.duals
    assert (u >= 0).all()
    assert (u <= rows.slack_costs).all()
    edges = rows.signed(H).T @ u
    expected = np.maximum(edges, 0.0) if nonnegative else edges
    assert_allclose(found.coef, expected, atol=1e-6 * np.abs(edges).max())
    balance = {"free": 0.0, "penalized": found.bias, "none": rows.signs @ u}[intercept]
    assert_allclose(rows.signs @ u, balance, atol=1e-7)
    decision = H @ found.coef + found.bias
    slack = rows.slack(decision, found.margin_width)
    assert_allclose(u[slack > 1e-5], rows.slack_costs[slack > 1e-5], rtol=1e-6)
    margin = rows.signs * rows.per_row(decision) - rows.targets
    if rows.margin_width is not None:
        margin = margin + rows.margin_width.sign * found.margin_width
        assert u.sum() <= rows.margin_width.cost * (1 + 1e-9)
    assert_allclose(u[margin > 1e-5], 0.0, atol=1e-8)


@pytest.mark.parametrize("shape", [(20, 60), (120, 5), (40, 40)])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_few_and_many_rows_small_and_large_prices(shape, C, nonnegative):
    H, _ = draw(3, n=shape[0], k=shape[1])
    y = np.where(np.random.default_rng(0).random(shape[0]) < 0.5, 1.0, -1.0)
    rows = hinge(y, np.ones(shape[0]), C)
    qp = start(rows, nonnegative)
    qp.extend(H)
    found = qp.solve()
    optimum = margin_qp(H, rows, nonnegative).objective
    assert_allclose(objective(H, rows, found, "free"), optimum, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("kind", ["hinge", "tube"])
def test_units_do_not_matter(scale, kind):
    """Columns in other units, slack prices to match: the same coefficients times the unit."""
    H, rows = draw(1, kind)
    other = MarginRows(rows.signs, rows.targets, rows.slack_costs / scale**2, rows.sample)
    plain, scaled = start(rows), start(other)
    plain.extend(H)
    scaled.extend(scale * H)
    one, two = plain.solve(), scaled.solve()
    assert_allclose(two.coef * scale, one.coef, rtol=1e-5, atol=1e-7)
    assert_allclose(two.bias, one.bias, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("k", [7, 14, 28])
@pytest.mark.parametrize("C", [0.01, 50.0])
def test_columns_as_they_come_of_rows_of_very_different_sizes(k, C):
    """Cubic columns of unscaled features: near a vertex, and with a margin that is nearly hard."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(60, 4)) * np.array([1.0, 2.0, 4.0, 8.0])
    y = np.where(X[:, 1] + 0.02 * X[:, 3] + 2.0 * rng.normal(size=60) > 0, 1.0, -1.0)
    H = (1.0 + X @ X[:k].T) ** 3
    size = np.linalg.norm(H, axis=1)
    assert size.max() > 1e3 * size.min()
    rows = hinge(y, np.ones(60), C)
    qp = start(rows)
    qp.extend(H)
    found = qp.solve().checked()
    optimum = margin_qp(H, rows).objective
    assert_allclose(objective(H, rows, found, "free"), optimum, rtol=1e-8)


def test_equal_rows_equal_columns_and_columns_of_zeros():
    H, rows = draw(2)
    twice = np.r_[np.arange(30), np.arange(30)]
    H = np.column_stack([H, H[:, :4], np.zeros(30)])[twice]
    doubled = MarginRows(rows.signs[twice], rows.targets[twice], rows.slack_costs[twice])
    for nonnegative in (False, True):
        qp = start(doubled, nonnegative)
        qp.extend(H)
        found = qp.solve()
        optimum = margin_qp(H, doubled, nonnegative).objective
        assert_allclose(objective(H, doubled, found, "free"), optimum, rtol=1e-8)
        assert_allclose(found.coef[:4], found.coef[12:16], atol=1e-7)
        assert found.coef[16] == 0.0


@pytest.mark.parametrize("factor", [0.01, 0.5, 30.0])
@pytest.mark.parametrize("kind", ["hinge", "nu tube"])
def test_other_slack_costs_from_the_warm_state(factor, kind):
    H, rows = draw(4, kind)
    qp = start(rows)
    qp.extend(H)
    qp.solve()
    other = rows.with_scaled_costs(factor)
    margin_width = (
        None if other.margin_width is None else (other.margin_width.sign, other.margin_width.cost)
    )
    qp.scale_slack_costs(
        MarginData(other.signs, other.targets, other.slack_costs, False, "free", margin_width)
    )
    optimum = margin_qp(H, other).objective
    assert_allclose(objective(H, other, qp.solve(), "free"), optimum, rtol=1e-8, atol=1e-10)


def test_a_second_solve_takes_no_step():
    H, rows = draw(0)
    qp = start(rows)
    qp.extend(H)
    first, second = qp.solve(), qp.solve()
    assert first.steps > 0
    assert second.steps == 0
    assert_array_equal(first.coef, second.coef)


def test_columns_are_kept_as_given_whatever_their_number():
    H, rows = draw(0, k=200)
    qp = start(rows, intercept="penalized")
    for block in np.array_split(np.arange(200), 7):
        qp.extend(H[:, block])
    assert_array_equal(qp.columns, H)


def test_out_of_time_leaves_the_last_solution():
    H, rows = draw(0)
    qp = start(rows)
    qp.extend(H[:, :3])
    before = qp.solve()
    qp.extend(H[:, 3:])
    with pytest.raises(OutOfTimeError):
        qp.solve(seconds=0.0)
    assert_array_equal(qp.duals, before.duals)
    optimum = margin_qp(H, rows).objective
    assert_allclose(objective(H, rows, qp.solve(), "free"), optimum, rtol=1e-8)


@pytest.mark.parametrize("kind", ["hinge", "tube"])
def test_columns_far_from_0_with_a_free_bias(kind):
    H, rows = draw(7, kind)
    far = H + np.array([3e8, 1e7, *np.zeros(H.shape[1] - 2)])
    found, moved = [], []
    for columns, results in ((H, found), (far, moved)):
        qp = start(rows)
        for part in np.hsplit(columns, [5]):
            qp.extend(part)
            results.append(qp.solve().checked())
        assert_allclose(qp.columns, columns, rtol=1e-15)
    assert_allclose(moved[-1].coef, found[-1].coef, atol=1e-5)
    assert_allclose(moved[-1].bias + (far - H)[0] @ moved[-1].coef, found[-1].bias, atol=1e-5)
    qp.start_from(moved[-1].coef, moved[-1].bias)
    assert qp.solve().steps <= 2
