"""scikit-learn's callbacks hear every step, can stop a fit, and are taken down whatever happens."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kboost import (
    AutoKernelClassifier,
    KernelBoostClassifier,
    KernelBoostRegressor,
    MKBoostClassifier,
    SparseKernelRegressor,
)
from kboost.baselines import (
    BoostedSVMClassifier,
    CompositeSVC,
    KernelDesignClassifier,
    MKLClassifier,
)
from kboost.settings import ColumnGeneration, Full
from tests.fitted import public_estimators

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


class Listener:
    """Notes the tasks; may ask to stop, or fail, at a step."""

    def __init__(self, stop_at: int | None = None, fail_at: int | None = None) -> None:
        self.stop_at, self.fail_at = stop_at, fail_at
        self.events: list[tuple[str, int]] = []
        self.scores: list[float] = []
        self.down = 0

    def setup(self, estimator, context):
        self.down -= 1

    def teardown(self, estimator, context):
        self.down += 1

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin " + context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.events.append(("end " + context.task_name, context.task_id))
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        if context.task_name != "step":
            return False
        if context.task_id == self.fail_at:
            raise ZeroDivisionError
        return context.task_id == self.stop_at

    @property
    def steps(self) -> int:
        return self.events.count(("end step", 0)) and len(
            [name for name, _ in self.events if name == "end step"]
        )


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.2, random_state=0)


def classifier(**params):
    return KernelBoostClassifier(
        ["rbf"], C=1.0, solver=ColumnGeneration(columns_per_step=2), **params
    )


def test_every_step_is_told_with_the_model_of_that_step(moons):
    listener = Listener()
    model = classifier().set_callbacks(listener).fit(*moons)
    assert listener.events[0] == ("begin fit", 0)
    assert listener.events[-1] == ("end fit", 0)
    assert listener.steps == len(model.trace_)
    assert len(listener.scores) == listener.steps + 1
    assert listener.scores[-1] == model.score(*moons)
    assert listener.scores[-1] > listener.scores[0]
    assert listener.down == 0
    assert not {"_fit_task", "_callback_fit_ctx"} & set(vars(model))


def test_callbacks_change_nothing(moons):
    one, other = classifier(), classifier().set_callbacks(Listener())
    np.testing.assert_array_equal(one.fit(*moons).dual_coef_, other.fit(*moons).dual_coef_)


def test_a_callback_can_stop_the_fit(moons):
    model = classifier().set_callbacks(Listener(stop_at=2)).fit(*moons)
    assert len(model.trace_) == 3
    assert model.stop_reason_.rule == "callback"
    model.predict(moons[0])


def test_a_callback_can_stop_a_search(moons):
    listener = Listener(stop_at=2)
    model = AutoKernelClassifier().set_callbacks(listener).fit(*moons)
    assert listener.steps == 3  # families; the final fit is not stopped
    assert model.stop_reason_.rule == "callback"
    assert model.score(*moons) > 0.8
    assert listener.down == 0


def test_a_callback_can_stop_the_final_fit_of_a_search(moons):
    listener = Listener()
    AutoKernelClassifier().set_callbacks(listener).fit(*moons)
    last = Listener(stop_at=listener.steps - 1)
    model = AutoKernelClassifier().set_callbacks(last).fit(*moons)
    assert last.steps == listener.steps
    assert model.score(*moons) > 0.8


def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(moons):
    listener = Listener(fail_at=1)
    model = classifier().set_callbacks(listener)
    before = set(vars(model))
    with pytest.raises(ZeroDivisionError):
        model.fit(*moons)
    assert listener.down == 0
    assert set(vars(model)) == before


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_several_classes_are_tasks_of_their_own(n_jobs):
    listener = Listener()
    model = classifier(n_jobs=n_jobs, max_columns=6).set_callbacks(listener)
    model.fit(*load_iris(return_X_y=True))
    classes = {number for name, number in listener.events if name == "end one against the rest"}
    assert classes == {0, 1, 2}
    assert listener.steps == sum(len(trace) for trace in model.trace_)


@pytest.mark.parametrize(
    "model",
    [
        KernelBoostRegressor(["rbf"], C=1.0, max_columns=4),
        SparseKernelRegressor(["rbf"], ridge=0.1, max_columns=20),
        SparseKernelRegressor(["rbf"], ridge=0.1, max_columns=20, update=Full(3, series=2)),
        SparseKernelRegressor(ridge=0.1, cells=50),
    ],
    ids=["boost", "sparse", "series", "cells"],
)
def test_other_estimators(model, moons):
    listener = Listener()
    fitted = clone(model).set_callbacks(listener).fit(*moons)
    assert listener.events[-1] == ("end fit", 0)
    assert listener.down == 0
    assert listener.steps >= len(fitted.trace_)


def test_a_callback_stops_a_series_and_cells(moons):
    series = SparseKernelRegressor(["rbf"], ridge=0.1, max_columns=20, update=Full(series=3))
    series.set_callbacks(Listener(stop_at=6)).fit(*moons)
    assert series.stop_reason_.rule == "callback"
    assert 3 < series.n_columns_ < 20
    cells = SparseKernelRegressor(["rbf"], ridge=0.1, cells=5)
    listener = Listener(stop_at=3)
    cells.set_callbacks(listener).fit(*moons)
    assert cells.stop_reason_.rule == "callback"
    assert listener.steps >= 3
    assert cells.n_columns_ > 0


@pytest.mark.parametrize(
    "model",
    [
        MKBoostClassifier(["rbf"], max_iter=4),
        BoostedSVMClassifier(["rbf"], max_iter=4),
        MKLClassifier(["rbf", "linear"], method="simple"),
        KernelDesignClassifier("rbf", max_iter=4),
    ],
    ids=["SVMs", "one kernel", "weights", "design"],
)
def test_rounds_and_binary_problems(model, moons):
    listener = Listener()
    fitted = clone(model).set_callbacks(listener).fit(*moons)
    assert listener.steps == len(fitted.trace_)
    assert listener.scores == [fitted.score(*moons)]  # of the whole
    assert listener.down == 0
    stopped = clone(model).set_callbacks(Listener(stop_at=0)).fit(*moons)
    assert "callback" in str(stopped.stop_reason_)
    several = Listener()
    clone(model).set_callbacks(several).fit(*load_iris(return_X_y=True))
    assert {number for name, number in several.events if name == "end pair of classes"} == {0, 1, 2}


def test_a_composite_svm_is_one_task(moons):
    listener = Listener()
    CompositeSVC().set_callbacks(listener).fit(*moons)
    assert listener.events == [("begin fit", 0), ("end fit", 0)]


def test_every_estimator_takes_them():
    assert all(hasattr(cls, "set_callbacks") for cls in public_estimators())


def test_scikit_learns_own_callbacks_in_a_pipeline(moons, capsys):
    from sklearn.callback import ProgressBar, ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    pipe = make_pipeline(StandardScaler(), classifier().set_callbacks(monitor))
    pipe.set_callbacks(ProgressBar()).fit(*moons)
    steps = [row for row in monitor.get_logs().data if row["task_name"] == "step"]
    assert len(steps) == len(pipe[-1].trace_)
    assert "KernelBoostClassifier" in capsys.readouterr().out


def test_without_them_fits_are_as_they_were():
    """As with scikit-learn before 1.9: another process, where the module cannot be imported."""
    code = (
        "import sys, sklearn, sklearn.linear_model, sklearn.pipeline, sklearn.svm; "
        "from sklearn.datasets import load_iris; "
        "sys.modules['sklearn.callback'] = None; del sklearn.callback; "
        "from kboost import KernelBoostClassifier, MKBoostClassifier, SparseKernelClassifier; "
        "from kboost.baselines import MKLClassifier; "
        "X, y = (a[::3] for a in load_iris(return_X_y=True)); "
        "models = [KernelBoostClassifier(C=1.0), MKBoostClassifier(max_iter=2), "
        "SparseKernelClassifier(), MKLClassifier()]; "
        "assert all(m.fit(X, y).score(X, y) > 0.9 for m in models); "
        "assert not any(hasattr(m, 'set_callbacks') for m in models)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class AtTheEnd(Listener):
    """Raises when the whole fit is over."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        if context.task_name == "fit" or context.parent is None:
            raise self.error
        return False


def test_an_error_at_the_end_leaves_the_estimator_as_it_was():
    X, y = make_moons(30, random_state=0)
    callback = AtTheEnd(ZeroDivisionError())
    model = CompositeSVC(["linear"]).set_callbacks(callback)
    before = dict(vars(model))
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert vars(model) == before
    assert callback.down == 0


def test_ctrl_c_at_the_end_keeps_the_model_and_is_its_reason():
    X, y = make_moons(30, random_state=0)
    model = KernelBoostClassifier(["linear"], C=1.0).set_callbacks(AtTheEnd(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    assert model.predict(X).shape == y.shape


class Writer(Listener):
    """Writes to the rows that it is given."""

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        X[:] = 0.0
        return False


@pytest.mark.parametrize("model", [SparseKernelRegressor(), KernelBoostRegressor(C=1.0)])
def test_callbacks_cannot_change_the_rows(model):
    X = np.random.default_rng(0).normal(size=(40, 2))
    before = X.copy()
    with pytest.raises(ValueError, match="read-only"):
        model.set_callbacks(Writer()).fit(X, X[:, 0])
    np.testing.assert_array_equal(X, before)
    assert X.flags.writeable
    assert not hasattr(model, "n_columns_")
