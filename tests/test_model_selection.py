"""A path: each of its points is what a fit at that C would find."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from kboost import KernelBoostClassifier, KernelBoostNovelty, KernelBoostRegressor, model_selection
from kboost.core.path import PathFitter
from kboost.exceptions import OutOfTimeError
from kboost.kernels import Gaussian, Linear
from kboost.model_selection import path
from kboost.settings import ColumnGeneration

LIBRARY = [Linear(), Gaussian(0.1)]
CS = [0.02, 0.1, 0.5, 3.0]


def classes(n, n_classes=2):
    return make_classification(
        n, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )


def values(n):
    X, y = make_regression(n, 4, noise=10.0, random_state=0)
    return X, np.tanh(y / y.std()) + 0.1 * X[:, 0] ** 2


CASES = {
    "l1, samples as rows": (KernelBoostClassifier(), classes(45)),
    "l1, simplex": (KernelBoostClassifier(), classes(100)),
    "l1, interior": (KernelBoostClassifier(), classes(260)),
    "l1, nonnegative": (KernelBoostClassifier(nonnegative=True), classes(260)),
    "l1, penalised offset": (KernelBoostClassifier(intercept="penalized"), classes(260)),
    "l1, stratified": (
        KernelBoostClassifier(solver=ColumnGeneration(pricing="stratified")),
        classes(100),
    ),
    "l1, three classes": (KernelBoostClassifier(), classes(90, 3)),
    "l1, tube": (KernelBoostRegressor(epsilon=0.1), values(220)),
    "l1, width found": (KernelBoostRegressor(nu=0.3), values(110)),
    "l2": (KernelBoostClassifier(penalty="l2"), classes(50)),
    "l2, nonnegative": (KernelBoostClassifier(penalty="l2", nonnegative=True), classes(60)),
    "l2, three classes": (KernelBoostClassifier(penalty="l2"), classes(36, 3)),
    "l2, tube": (KernelBoostRegressor(penalty="l2", epsilon=0.1), values(40)),
    "l2, width found": (KernelBoostRegressor(penalty="l2", nu=0.3), values(40)),
}


@pytest.mark.parametrize("name", CASES)
def test_each_point_is_the_optimum_for_its_c(name):
    estimator, (X, y) = CASES[name]
    estimator = clone(estimator).set_params(kernels=LIBRARY, tol=1e-9)
    pricing = getattr(estimator.solver, "pricing", "scan")
    estimator.set_params(solver=ColumnGeneration(pricing, columns_per_step=20))
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    found = path(estimator, X, y, Cs=CS, sample_weight=weight)
    alone = [clone(estimator).set_params(C=C).fit(X, y, sample_weight=weight) for C in CS]
    # both certificates: neither is further than this from the common optimum
    slack = np.maximum(found.dual_gap, [model.dual_gap_ for model in alone])
    assert slack.max() <= 1e-6
    assert_allclose(found.objective, [model.objective_ for model in alone], rtol=1e-6)
    for ours, model in zip(found.estimators, alone, strict=True):
        assert ours.C == ours.C_ == model.C_


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize(("penalty", "n"), [("l1", 40), ("l1", 100), ("l1", 260), ("l2", 40)])
def test_below_the_first_column_the_offset_is_that_of_the_c(penalty, n, intercept):
    X, y = classes(n)
    estimator = KernelBoostClassifier(LIBRARY, penalty=penalty, intercept=intercept)
    found = path(estimator, X, y, Cs=[1e-6, 1e-5], sample_weight=1.0 + y)
    for i, C in enumerate(found.C):
        alone = clone(estimator).set_params(C=C).fit(X, y, sample_weight=1.0 + y)
        assert_allclose(found.objective[i], alone.objective_, rtol=1e-9)
        assert_allclose(found.dual_gap[i], alone.dual_gap_, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_each_point_has_the_probabilities_of_a_fit(n_classes):
    X, y = classes(90, n_classes)
    estimator = KernelBoostClassifier(LIBRARY)
    for ours in path(estimator, X, y, Cs=[0.1, 1.0]).estimators:
        alone = clone(estimator).set_params(C=ours.C).fit(X, y)
        assert ours.calibration_.held_out
        assert_allclose(ours.calibration_.slope, alone.calibration_.slope, rtol=0.05)
        assert_array_equal(ours.classes_[ours.predict_proba(X).argmax(axis=1)], ours.predict(X))


@pytest.mark.parametrize("pricing", ["scan", "stratified"])
def test_columns_refused_at_one_c_are_offered_at_the_next(pricing):
    X, y = classes(150)
    tol = 0.05  # no edge above 1 + tol: the bound is within tol
    estimator = KernelBoostClassifier(
        LIBRARY, tol=tol, solver=ColumnGeneration(pricing=pricing, columns_per_step=3)
    )
    assert (path(estimator, X, y, Cs=10).dual_gap <= tol).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_union_of_columns_gives_every_model_back(n_classes):
    X, y = classes(120, n_classes)
    found = path(KernelBoostClassifier(LIBRARY), X, y, Cs=CS)
    columns = np.empty((len(X), found.coef.shape[1]))
    for p, kernel in enumerate(found.kernels):
        of_kernel = found.kernel_of_column == p
        columns[:, of_kernel] = kernel(X, found.centers[of_kernel])
    assert (np.diff(found.kernel_of_column) >= 0).all()
    for i, model in enumerate(found.estimators):
        decision = columns @ found.coef[i] + found.intercept[i]
        assert_allclose(decision, model.decision_function(X), atol=1e-9)
        used = np.abs(found.coef[i]).reshape(found.coef.shape[1], -1).max(axis=1) > 0
        assert used.sum() == found.n_columns[i] == model.n_columns_
        assert found.train_error[i] == pytest.approx(1 - model.score(X, y), abs=1e-12)


def test_the_objective_is_concave_in_c_and_training_slack_falls():
    X, y = classes(90)
    found = path(KernelBoostClassifier(LIBRARY, tol=1e-9), X, y, Cs=np.linspace(0.05, 1, 12))
    slopes = np.diff(found.objective) / np.diff(found.C)  # the slack, by the envelope theorem
    assert (np.diff(slopes) <= 1e-7 * slopes[0]).all()
    assert (slopes >= 0).all()


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_weights_count_like_rows(penalty):
    X, y = classes(70)
    count = np.random.default_rng(1).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), count)
    estimator = KernelBoostClassifier(LIBRARY, penalty=penalty)
    weighted = path(estimator, X, y, Cs=4, sample_weight=count)
    repeated = path(estimator, X[again], y[again], Cs=4)
    assert_allclose(weighted.C, repeated.C, rtol=1e-9)
    assert_allclose(weighted.objective, repeated.objective, rtol=1e-7)


def test_values_of_c_rise_from_where_the_first_column_is_worth_its_price():
    X, y = classes(80)
    found = path(KernelBoostClassifier(LIBRARY), X, y)
    assert len(found.C) == 10
    assert_allclose(found.C[1:] / found.C[:-1], 10 ** (1 / 3))
    assert found.n_columns[0] == 0
    assert found.n_columns[1] > 0
    assert_array_equal(path(KernelBoostClassifier(LIBRARY), X, y, Cs=[1, 0.1, 1]).C, [0.1, 1])


def platt_loss(decision, y):
    """The log loss with Platt's targets, by a logistic regression on each row as both classes."""
    yes = y == np.unique(y)[1]
    target = np.where(yes, (yes.sum() + 1) / (yes.sum() + 2), 1 / ((~yes).sum() + 2))
    both = np.repeat([False, True], len(y))
    weight = np.concatenate([1 - target, target])
    f = np.tile(decision, 2)[:, None]
    if np.ptp(f) == 0.0:
        return log_loss(both, np.full(len(both), target.mean()), sample_weight=weight)
    fit = LogisticRegression(C=np.inf, tol=1e-10).fit(f, both, weight)
    return log_loss(both, fit.predict_proba(f), sample_weight=weight)


def test_rows_to_judge_by_name_the_best_point():
    X, y = classes(300)
    estimator = KernelBoostClassifier(LIBRARY)
    found = path(estimator, X[:200], y[:200], Cs=6, X_val=X[200:], y_val=y[200:])
    plain = path(estimator, X[:200], y[:200], Cs=6)
    errors = [1 - model.score(X[200:], y[200:]) for model in found.estimators]
    assert_allclose(found.validation_error, errors, atol=1e-12)
    losses = [platt_loss(m.decision_function(X[200:]), y[200:]) for m in found.estimators]
    assert_allclose(found.validation_loss, losses, rtol=1e-4)
    assert found.best == np.argmin(losses)
    assert_array_equal(found.coef, plain.coef)
    assert plain.validation_error is None
    assert plain.validation_loss is None
    assert plain.best is None


def test_errors_of_regression_are_squared():
    X, y = values(80)
    found = path(KernelBoostRegressor(LIBRARY), X[:60], y[:60], Cs=3, X_val=X[60:], y_val=y[60:])
    for i, model in enumerate(found.estimators):
        assert found.train_error[i] == pytest.approx(np.mean((model.predict(X[:60]) - y[:60]) ** 2))
        squared = np.mean((model.predict(X[60:]) - y[60:]) ** 2)
        assert found.validation_error[i] == pytest.approx(squared)
        assert model.epsilon_ >= 0


def test_the_estimator_stays_as_it_is():
    X, y = load_iris(return_X_y=True)
    estimator = KernelBoostClassifier(LIBRARY)
    before = dict(vars(estimator))
    found = path(estimator, X, y, Cs=2)
    assert vars(estimator) == before
    again = clone(found.estimators[1]).fit(X, y)
    assert_allclose(again.objective_, found.objective[1], rtol=1e-4)


def test_out_of_time_the_points_reached_are_kept(monkeypatch):
    X, y = classes(80)
    plain = PathFitter.solve
    late = 0.4

    def solve(self, factor):
        if factor > late:
            raise OutOfTimeError("late")
        return plain(self, factor)

    monkeypatch.setattr(PathFitter, "solve", solve)
    assert_array_equal(path(KernelBoostClassifier(LIBRARY), X, y, Cs=CS).C, CS[:2])
    for found in (
        path(KernelBoostClassifier(LIBRARY), X, y, Cs=CS[2:], X_val=X, y_val=y),
        path(KernelBoostClassifier(LIBRARY, max_seconds=1e-9), X, y),
    ):
        assert len(found.C) == 1
        assert_array_equal(found.n_columns, [0])
        assert set(found.estimators[0].predict(X)) <= set(y)
        assert np.isnan(found.dual_gap).all()


@pytest.mark.parametrize(
    ("estimator", "options", "error", "message"),
    [
        (KernelBoostNovelty(), {}, TypeError, "^estimator must be .* got KernelBoostNovelty"),
        (object(), {}, TypeError, "^estimator must be a KernelBoostClassifier .* got object"),
        (KernelBoostClassifier(nu=0.2), {}, ValueError, r"^nu must be None on a path.*nu=0\.2"),
        (KernelBoostClassifier(max_columns=5), {}, ValueError, "^max_columns must be None"),
        (
            KernelBoostRegressor(solver=ColumnGeneration(early_stopping=0.1)),
            {},
            ValueError,
            "^early_stopping must be None",
        ),
        (KernelBoostClassifier(), {"Cs": 0}, ValueError, "^Cs must be an integer of at least 1"),
        (KernelBoostClassifier(), {"Cs": True}, ValueError, "^Cs must be"),
        (KernelBoostClassifier(), {"Cs": []}, ValueError, "^Cs must be one or more positive"),
        (KernelBoostClassifier(), {"Cs": "auto"}, ValueError, "^Cs must be one or more.*'auto'"),
        (KernelBoostClassifier(), {"Cs": [1.0, -1.0]}, ValueError, r"got Cs=\[1\.0, -1\.0\]"),
        (KernelBoostClassifier(), {"Cs": [1e13]}, ValueError, "^C times the largest sample weight"),
        (KernelBoostClassifier(tol=-1.0), {}, ValueError, "^tol must be"),
    ],
)
def test_what_has_no_path_is_refused(estimator, options, error, message):
    X, y = classes(40)
    with pytest.raises(error, match=message):
        path(estimator, X, y, **options)


def test_a_point_is_calibrated_when_it_is_asked_for_and_a_pickle_holds_all(monkeypatch):
    X, y = classes(80)
    calls, plain = [], model_selection.calibrated

    def calibrated(plan, fit, *args):
        calls.append(fit.C)
        return plain(plan, fit, *args)

    monkeypatch.setattr(model_selection, "calibrated", calibrated)
    found = path(KernelBoostClassifier(LIBRARY, random_state=0), X, y, Cs=[0.1, 1.0, 10.0])
    assert calls == []
    one = found.estimators[-1]
    assert calls == [10.0]
    assert found.estimators[2] is one
    alone = KernelBoostClassifier(LIBRARY, C=10.0, random_state=0).fit(X, y)
    assert_allclose(one.predict_proba(X), alone.predict_proba(X), atol=1e-6)
    again = pickle.loads(pickle.dumps(found))
    assert set(calls) == {0.1, 1.0, 10.0}
    for before, after in zip(found.estimators, again.estimators, strict=True):
        assert_array_equal(before.predict_proba(X), after.predict_proba(X))
    assert [model.C for model in found.estimators[:2]] == [0.1, 1.0]
