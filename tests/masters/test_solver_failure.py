"""A solver that fails in the middle of a fit: what was found stands, and the reason is told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kboost import KernelBoostClassifier
from kboost.exceptions import SolverError
from kboost.kernels import Gaussian
from kboost.model_selection import path
from kboost.settings import ColumnGeneration
from kboost.solvers.highs import GrowingLP

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
ONE = ColumnGeneration(columns_per_step=1)


def fail_after(monkeypatch, n_solves):
    """The solver gives up for good after some solves; returns the list of its calls."""
    solve, calls = GrowingLP.solve, []

    def limited(self, *args):
        calls.append(self)
        if len(calls) > n_solves:
            raise SolverError("HiGHS ended twice with status 'Unknown' on a linear program.")
        return solve(self, *args)

    monkeypatch.setattr(GrowingLP, "solve", limited)
    return calls


def test_the_last_finished_step_stands_with_its_certificate(monkeypatch):
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0, max_columns=30, solver=ONE)
    whole = model.fit(X, Y).objective_
    fail_after(monkeypatch, 6)
    with pytest.warns(ConvergenceWarning, match="did not converge: the solver failed, and the"):
        model.fit(X, Y)
    assert model.stop_reason_.rule == "solver"
    assert "HiGHS ended twice" in str(model.stop_reason_)
    assert 0 < model.n_columns_ <= 5
    assert model.score(X, Y) > 0.5
    assert 0 < model.dual_gap_ < np.inf
    assert model.objective_ * (1 - model.dual_gap_) <= whole <= model.objective_


def test_without_a_column_there_is_nothing_to_keep(monkeypatch):
    fail_after(monkeypatch, 1)
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0, max_columns=30, solver=ONE)
    with pytest.raises(SolverError, match="HiGHS ended twice"):
        model.fit(X, Y)


def test_a_path_ends_with_the_points_before(monkeypatch):
    model = KernelBoostClassifier([Gaussian(1.0)])
    calls = fail_after(monkeypatch, 10**9)
    whole = path(model, X, Y, Cs=4)
    fail_after(monkeypatch, len(calls) - 1)
    with pytest.warns(ConvergenceWarning, match="the path ends before C="):
        found = path(model, X, Y, Cs=4)
    assert 0 < len(found.C) < len(whole.C)
    np.testing.assert_array_equal(found.C, whole.C[: len(found.C)])
