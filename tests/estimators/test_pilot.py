"""A start from the columns of a sample changes the way to the optimum, not the optimum."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.columns.library import KernelLibrary
from kboost.exceptions import SolverError
from kboost.formulations import hinge, tube
from kboost.kernels import Gaussian, Linear
from kboost.masters.interior_point import InteriorLPMaster
from kboost.oracles.scan import ScanSearch
from kboost.plans import pilot
from kboost.settings import ColumnGeneration
from tests.contracts.reference import margin_lp

N, KERNELS = 320, [Linear(), Gaussian(0.3)]


@pytest.fixture
def piloted(monkeypatch):
    """Few rows are enough for a pilot; the number of pilots that were made."""
    monkeypatch.setattr(pilot, "FEWEST", 300)
    made = []
    make = pilot.Pilot.__init__

    def counted(self, *args):
        made.append(1)
        make(self, *args)

    monkeypatch.setattr(pilot.Pilot, "__init__", counted)
    return made


def table():
    rng = np.random.default_rng(3)
    X = np.unique(rng.normal(size=(N, 3)).round(6), axis=0)  # in canonical order
    noise = 0.3 * rng.normal(size=len(X))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + noise


def all_columns(X):
    return np.hstack([kernel(X, X) for kernel in KERNELS])


def test_the_optimum_of_a_classifier(piloted):
    X, f = table()
    y = np.where(f > 0, 1.0, -1.0)
    model = KernelBoostClassifier(KERNELS, C=0.5, column_scaling=None, tol=1e-8).fit(X, y)
    optimum = margin_lp(all_columns(X), hinge(y, np.ones(N), 0.5), False, "free").objective
    assert piloted == [1]
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert model.dual_gap_ <= 1e-7


def test_the_optimum_of_a_tube(piloted):
    X, y = table()
    model = KernelBoostRegressor(KERNELS, C=0.5, epsilon=0.2, column_scaling=None, tol=1e-8)
    model.fit(X, y)
    rows = replace(tube(y, np.ones(N), 0.5, 0.2), sample=None)
    optimum = margin_lp(np.tile(all_columns(X), (2, 1)), rows, False, "free").objective
    assert piloted == [1]
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert model.dual_gap_ <= 1e-7


def test_a_row_twice_is_a_row_of_weight_two(piloted):
    X, f = table()
    y, twice = f > 0, np.arange(0, N, 3)
    weight = np.ones(N)
    weight[twice] = 2.0
    model = KernelBoostClassifier(KERNELS, C=0.5)
    weighted = model.fit(X, y, weight).decision_function(X)
    order = np.random.default_rng(0).permutation(N + len(twice))
    repeated = np.concatenate([X, X[twice]])[order], np.concatenate([y, y[twice]])[order]
    np.testing.assert_allclose(model.fit(*repeated).decision_function(X), weighted, atol=1e-9)
    assert piloted == [1, 1]


@pytest.mark.parametrize("options", [{"max_columns": 5}, {"penalty": "l2"}, {"max_seconds": 60}])
def test_no_pilot_where_early_steps_or_the_time_count(piloted, options):
    X, f = table()
    KernelBoostClassifier(KERNELS, C=0.5, **options).fit(X, f > 0)
    assert not piloted


def interrupted_in(monkeypatch, count):
    """Ctrl-C at the call of this number of the pilot's search."""
    search, calls = ScanSearch.propose, []

    def propose(self, run):
        calls.append(len(run.rows.targets) < N)
        if sum(calls) == count:
            raise KeyboardInterrupt
        return search(self, run)

    monkeypatch.setattr(ScanSearch, "propose", propose)


def test_ctrl_c_in_the_pilot_leaves_its_model(piloted, monkeypatch):
    X, f = table()
    interrupted_in(monkeypatch, 3)
    model = KernelBoostClassifier(KERNELS, C=0.5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, f > 0)
    assert model.stop_reason_.rule == "interrupted"
    assert model.n_columns_ > 0
    assert model.dual_gap_ is None
    assert model.score(X, f > 0) > 0.7


def test_ctrl_c_before_the_pilot_has_a_column_changes_nothing(piloted, monkeypatch):
    X, f = table()
    interrupted_in(monkeypatch, 1)
    model = KernelBoostClassifier(KERNELS, C=0.5)
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, f > 0)
    assert not hasattr(model, "n_columns_")


def test_a_pilot_that_fails_only_means_to_start_without_it(piloted, monkeypatch):
    X, f = table()
    plain = KernelBoostClassifier(KERNELS, C=0.5).fit(X, f > 0)
    start = InteriorLPMaster.start

    def failing(master, problem):
        if problem.columns.n_rows < N:
            raise SolverError("failed.")
        return start(master, problem)

    monkeypatch.setattr(InteriorLPMaster, "start", failing)
    model = KernelBoostClassifier(KERNELS, C=0.5).fit(X, f > 0)
    assert model.stop_reason_.rule in ("tol", "gap")
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-4)


def test_the_pilot_keeps_to_max_iter_and_to_its_part_of_the_memory(piloted, monkeypatch):
    X, f = table()
    budgets, iterations = [], []
    build = KernelLibrary.__init__

    def noted(self, *args, memory_budget, **options):
        budgets.append(memory_budget)
        build(self, *args, memory_budget=memory_budget, **options)

    monkeypatch.setattr(KernelLibrary, "__init__", noted)
    used = pilot.Pilot._used
    monkeypatch.setattr(
        pilot.Pilot,
        "_used",
        lambda self, result: iterations.append(result.trace[-1].iteration) or used(self, result),
    )
    settings = ColumnGeneration(memory_budget=2**26)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        KernelBoostClassifier(KERNELS, C=0.5, max_iter=2, solver=settings).fit(X, f > 0)
    assert iterations == [2]
    assert len(budgets) == 2
    assert sum(budgets) <= 2**26
