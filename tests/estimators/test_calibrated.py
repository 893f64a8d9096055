"""Probabilities of every classifier: they agree with `predict`, are honest, and need no order."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kboost import MKBoostClassifier, SparseKernelClassifier
from kboost.baselines import (
    BoostedSVMClassifier,
    CompositeSVC,
    KernelDesignClassifier,
    MKLClassifier,
)
from kboost.core.deadline import Deadline
from kboost.kernels import Gaussian, Linear
from kboost.plans import probabilities
from kboost.selection.calibration import LeftOut, calibrate_on
from kboost.selection.platt import fit_slope
from kboost.solvers.leave_one_out import left_out_values

LIBRARY = [Linear(on="standard"), Gaussian("mean", on="standard")]
MODELS = {
    "squared": SparseKernelClassifier(LIBRARY, ridge=0.1),
    "few columns": SparseKernelClassifier(LIBRARY, ridge=0.1, max_columns=8),
    "hinge": SparseKernelClassifier(LIBRARY, ridge=0.1, loss="hinge"),
    "log": SparseKernelClassifier(LIBRARY, ridge=0.1, loss="log"),
    "no intercept": SparseKernelClassifier(LIBRARY, ridge=0.1, intercept="none"),
    "cells": SparseKernelClassifier([Gaussian(0.1)], ridge=0.1, cells=40),
    "held out": SparseKernelClassifier(LIBRARY, ridge=0.1, early_stopping=0.2),
    "boosted": MKBoostClassifier(LIBRARY, max_iter=15),
    "votes": MKBoostClassifier(LIBRARY, variant="D2", max_iter=15, multi_class="ovr"),
    "one kernel": BoostedSVMClassifier(LIBRARY, max_iter=15, n_folds=3),
    "mixture": MKLClassifier(LIBRARY),
    "design": KernelDesignClassifier(LIBRARY, max_iter=8),
    "composite": CompositeSVC(LIBRARY),
}


@pytest.fixture(scope="module", params=[2, 3])
def noisy(request):
    return make_classification(
        80, 6, n_informative=4, n_classes=request.param, flip_y=0.15, random_state=request.param
    )


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_agree_with_predictions(name, noisy):
    X, y = noisy
    model = clone(MODELS[name]).fit(X, y)
    rows = np.vstack([X, np.zeros((1, 6)), 1e3 * X[:5]])
    p = model.predict_proba(rows)
    assert p.shape == (len(rows), len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))
    if name != "log":
        assert model.calibration_.held_out
        assert model.calibration_.slope > 0


@pytest.mark.parametrize("name", MODELS)
def test_rows_in_any_order_and_weights_as_repetitions(name):
    X, y = make_classification(90, 5, flip_y=0.1, random_state=1)
    count = np.random.default_rng(0).integers(1, 4, 90)
    again = np.random.default_rng(1).permutation(np.repeat(np.arange(90), count))
    model = clone(MODELS[name])
    p = model.fit(X, y, sample_weight=count.astype(float)).predict_proba(X)
    repeated = model.fit(X[again], y[again]).predict_proba(X)
    np.testing.assert_allclose(repeated, p, atol=1e-4)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("name", ["squared", "hinge", "boosted", "mixture", "composite"])
def test_as_good_as_cross_validated_calibration(load, name):
    """Within 0.03 of the log loss and 0.015 of the Brier score of CalibratedClassifierCV."""
    X, y = load(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    ours = clone(MODELS[name]).fit(X, y).predict_proba(X_new)
    theirs = CalibratedClassifierCV(clone(MODELS[name]), cv=5).fit(X, y).predict_proba(X_new)
    truth = np.eye(len(np.unique(y)))[y_new]

    def brier(p):
        return np.mean(np.sum((p - truth) ** 2, axis=1))

    assert log_loss(y_new, ours) < log_loss(y_new, theirs) + 0.03
    assert brier(ours) < brier(theirs) + 0.015


@pytest.mark.parametrize(("loss", "allowed"), [("squared", 0.002), ("hinge", 0.2)])
def test_values_left_out_are_those_of_fits_without_the_row(loss, allowed):
    """For the hinge loss about: other rows may become active."""
    X, y = make_classification(40, 4, flip_y=0.2, random_state=0)
    kernel, signs, ridge = Gaussian(0.2), np.where(y == 1, 1.0, -1.0)[:, None], 0.3
    model = SparseKernelClassifier([kernel], loss=loss, ridge=ridge)
    expected = np.array(
        [
            model.fit(np.delete(X, i, axis=0), np.delete(y, i)).decision_function(X[[i]])[0]
            for i in range(40)
        ]
    )
    found = left_out_values(kernel(X), signs, np.ones(40), ridge, loss=loss)[:, 0]
    fitted = model.fit(X, y).decision_function(X)
    assert np.abs(found - expected).mean() < allowed * np.abs(fitted - expected).mean()


def test_a_stream_is_calibrated_by_rows_it_has_not_seen():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=0)
    model = SparseKernelClassifier([Gaussian(0.2)], ridge=0.1)
    model.partial_fit(X[:60], y[:60], classes=[0, 1])
    assert model.calibration_.n_rows == 60
    unseen = model.decision_function(X[60:200])
    model.partial_fit(X[60:200], y[60:200])
    slope = fit_slope(unseen, y[60:200], np.ones(140))
    assert model.calibration_.slope == pytest.approx(slope, rel=1e-6)
    before = model.calibration_
    model.partial_fit(X[200:210], y[200:210])
    assert model.calibration_ == before  # fewer rows
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_without_time_the_slope_is_that_of_least_squares():
    X, y = make_classification(60, 4, random_state=0)
    spent = Deadline.after(0.0)
    found, _ = calibrate_on(lambda: LeftOut(X[:, 0], y, np.ones(60)), 2.0, spent)
    assert (found.slope, found.n_rows, found.held_out) == (2.0, 0, False)
    assert "without rows" in str(found)


@pytest.mark.parametrize("name", ["squared", "mixture"])
def test_ctrl_c_in_the_calibration_leaves_a_model_with_probabilities(name, monkeypatch):
    X, y = make_classification(60, 4, random_state=0)

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(probabilities, "left_out_values", interrupted)
    monkeypatch.setattr("kboost._estimator.svm_calibration.solve_dual", interrupted)
    model = clone(MODELS[name])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.calibration_.held_out
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
