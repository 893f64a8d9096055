"""Column generation as an engine of AutoKernel: its certificate, and what is left of it."""

import pickle

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kboost import (
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostRegressor,
    SparseKernelClassifier,
)
from kboost.auto import certified, final_fit, small_model
from kboost.auto import fit as auto_fit
from kboost.auto.basis_size import BasisTrials
from kboost.auto.certified import CostTrials
from kboost.core.column_generation import GenerationResult
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, solver_failed
from kboost.estimators._auto import AutoKernelBase
from kboost.exceptions import SolverError
from kboost.metric.families import FAMILIES
from tests.fitted import GAPS, LETTERS, SIGN, VALUE, X, fitted, rows_of

NAMES = ["auto certified", "auto certified three classes", "auto certified logarithms"]
WEIGHT = 1.0 + np.arange(60) % 2
margin = certified.fit_margin


def small(**params):
    return AutoKernelClassifier(prefer="size", **params)


def engines(model):
    """The lines of the leaderboard that are small models, by their engine."""
    names = {"column generation": "certified", "joint fit of": "joint"}
    return {
        short: line
        for line in model.leaderboard_
        for name, short in names.items()
        if line["candidate"].startswith(name)
    }


# The certificate -----------------------------------------------------------------------------


def optimum(estimator, rows, weight, signs=None, targets=None):
    """The problem over every column of the library, by linprog."""
    points = np.unique(rows, axis=0)
    columns = np.hstack([kernel(rows, points) for kernel in estimator.kernels_])
    scale = np.sqrt(np.average(columns**2, axis=0, weights=weight))
    both, C, n = np.hstack([columns, -columns]), estimator.C, len(rows)
    one, none = np.ones((n, 1)), np.zeros((n, 1))
    cost = np.concatenate([scale, scale, [0, 0], C * weight])
    if signs is not None:  # y (f + b) + slack >= 1
        A = np.hstack([signs[:, None] * np.hstack([both, one, -one]), np.eye(n)])
        found = linprog(cost, A_ub=-A, b_ub=-np.ones(n), bounds=(0, None))
    else:  # |y - f - b| <= slack + e
        cost = np.append(cost, C * weight.sum() / 2)
        up = np.hstack([both, one, -one, np.eye(n), none + 1])
        down = np.hstack([-both, -one, one, np.eye(n), none + 1])
        ub = -np.concatenate([targets, -targets])
        found = linprog(cost, A_ub=-np.vstack([up, down]), b_ub=ub, bounds=(0, None))
    assert found.status == 0
    return found.fun


def test_the_gap_of_labels_is_right_over_all_columns():
    model = small().fit(GAPS, SIGN, WEIGHT)
    assert isinstance(model.estimator_, KernelBoostClassifier)
    assert 0 <= model.dual_gap_ <= 1e-4
    rows = model.preparation_.transform(GAPS)
    best = optimum(model.estimator_, rows, WEIGHT, signs=2.0 * SIGN - 1)
    assert best * (1 - 1e-7) <= model.estimator_.objective_
    assert model.estimator_.objective_ <= best * (1 + model.dual_gap_ + 1e-6)


def test_the_gap_of_several_classes_is_the_largest():
    model = fitted("auto certified three classes")
    gaps = model.estimator_.dual_gap_
    assert gaps.shape == (3,)
    assert model.dual_gap_ == gaps.max() <= 1e-4
    rows = model.preparation_.transform(rows_of("auto certified three classes"))
    for letter, objective in zip(model.classes_, model.estimator_.objective_, strict=True):
        signs = np.where(letter == LETTERS, 1.0, -1.0)
        best = optimum(model.estimator_, rows, np.ones(60), signs=signs)
        assert objective == pytest.approx(best, rel=model.dual_gap_ + 1e-6)


def test_the_gap_of_numbers_is_right_on_the_scale_of_the_target():
    model = fitted("auto certified logarithms")
    assert isinstance(model.estimator_, KernelBoostRegressor)
    assert model.target_scale_.kind == "log"
    assert len(model.columns_per_kernel_) == 2  # a mixture
    targets = model.target_scale_.apply(np.exp(3 * VALUE))
    rows = model.preparation_.transform(GAPS)
    best = optimum(model.estimator_, rows, np.ones(60), targets=targets)
    assert model.estimator_.objective_ == pytest.approx(best, rel=model.dual_gap_ + 1e-6)


# The model -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_smaller_engine_wins(name):
    model = fitted(name)
    lines = engines(model)
    assert lines["certified"]["columns"] <= lines["joint"]["columns"]
    assert model.n_columns_ <= 1.5 * lines["certified"]["columns"]  # an estimate from the folds
    assert model.reason_.startswith("Column generation over ")
    assert f"with {model.n_columns_} columns" in model.reason_
    assert model.stop_reason_.rule == "complete"


@pytest.mark.parametrize("name", NAMES[:2])
def test_probabilities_agree_with_labels(name):
    model, rows = fitted(name), rows_of(name)
    proba = model.predict_proba(rows)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[proba.argmax(axis=1)])
    assert 0.5 < proba.max(axis=1).mean() < 1
    inner = model.estimator_.predict_proba(model.preparation_.transform(rows))
    np.testing.assert_allclose(inner.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_importances_and_pickles(name):
    model, rows = fitted(name), rows_of(name)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict(rows), model.predict(rows))
    assert same.dual_gap_ == model.dual_gap_


def test_the_inner_estimator_is_the_one_that_fits_the_same_model():
    model = fitted("auto certified")
    rows = model.preparation_.transform(GAPS)
    again = clone(model.estimator_).fit(rows, SIGN)
    np.testing.assert_allclose(again._decision(rows), model.estimator_._decision(rows), atol=1e-9)


@pytest.mark.parametrize("cls", [AutoKernelClassifier, AutoKernelRegressor])
def test_weights_are_repeated_rows(cls):
    y = SIGN if cls is AutoKernelClassifier else np.exp(3 * VALUE)
    weight = np.arange(60) % 3
    repeated = np.random.default_rng(2).permutation(np.repeat(np.arange(60), weight))
    one = cls(prefer="size").fit(GAPS, y, weight)
    other = cls(prefer="size").fit(GAPS[repeated], y[repeated])
    assert one.dual_gap_ is not None
    np.testing.assert_allclose(one._decision(GAPS), other._decision(GAPS), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(one.dual_gap_, other.dual_gap_, atol=1e-6)


def test_many_rows_leave_the_joint_fit_alone(monkeypatch):
    monkeypatch.setattr(small_model, "CERTIFIED_ROWS", 59)
    model = small().fit(GAPS, SIGN)
    assert "certified" not in engines(model)
    assert model.dual_gap_ is None
    assert model.n_columns_ == engines(model)["joint"]["columns"]


def test_a_label_that_says_nothing_has_a_model():
    noise = np.random.default_rng(7).integers(2, size=60)
    model = small().fit(X, noise)
    assert 1 <= model.n_columns_ < 60
    assert np.isfinite(model.predict_proba(X)).all()


# Limits --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seconds", [1e-6, 0.3])
@pytest.mark.parametrize("cls", [AutoKernelClassifier, AutoKernelRegressor])
def test_little_time_leaves_a_model(cls, seconds):
    y = SIGN if cls is AutoKernelClassifier else VALUE
    model = cls(prefer="size", max_seconds=seconds).fit(GAPS, y)
    assert np.isfinite(model._decision(GAPS)).all()
    assert model.score(GAPS, y) > 0


def interrupted_fit():
    """The model that Ctrl-C leaves."""
    model = small()
    with pytest.raises(KeyboardInterrupt):
        model.fit(GAPS, SIGN)
    assert model.stop_reason_.rule == "interrupted"
    return model


def joint_stands_in(model):
    line = engines(model)["joint"]
    assert isinstance(model.estimator_, SparseKernelClassifier)
    assert model.dual_gap_ is None
    assert model.n_columns_ == line["columns"]
    assert model.reason_.startswith("A joint fit of ")
    assert np.isfinite(model.predict_proba(GAPS)).all()


def test_without_time_for_the_final_fit_a_joint_fit_stands_in(monkeypatch):
    def hurried(plan, data, listen):
        return margin(certified.replace(plan, max_seconds=1e-9), data, listen)

    monkeypatch.setattr(certified, "fit_margin", hurried)
    model = small()
    with pytest.warns(ConvergenceWarning, match="a joint fit replaces column generation"):
        model.fit(GAPS, SIGN)
    assert model.stop_reason_.rule == "max_seconds"
    joint_stands_in(model)


def test_ctrl_c_in_the_final_fit_leaves_a_joint_fit(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(certified, "fit_margin", interrupted)
    joint_stands_in(interrupted_fit())


def test_ctrl_c_near_the_optimum_keeps_its_model(monkeypatch):
    def interrupted(*arguments):
        fit = margin(*arguments)
        results = [certified.replace(result, reason=INTERRUPTED) for result in fit.results]
        return certified.replace(fit, results=results)

    monkeypatch.setattr(certified, "fit_margin", interrupted)
    model = interrupted_fit()
    assert isinstance(model.estimator_, KernelBoostClassifier)
    assert model.dual_gap_ <= 1e-4


def test_ctrl_c_while_c_rises_leaves_a_joint_fit(monkeypatch):
    advance = CostTrials.advance

    def interrupted(self):
        if len(self.trace) == 2:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(CostTrials, "advance", interrupted)
    joint_stands_in(interrupted_fit())


@pytest.mark.parametrize(
    ("cls", "prefer"), [(AutoKernelClassifier, "size"), (AutoKernelRegressor, "speed")]
)
@pytest.mark.parametrize(
    "place",
    [
        (small_model, "_left_out"),
        (small_model, "mixture_of"),
        (small_model.BasisTrials, "__init__"),
        (small_model.BasisTrials, "advance"),
        (small_model.CostTrials, "advance"),
        (small_model._SmallModelSearch, "candidates"),
        (small_model._SmallModelSearch, "_candidate"),
        (final_fit.MemberFits, "advance"),
    ],
    ids=lambda place: place[1],
)
def test_ctrl_c_anywhere_in_the_search_for_a_size_leaves_a_model(cls, prefer, place, monkeypatch):
    owner, name = place
    work, calls = getattr(owner, name), []

    def interrupted(*arguments, **options):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return work(*arguments, **options)

    monkeypatch.setattr(owner, name, interrupted)
    monkeypatch.setattr(AutoKernelBase, "_plan_options", {"families": FAMILIES[:2], "rounds": 1})
    y = SIGN if cls is AutoKernelClassifier else VALUE
    model = cls(prefer=prefer)
    with pytest.raises(KeyboardInterrupt):
        model.fit(GAPS, y)
    assert model.stop_reason_.rule == "interrupted"
    assert "interrupted" in model.stop_reason_.message
    assert 1 <= model.n_columns_ <= 256
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict(GAPS), model.predict(GAPS))


def test_ctrl_c_after_the_final_fit_changes_nothing_and_says_so(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("kboost.estimators._auto._reason", interrupted)
    model = small()
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(GAPS, SIGN)
    assert vars(model) == before


def fails(*arguments):
    raise SolverError("the solver ended with status 'Unbounded'.")


def test_a_solver_that_fails_in_the_final_fit_leaves_a_joint_fit(monkeypatch):
    monkeypatch.setattr(certified, "fit_margin", fails)
    model = small().fit(GAPS, SIGN)
    assert model.stop_reason_.rule == "complete"
    joint_stands_in(model)
    says_so(model)


def test_a_solver_that_fails_while_c_rises_leaves_a_joint_fit(monkeypatch):
    monkeypatch.setattr(certified, "start_path", fails)
    model = small().fit(GAPS, SIGN)
    assert "certified" not in engines(model)
    assert isinstance(model.estimator_, SparseKernelClassifier)
    assert len(model.leaderboard_) > 2  # all other candidates
    says_so(model)


def says_so(model):
    words = "Column generation failed: the solver ended with status 'Unbounded'."
    assert model.reason_.endswith(words)
    assert model.stop_reason_.message.endswith(words)


@pytest.mark.parametrize(("gap", "stands"), [(0.01, True), (0.5, False)])
def test_a_solver_that_fails_on_the_way_keeps_a_model_near_the_optimum(monkeypatch, gap, stands):
    failed = solver_failed(SolverError("the solver ended with status 'Unbounded'."))
    monkeypatch.setattr(GenerationResult, "gap", gap)

    def on_the_way(*arguments):
        fit = margin(*arguments)
        results = [certified.replace(result, reason=failed) for result in fit.results]
        return certified.replace(fit, results=results)

    monkeypatch.setattr(certified, "fit_margin", on_the_way)
    model = small().fit(GAPS, SIGN)
    assert isinstance(model.estimator_, KernelBoostClassifier) == stands
    assert "solver failed" in model.reason_
    assert "solver failed" in model.stop_reason_.message


def test_ctrl_c_in_the_joint_fit_after_a_solver_failed_is_raised(monkeypatch):
    calls, fit_in_time = [], auto_fit.fit_in_time

    def interrupted(*arguments, **options):
        calls.append(options["max_columns"])
        return certified.replace(fit_in_time(*arguments, **options), reason=INTERRUPTED)

    monkeypatch.setattr(certified, "fit_margin", fails)
    monkeypatch.setattr(auto_fit, "fit_in_time", interrupted)
    model = small()
    with pytest.raises(KeyboardInterrupt):
        model.fit(GAPS, SIGN)
    assert model.stop_reason_.rule == "interrupted"
    assert len(calls) == 1


def test_more_columns_on_all_rows_than_allowed_leave_a_joint_fit(monkeypatch):
    monkeypatch.setattr(auto_fit, "MOST", {"size": 2})
    model = small().fit(GAPS, SIGN)
    joint_stands_in(model)
    assert "columns on all rows, more than 2." in model.reason_


# Without time to compare sizes ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("prefer", ["size", "speed"])
@pytest.mark.parametrize("cls", [AutoKernelClassifier, AutoKernelRegressor])
def test_without_time_there_are_few_columns(cls, prefer, monkeypatch):
    monkeypatch.setattr(auto_fit, "ENOUGH", 12)
    y = SIGN if cls is AutoKernelClassifier else VALUE
    model = cls(prefer=prefer, max_seconds=1e-6).fit(GAPS, y)
    assert model.n_columns_ == 12
    assert model.stop_reason_.rule == "max_seconds"
    assert "12 columns; other numbers of columns were not compared." in model.reason_
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict(GAPS), model.predict(GAPS))


@pytest.mark.parametrize("last", [16, 32])
def test_the_last_size_before_the_time_is_over_does_not_count(monkeypatch, last):
    """Larger ones may be much better; all of them are, for this target."""
    advance = BasisTrials.advance

    def late(self):
        sizes = [trial.n_columns for trial in self.trace]
        return OUT_OF_TIME if last in sizes else advance(self)

    monkeypatch.setattr(BasisTrials, "advance", late)
    monkeypatch.setattr(small_model, "CERTIFIED_ROWS", 0)
    monkeypatch.setattr(auto_fit, "ENOUGH", 40)
    rows = np.random.default_rng(0).normal(size=(150, 3))
    model = AutoKernelRegressor(prefer="size").fit(rows, np.sin(3 * rows).sum(axis=1))
    assert "joint" not in engines(model)
    assert model.n_columns_ == 40
    assert model.stop_reason_.rule == "search"
