"""Corollary 4 for fits ended by a limit: no more columns than rows, and no worse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kboost import KernelBoostRegressor
from kboost.columns.active import ActiveLibrary
from kboost.core.protocols import Problem
from kboost.exceptions import OutOfTimeError
from kboost.formulations import nu_tube, tube
from kboost.kernels import Gaussian
from kboost.masters.barrier import BarrierMaster, BarrierRun
from kboost.masters.interior_point import InteriorLPMaster, InteriorRun
from kboost.masters.margin import MarginRun
from kboost.oracles.active import ActiveOracle
from kboost.settings import Barrier, EarlyStopping

MASTERS = pytest.mark.parametrize("master", [InteriorLPMaster, BarrierMaster])
OPTIONS = [{}, {"nonnegative": True}, {"intercept": "penalized"}, {"intercept": "none"}]


def make(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


@MASTERS
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_an_intermediate_fit_becomes_basic_and_no_worse(master, options):
    rows = tube if options.get("intercept") else nu_tube
    X, y = make(30)
    library = ActiveLibrary(
        [Gaussian(0.1), Gaussian(1.0)], X, width_bounds=(0.3, 4.0), scaling="floored"
    )
    problem = Problem(library, rows(y, np.ones(30), 50.0, 0.1))
    search, run = ActiveOracle(60).start(problem), master(**options).start(problem)
    crowds = 0
    for _ in range(12):
        run.extend(search.propose(run))
        fit, found = run.fit, run.cut_short(run.fit)
        crowds += np.count_nonzero(fit.coef) > 30
        assert np.count_nonzero(found.coef) <= 30
        assert found.objective <= fit.objective * (1 + 1e-8)
        assert_allclose(found.decision, fit.decision, atol=1e-6)
        assert_allclose(run.columns @ found.coef + found.bias, found.decision, atol=1e-12)
        assert (found.coef * fit.coef >= 0).all()
        assert found.weights is fit.weights
        assert found.converged == fit.converged
    assert crowds > 2


def stop_at(monkeypatch, run, call, error):
    """Let a step of this kind of run break off, after its columns have come."""
    plain, calls = run.extend, []

    def extend(self, proposal):
        calls.append(1)
        plain(self, proposal)
        if len(calls) == call:
            raise error

    monkeypatch.setattr(run, "extend", extend)


@pytest.mark.parametrize(
    ("run", "solver", "call"), [(InteriorRun, "cg", 14), (BarrierRun, "barrier", 9)]
)
@pytest.mark.parametrize("error", [OutOfTimeError("late"), KeyboardInterrupt()])
def test_a_model_that_a_limit_has_ended_has_no_more_columns_than_rows(
    monkeypatch, run, solver, call, error
):
    monkeypatch.setattr(
        "kboost.plans.margin_parts.FEW_ROWS", 20
    )  # rows, below which simplex does it
    X, y = make(40)
    seen = []
    plain = run.cut_short
    monkeypatch.setattr(run, "cut_short", lambda self, fit: seen.append(fit) or plain(self, fit))
    stop_at(monkeypatch, run, call, error)
    model = KernelBoostRegressor("active", solver=solver, C=100.0, nu=0.1)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert np.count_nonzero(seen[0].coef) > 40  # the point inside
    assert 1 <= model.n_columns_ <= 40
    assert model.objective_ <= seen[0].objective * (1 + 1e-8)
    shortfall = np.maximum(0.0, np.abs(y - model.predict(X)) - model.epsilon_).sum()
    assert 100.0 * shortfall <= model.objective_ * (1 + 1e-6)


def test_a_step_kept_for_its_held_out_error_is_left_alone(monkeypatch):
    X, y = make(60)
    monkeypatch.setattr(MarginRun, "cut_short", None)
    monkeypatch.setattr(BarrierRun, "cut_short", None)
    model = KernelBoostRegressor(
        "active", solver=Barrier(early_stopping=EarlyStopping(0.3, n_iter_no_change=2)), C=10.0
    ).fit(X, y)
    errors = model.trace_.values("validation_error")
    assert model.objective_ == model.trace_[int(np.argmin(errors))].objective
