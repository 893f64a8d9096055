"""The warm linear program: growing equals a cold start; failures raise clear errors."""

from __future__ import annotations

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from kboost.exceptions import OutOfTimeError, SolverError
from kboost.solvers.highs import INFINITY, GrowingLP

Status = highspy.HighsModelStatus


def cold(cost, A, row_lower, row_upper, lower, upper):
    """The same program by linprog."""
    above, below = np.isfinite(row_upper), np.isfinite(row_lower)
    return linprog(
        cost,
        A_ub=np.vstack([A[above], -A[below]]),
        b_ub=np.concatenate([row_upper[above], -row_lower[below]]),
        bounds=np.column_stack([lower, upper]),
        method="highs",
    )


def feasible(rng, n_rows, n_variables):
    """A bounded program with some zeros in it, which 0 solves feasibly."""
    A = rng.normal(size=(n_rows, n_variables)) * (rng.random((n_rows, n_variables)) < 0.8)
    row_lower, row_upper = -rng.uniform(0.1, 1, n_rows), rng.uniform(0.1, 1, n_rows)
    row_lower[rng.random(n_rows) < 0.3] = -INFINITY
    cost = rng.normal(size=n_variables)
    return A, row_lower, row_upper, cost, -rng.uniform(0, 2, n_variables), np.ones(n_variables)


def check_optimal(found, A, row_lower, row_upper, cost, lower, upper):
    """Feasible, and the reduced costs and row multipliers have the signs of an optimum."""
    x, y = found.values, found.row_duals
    activity = A @ x
    assert (activity >= row_lower - 1e-8).all()
    assert (activity <= row_upper + 1e-8).all()
    assert (x >= lower - 1e-9).all()
    assert (x <= upper + 1e-9).all()
    reduced = cost - A.T @ y
    assert (reduced[x > lower + 1e-7] <= 1e-8).all()
    assert (reduced[x < upper - 1e-7] >= -1e-8).all()
    assert (y[activity > row_lower + 1e-7] <= 1e-8).all()
    assert (y[activity < row_upper - 1e-7] >= -1e-8).all()
    assert_allclose(found.objective, cost @ x, rtol=1e-10, atol=1e-12)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), steps=st.lists(st.integers(0, 4), max_size=4))
def test_growing_by_rows_equals_a_cold_solve(seed, steps):
    rng = np.random.default_rng(seed)
    A, row_lower, row_upper, cost, lower, upper = feasible(rng, 1 + sum(steps), 7)
    lp = GrowingLP(cost, lower, upper)
    used = 0
    for size in [1, *steps]:
        part = slice(used, used + size)
        lp.add_rows(A[part], row_lower[part], row_upper[part])
        used += size
        program = (A[:used], row_lower[:used], row_upper[:used])
        found = lp.solve()
        assert (lp.n_rows, lp.n_variables) == (used, 7)
        check_optimal(found, *program, cost, lower, upper)
        expected = cold(cost, *program, lower, upper)
        assert_allclose(found.objective, expected.fun, rtol=1e-8, atol=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), steps=st.lists(st.integers(0, 4), max_size=4))
def test_growing_by_variables_equals_a_cold_solve(seed, steps):
    rng = np.random.default_rng(seed)
    A, row_lower, row_upper, cost, lower, upper = feasible(rng, 5, 2 + sum(steps))
    lp = GrowingLP(cost[:2], lower[:2], upper[:2])
    lp.add_rows(A[:, :2], row_lower, row_upper)
    used = 2
    for size in [0, *steps]:
        part = slice(used, used + size)
        lp.add_variables(A[:, part], cost[part], lower[part], upper[part])
        used += size
        found = lp.solve()
        assert (lp.n_rows, lp.n_variables) == (5, used)
        check_optimal(
            found, A[:, :used], row_lower, row_upper, cost[:used], lower[:used], upper[:used]
        )
        expected = cold(cost[:used], A[:, :used], row_lower, row_upper, lower[:used], upper[:used])
        assert_allclose(found.objective, expected.fun, rtol=1e-8, atol=1e-9)


def small():
    lp = GrowingLP(-np.ones(3), np.zeros(3), np.ones(3))
    lp.add_rows(np.ones((1, 3)), np.array([-INFINITY]), np.array([2.0]))
    return lp


class Failing:
    """A HiGHS model that claims to have failed for the first `failures` runs."""

    def __init__(self, model, failures, status=Status.kUnknown):
        self._model, self._failures, self._status = model, failures, status
        self.runs, self.cleared = 0, 0

    def run(self):
        self.runs += 1
        return self._model.run()

    def clearSolver(self):
        self.cleared += 1
        return self._model.clearSolver()

    def getModelStatus(self):
        return self._status if self.runs <= self._failures else self._model.getModelStatus()

    def __getattr__(self, name):
        return getattr(self._model, name)


def test_first_success_is_taken(monkeypatch):
    lp = small()
    monkeypatch.setattr(lp, "_model", Failing(lp._model, 0))
    assert lp.solve().objective == pytest.approx(-2.0)
    assert (lp._model.runs, lp._model.cleared) == (1, 0)


def test_one_failure_is_retried_from_scratch(monkeypatch):
    lp = small()
    monkeypatch.setattr(lp, "_model", Failing(lp._model, 1))
    found = lp.solve()
    assert found.objective == pytest.approx(-2.0)
    assert found.values.sum() == pytest.approx(2.0)
    assert (lp._model.runs, lp._model.cleared) == (2, 1)


def test_two_failures_are_an_error(monkeypatch):
    lp = small()
    monkeypatch.setattr(lp, "_model", Failing(lp._model, 2))
    with pytest.raises(SolverError, match=r"HiGHS ended twice .* 1 rows and 3 variables\.") as said:
        lp.solve()
    assert highspy.Highs().modelStatusToString(Status.kUnknown) in str(said.value)
    assert (lp._model.runs, lp._model.cleared) == (2, 1)


def test_an_infeasible_program_is_an_error():
    lp = small()
    lp.add_rows(np.ones((1, 3)), np.array([5.0]), np.array([INFINITY]))
    with pytest.raises(SolverError, match="Infeasible"):
        lp.solve()


def test_a_time_limit_is_not_retried(monkeypatch):
    lp = small()
    monkeypatch.setattr(lp, "_model", Failing(lp._model, 1, Status.kTimeLimit))
    with pytest.raises(OutOfTimeError, match=r"not solved within 2\.5 s\."):
        lp.solve(2.5)
    assert lp._model.runs == 1


def test_a_time_limit_that_was_not_set_is_a_failure(monkeypatch):
    lp = small()
    monkeypatch.setattr(lp, "_model", Failing(lp._model, 2, Status.kTimeLimit))
    with pytest.raises(SolverError, match="HiGHS ended twice with status 'Time limit reached'"):
        lp.solve()


def worked(times=10):
    """A program that was solved `times` times, from scratch each time."""
    rng = np.random.default_rng(0)
    lp = GrowingLP(-np.ones(100), np.zeros(100), np.ones(100))
    lp.add_rows(rng.normal(size=(50, 100)), -np.ones(50), np.ones(50))
    for _ in range(times):
        lp._model.clearSolver()
        found = lp.solve()
    lp._model.clearSolver()
    return lp, found


def test_no_time_is_out_of_time():
    with pytest.raises(OutOfTimeError, match="not solved within 0 s"):
        worked(1)[0].solve(0.0)


def test_the_limit_counts_from_the_call_not_from_the_first_solve():
    """HiGHS's clock runs on over all solves; a budget below what was spent is enough for one."""
    lp, before = worked()
    again = lp.solve(0.9 * lp._model.getRunTime())
    assert_allclose(again.objective, before.objective, rtol=1e-9)


def test_time_spent_before_is_not_a_credit():
    """If the clock started anew at each solve, no time left would look like plenty."""
    lp, before = worked()
    with pytest.raises(OutOfTimeError):
        lp.solve(0.0)
    assert_allclose(lp.solve().objective, before.objective, rtol=1e-9)  # the model goes on


@pytest.mark.parametrize("value", [1e15, -1e18, 1e300, np.inf])
def test_entries_that_highs_rejects_raise(value):
    lp = small()
    with pytest.raises(SolverError, match="scale the features or the columns"):
        lp.add_rows(np.array([[1.0, value, 1.0]]), np.array([-1.0]), np.array([1.0]))
    with pytest.raises(SolverError, match="scale the features or the columns"):
        lp.add_variables(np.array([[value]]), np.ones(1), np.zeros(1), np.ones(1))
    assert lp.solve().objective == pytest.approx(-2.0)


def test_vanishing_entries_do_no_harm():
    lp = small()
    lp.add_rows(np.array([[1.0, 1e-13, 0.0]]), np.array([-INFINITY]), np.array([0.5]))
    assert lp.solve().objective == pytest.approx(-2.0)
    lp.add_rows(np.zeros((2, 3)), -np.ones(2), np.ones(2))
    assert lp.solve().objective == pytest.approx(-2.0)
    assert lp.n_rows == 4


def test_ctrl_c_is_heard_inside_a_run(monkeypatch):
    lp = GrowingLP(-np.ones(20), np.zeros(20), np.full(20, 5.0))
    rows = np.random.default_rng(0).normal(size=(10, 20))
    lp.add_rows(rows, np.full(10, -1.0), np.ones(10))
    pivots = []

    def hear():
        pivots.append(1)
        if len(pivots) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("kboost.solvers.highs._hear", hear)
    with pytest.raises(KeyboardInterrupt):
        lp.solve()
    assert len(pivots) == 4
