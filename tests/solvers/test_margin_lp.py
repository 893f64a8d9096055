"""Both shapes of the margin LP against linprog, and its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kboost.formulations import MarginRows
from kboost.solvers.margin_lp import ColumnShape, MarginData, SampleShape
from tests.contracts.reference import margin_lp, margin_objective

SHAPES = pytest.mark.parametrize("shape", [ColumnShape, SampleShape])
VARIANTS = pytest.mark.parametrize(
    ("nonnegative", "intercept"),
    [(sign, offset) for sign in (False, True) for offset in ("free", "penalized", "none")],
)
SEEDS = st.integers(0, 2**32 - 1)


def random_rows(rng, n):
    """Random caps and targets; then the optimum is one vertex, in primal and dual."""
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return MarginRows(signs, rng.uniform(-0.5, 1.5, n), rng.uniform(0.05, 2.0, n))


def start(shape, rows, nonnegative, intercept):
    return shape(MarginData(rows.signs, rows.targets, rows.slack_costs, nonnegative, intercept))


def check_kkt(vertex, H, rows, nonnegative, intercept, tol=1e-7):
    """Feasibility on both sides, and no gap."""
    u, decision = vertex.duals, H @ vertex.coef + vertex.bias
    edges = H.T @ (rows.signs * u)
    balance = rows.signs @ u
    slack = rows.slack(decision)
    assert (u >= -tol).all()
    assert (u <= rows.slack_costs + tol).all()
    assert (edges <= 1 + tol).all()
    if nonnegative:
        assert (vertex.coef >= -tol).all()
    else:
        assert (edges >= -1 - tol).all()
    # a column in use is tight, on the side of its sign
    used = np.abs(vertex.coef) > 1e-6
    assert_allclose(edges[used], np.sign(vertex.coef[used]), atol=tol)
    # a row with slack has its dual at the cap, a row beyond its target has none
    assert_allclose(u[slack > 1e-6], rows.slack_costs[slack > 1e-6], atol=tol)
    beyond = rows.signs * decision > rows.targets + 1e-6
    assert_allclose(u[beyond], 0.0, atol=tol)
    if intercept == "free":
        assert_allclose(balance, 0.0, atol=tol)
    elif intercept == "penalized":
        assert abs(balance) <= 1 + tol
        if abs(vertex.bias) > 1e-6:
            assert_allclose(balance, np.sign(vertex.bias), atol=tol)
    else:
        assert vertex.bias == 0.0
    primal = margin_objective(H, rows, vertex.coef, vertex.bias, intercept)
    assert_allclose(rows.targets @ u, primal, rtol=1e-7, atol=1e-7)
    return primal


@SHAPES
@VARIANTS
@settings(max_examples=12)
@given(seed=SEEDS, n=st.integers(1, 14), steps=st.lists(st.integers(0, 5), min_size=1, max_size=3))
def test_growing_equals_linprog(shape, nonnegative, intercept, seed, n, steps):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, n)
    H = rng.normal(size=(n, sum(steps)))
    lp = start(shape, rows, nonnegative, intercept)
    used = 0
    for size in [0, *steps]:
        lp.extend(rows.signed(H[:, used : used + size]))
        used += size
        vertex = lp.solve()
        expected = margin_lp(H[:, :used], rows, nonnegative, intercept)
        assert vertex.coef.shape == (used,)
        objective = check_kkt(vertex, H[:, :used], rows, nonnegative, intercept)
        assert_allclose(objective, expected.objective, rtol=1e-7, atol=1e-8)
    if used:
        assert_allclose(vertex.coef, expected.coef, atol=1e-6)
        assert_allclose(vertex.duals, expected.duals, atol=1e-6)


@SHAPES
@VARIANTS
@pytest.mark.parametrize("seed", range(3))
def test_the_bias_is_linprogs(shape, nonnegative, intercept, seed):
    rng = np.random.default_rng(seed)
    rows, H = random_rows(rng, 25), rng.normal(size=(25, 6))
    lp = start(shape, rows, nonnegative, intercept)
    lp.extend(rows.signed(H))
    assert_allclose(
        lp.solve().bias, margin_lp(H, rows, nonnegative, intercept).bias, rtol=1e-7, atol=1e-8
    )


@VARIANTS
@pytest.mark.parametrize("seed", range(4))
def test_both_shapes_are_one_problem(nonnegative, intercept, seed):
    rng = np.random.default_rng(seed)
    rows, H = random_rows(rng, 30), rng.normal(size=(30, 12))
    found = []
    for shape in (ColumnShape, SampleShape):
        lp = start(shape, rows, nonnegative, intercept)
        for block in np.split(H, 3, axis=1):
            lp.extend(rows.signed(block))
            vertex = lp.solve()
        found.append(vertex)
    for name in ("coef", "bias", "duals"):
        left, right = (getattr(vertex, name) for vertex in found)
        assert_allclose(left, right, atol=1e-6)


@SHAPES
@VARIANTS
def test_zero_columns_get_no_coefficient(shape, nonnegative, intercept):
    rng = np.random.default_rng(5)
    rows = random_rows(rng, 10)
    H = rng.normal(size=(10, 5))
    H[:, [0, 3]] = 0.0
    lp = start(shape, rows, nonnegative, intercept)
    lp.extend(rows.signed(H))
    vertex = lp.solve()
    assert_allclose(vertex.coef[[0, 3]], 0.0, atol=1e-12)
    check_kkt(vertex, H, rows, nonnegative, intercept)


@SHAPES
@VARIANTS
@pytest.mark.parametrize("seed", range(4))
def test_degenerate_problems_are_solved_too(shape, nonnegative, intercept, seed):
    """Equal rows, equal columns, opposite columns, all targets and caps alike."""
    rng = np.random.default_rng(seed)
    half = rng.integers(-1, 2, size=(8, 4)).astype(float)
    H = np.vstack([half, half])
    H = np.hstack([H, H[:, :2], -H[:, 2:]])
    signs = np.tile(np.where(rng.random(8) < 0.5, 1.0, -1.0), 2)
    signs[:2] = 1.0, -1.0
    rows = MarginRows(signs, np.ones(16), np.full(16, 0.5))
    lp = start(shape, rows, nonnegative, intercept)
    for block in np.split(H, 4, axis=1):
        lp.extend(rows.signed(block))
        vertex = lp.solve()
    objective = check_kkt(vertex, H, rows, nonnegative, intercept)
    expected = margin_lp(H, rows, nonnegative, intercept).objective
    assert_allclose(objective, expected, rtol=1e-8, atol=1e-8)
