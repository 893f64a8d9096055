"""Probabilities: they never contradict `predict`, are of largest likelihood, and are honest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import train_test_split

from kboost import KernelBoostClassifier, SparseKernelClassifier
from kboost.data.merged_rows import merge_rows
from kboost.kernels import Gaussian, Linear, default_kernels
from kboost.selection import calibration as _probability
from kboost.selection.calibration import ENOUGH, SHRUNKEN, Calibration, deal, fit_slope
from kboost.settings import ColumnGeneration
from tests.estimators.boost import boost

LIBRARY = [Linear(on="standard"), Gaussian("mean", on="standard")]
DECISIONS = st.floats(-1e300, 1e300) | st.sampled_from([0.0, 5e-324, -5e-324, 1e-17, 1.0])
SLOPES = st.floats(1e-300, 1e300)


@given(arrays(float, (6,), elements=DECISIONS), SLOPES)
def test_two_classes_more_than_half_exactly_where_positive(decision, slope):
    p = Calibration(slope, 1, True).probabilities(decision)
    np.testing.assert_array_equal(p[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(p.argmax(axis=1), decision > 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)


@given(arrays(float, (5, 4), elements=DECISIONS), SLOPES)
def test_several_classes_the_largest_is_the_largest(decision, slope):
    calibration = Calibration(slope, 1, True)
    p, log_p = calibration.probabilities(decision), calibration.log_probabilities(decision)
    np.testing.assert_array_equal(p.argmax(axis=1), decision.argmax(axis=1))
    np.testing.assert_array_equal(log_p.argmax(axis=1), decision.argmax(axis=1))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(np.exp(log_p), p, atol=1e-14)


def test_the_slope_is_of_largest_likelihood():
    rng = np.random.default_rng(0)
    f = rng.normal(size=80)
    codes = (f + rng.normal(size=80) > 0).astype(int)
    w = rng.uniform(0.5, 2.0, 80)
    mass = np.bincount(codes, w)
    target = np.where(codes == 1, (mass[1] + 1) / (mass[1] + 2), 1 / (mass[0] + 2))
    # each row once as either class, weighted by its target
    peer = LogisticRegression(C=1e10, fit_intercept=False, tol=1e-10)
    both = np.repeat([1, 0], 80)
    peer.fit(np.tile(f, 2)[:, None], both, np.concatenate([w * target, w * (1 - target)]))
    assert fit_slope(f, codes, w) == pytest.approx(peer.coef_[0, 0], rel=1e-5)


def test_the_slope_of_several_classes_has_no_rise():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 90)
    f = np.eye(3)[codes] + rng.normal(size=(90, 3))
    slope = fit_slope(f, codes, np.ones(90))

    def loss(a):
        mass = np.bincount(codes)[codes]
        own = (mass + 1) / (mass + 2)
        target = np.where(np.eye(3)[codes] > 0, own[:, None], (1 - own[:, None]) / 2)
        return -np.sum(target * Calibration(a, 1, True).log_probabilities(f))

    assert loss(slope) < min(loss(0.99 * slope), loss(1.01 * slope))


@pytest.mark.parametrize("codes", [[0, 0, 1, 1], [1, 1, 0, 0]])
def test_a_slope_is_positive_and_finite_whatever_the_rows_say(codes):
    for f in ([-1.0, -1.0, 1.0, 1.0], [0.0] * 4, [-1e200, -1.0, 1.0, 1e200]):
        assert 0 < fit_slope(np.array(f), np.array(codes), np.ones(4)) < np.inf


def test_parts_keep_equal_rows_together_and_leave_every_class():
    rng = np.random.RandomState(0)
    X = rng.randint(0, 30, (200, 1)).astype(float)
    rows = merge_rows(X, rng.randint(0, 3, 200), np.ones(200))
    parts = deal(rows, rng)
    assert sum(part.astype(int) for part in parts).max() == 1
    for part in parts:
        assert not set(rows.center_of_row[part]) & set(rows.center_of_row[~part])
        assert set(rows.codes[~part]) == {0, 1, 2}


def test_enough_rows_are_enough():
    X = np.arange(5000.0)[:, None]
    rows = merge_rows(X, np.arange(5000) % 2, np.ones(5000))
    (part,) = deal(rows, np.random.RandomState(0))
    assert part.sum() == 1000 >= ENOUGH


MODELS = [
    {},
    {"penalty": "l2", "max_columns": 40},
    {"C": "auto", "nu": 0.5},
    {"C": "auto", "nu": 0.5, "penalty": "l2", "max_columns": 40},
    {"nonnegative": True, "intercept": "penalized"},
    {"solver": ColumnGeneration(early_stopping=0.3)},
    {"C": "auto", "nu": 0.5, "solver": ColumnGeneration(early_stopping=0.3)},
]


@pytest.mark.parametrize("options", MODELS, ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_prediction_and_probability_agree(options, n_classes):
    X, y = make_classification(
        150, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=n_classes
    )
    model = boost(LIBRARY, **options).fit(X, y)
    assert model.calibration_.held_out
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X), rtol=1e-9, atol=1e-12)
    assert 0.2 < model.calibration_.slope < 20  # margins are 1, whatever the formulation


def test_precomputed_kernels_have_them_too():
    X, y = make_classification(80, 5, flip_y=0.1, random_state=0)
    K = Gaussian(0.2)(X)
    model = boost("precomputed").fit(K, y)
    assert model.calibration_.held_out
    np.testing.assert_array_equal(model.predict_proba(K).argmax(axis=1), model.predict(K))


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_invariances(penalty):
    X, y = make_classification(90, 5, flip_y=0.1, random_state=1)
    weight = np.random.default_rng(0).integers(1, 4, 90).astype(float)
    model = boost(LIBRARY, penalty=penalty, C=0.3)
    p = model.fit(X, y, weight).predict_proba(X)
    twice = np.repeat(np.arange(90), weight.astype(int))
    np.testing.assert_allclose(model.fit(X[twice], y[twice]).predict_proba(X), p, rtol=1e-9)
    order = np.random.default_rng(1).permutation(90)
    permuted = model.fit(X[order], y[order], weight[order]).predict_proba(X)
    np.testing.assert_allclose(permuted, p, rtol=1e-9)
    turned = model.fit(X, 1 - y, weight).predict_proba(X)
    np.testing.assert_allclose(turned[:, ::-1], p, atol=1e-5)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_better_than_the_bare_decision_values(load):
    X, y = load(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    model = KernelBoostClassifier(C=0.3).fit(X, y)
    decision = model.decision_function(X_test)
    bare, found = Calibration(1.0, 1, True).probabilities(decision), model.predict_proba(X_test)
    assert log_loss(y_test, found) < log_loss(y_test, bare)
    if load is load_breast_cancer:
        np.testing.assert_allclose(bare[:, 1], expit(decision))
        assert brier_score_loss(y_test, found[:, 1]) < brier_score_loss(y_test, bare[:, 1])


def test_held_out_rows_make_an_overfitted_model_modest():
    X, y = make_classification(300, 10, n_informative=3, flip_y=0.3, random_state=0)
    model = boost(kernels=default_kernels(X), C=3.0).fit(X, y)
    fitted = fit_slope(model.decision_function(X), y, np.ones(300))
    assert model.calibration_.slope < 0.8 * fitted


@pytest.fixture
def noisy():
    return make_classification(100, 5, flip_y=0.2, random_state=0)


def test_no_time_for_it_is_said(noisy, monkeypatch):
    from kboost.exceptions import OutOfTimeError

    def late(*args, **options):
        raise OutOfTimeError("too late")

    monkeypatch.setattr(_probability, "leave_out", late)
    model = boost(LIBRARY).fit(*noisy)
    assert not model.calibration_.held_out
    fitted = fit_slope(model.decision_function(noisy[0]), noisy[1], np.ones(100))
    assert model.calibration_.slope == pytest.approx(SHRUNKEN * fitted, rel=1e-6)
    assert "training rows" in str(model.calibration_)


def test_ctrl_c_in_the_calibration_leaves_a_model_with_probabilities(noisy, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_probability, "leave_out", interrupted)
    model = boost(LIBRARY)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert model.stop_reason_.rule == "interrupted"
    assert not model.calibration_.held_out
    p = model.predict_proba(noisy[0])
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(noisy[0]))


def test_two_rows_have_probabilities():
    model = boost([Linear()]).fit([[0.0], [1.0]], ["a", "b"])
    assert not model.calibration_.held_out
    assert model.predict_proba([[1.0]])[0, 1] > 0.5


@pytest.mark.parametrize("loss", ["squared", "log", "hinge"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_logarithms_of_sparse_classifiers_are_finite_far_from_the_border(loss, n_classes):
    X, y = make_classification(
        80, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=n_classes
    )
    model = SparseKernelClassifier(Linear(), loss=loss, max_columns=7).fit(X, y)
    logs = model.predict_log_proba(X)
    np.testing.assert_allclose(np.exp(logs), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[logs.argmax(axis=1)], model.predict(X))
    far = 1e5 * X[:3]
    assert (model.predict_proba(far) == 0).any()
    assert np.isfinite(model.predict_log_proba(far)).all()
    np.testing.assert_allclose(model.compile().predict_log_proba(X), logs, rtol=1e-9, atol=1e-12)
