"""Rows of a formulation against the formula it stands for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mean_pinball_loss

from kboost.formulations import MarginRows, hinge, nu_margin, nu_tube, pinball, tube

SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, n=9):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.uniform(0.1, 3, n), 2 * rng.normal(size=n)


@given(seed=SEEDS, C=st.floats(1e-3, 1e3))
def test_hinge_rows_are_the_hinge_loss(seed, C):
    y, w, f = draw(seed)
    rows = hinge(y, w, C)
    loss = C * sum(wi * max(0.0, 1.0 - yi * fi) for yi, wi, fi in zip(y, w, f, strict=True))
    assert_allclose(rows.slack_costs @ rows.slack(f), loss, rtol=1e-12, atol=1e-15)
    assert_array_equal(rows.signs, y)
    assert_array_equal(rows.targets, 1.0)


@given(seed=SEEDS, tau=st.floats(0.01, 0.99))
def test_pinball_rows_are_the_pinball_loss(seed, tau):
    _, w, f = draw(seed)
    y = f[::-1] + 0.5
    rows = pinball(y, w, 0.7, tau)
    loss = 0.7 * w.sum() * mean_pinball_loss(y, f, sample_weight=w, alpha=tau)
    assert_allclose(rows.slack_costs @ rows.slack(f), loss, rtol=1e-12, atol=1e-15)


@given(seed=SEEDS)
def test_slacks_are_the_least_that_satisfy_the_rows(seed):
    y, w, f = draw(seed)
    rows = MarginRows(y, f[::-1].copy(), w)
    slack = rows.slack(f)
    assert (slack >= 0).all()
    assert (y * f + slack >= rows.targets - 1e-12).all()
    tight = slack > 0
    assert_allclose((y * f + slack)[tight], rows.targets[tight], rtol=1e-12, atol=1e-12)


@given(seed=SEEDS)
def test_a_row_given_twice_is_a_row_of_weight_two(seed):
    y, w, f = draw(seed)
    count = np.random.default_rng(seed).integers(1, 4, size=len(y))
    repeated = hinge(np.repeat(y, count), np.repeat(w, count), 0.7)
    merged = hinge(y, w * count, 0.7)
    assert_allclose(
        repeated.slack_costs @ repeated.slack(np.repeat(f, count)),
        merged.slack_costs @ merged.slack(f),
        rtol=1e-12,
    )


def test_error_points_have_a_slack_beyond_rounding():
    rows = hinge(np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), 2.0)
    assert_array_equal(rows.errors(np.array([1 - 1e-9, -1.5, 0.9, 1.0])), [0, 0, 1, 1])


def test_a_sample_is_an_error_point_on_either_side_of_the_tube():
    y, f = np.array([0.0, 0.0, 0.0, 1e6]), np.array([0.3, -0.3, 0.1, 1e6 + 0.2 + 1e-9])
    assert_array_equal(tube(y, np.ones(4), 1.0, 0.2).errors(f), [1, 1, 0, 0])
    assert_array_equal(nu_tube(y, np.ones(4), 1.0, 0.5).errors(f, margin_width=0.25), [1, 1, 0, 0])


def test_error_points_of_a_margin_that_is_found():
    rows = nu_margin(np.array([1.0, -1.0, 1.0]), np.ones(3), 0.5)
    assert_array_equal(rows.errors(np.array([0.2, -0.2, 0.1]), margin_width=0.2), [0, 0, 1])
