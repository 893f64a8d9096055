"""A time limit gives a model, wherever it strikes; clocks here count looks, not time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import kboost
from kboost import (
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    MKBoostClassifier,
    SemiSupervisedKernelBoostClassifier,
    SparseKernelClassifier,
    SparseKernelRegressor,
)
from kboost.baselines import BoostedSVMClassifier, KernelDesignClassifier, MKLClassifier
from kboost.compose import ColumnGenerationClassifier, ColumnGenerationRegressor
from kboost.core.deadline import Deadline
from kboost.export.onnx import to_onnx
from kboost.kernels import Gaussian, Linear
from kboost.report import write_report
from kboost.settings import ColumnGeneration, EarlyStopping

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
LABELS = (X[:, 0] + 0.3 * RNG.normal(size=90) > 0.4).astype(int)  # class 0 is the heavier one
CLASSES = LABELS + 2 * (X[:, 1] > 0)
VALUES = X[:, 0] ** 2 + 0.1 * RNG.normal(size=90)
PARTLY = np.where(np.arange(90) % 3 == 0, LABELS, -1)
KERNELS = [Gaussian(0.5), Linear()]
STRATIFIED = ColumnGeneration(pricing="stratified")
STOPPING = ColumnGeneration(early_stopping=EarlyStopping(0.2))

ESTIMATORS = {
    "classifier": (KernelBoostClassifier(KERNELS), LABELS),
    "classifier of classes": (KernelBoostClassifier(KERNELS), CLASSES),
    "classifier at a C": (KernelBoostClassifier(KERNELS, C=1.0), LABELS),
    "classifier, nu": (KernelBoostClassifier(KERNELS, nu=0.3), LABELS),
    "classifier, l2": (KernelBoostClassifier(KERNELS, penalty="l2"), LABELS),
    "classifier, stratified": (KernelBoostClassifier(KERNELS, C=1.0, solver=STRATIFIED), LABELS),
    "classifier, early stopping": (KernelBoostClassifier(KERNELS, solver=STOPPING), LABELS),
    "classifier, no intercept": (KernelBoostClassifier(KERNELS, intercept="none"), LABELS),
    "regressor": (KernelBoostRegressor(KERNELS), VALUES),
    "regressor, barrier": (KernelBoostRegressor(KERNELS, C=1.0, solver="barrier"), VALUES),
    "regressor, active": (KernelBoostRegressor("active", C=1.0), VALUES),
    "regressor, halfspaces": (KernelBoostRegressor("halfspaces", C=1.0), VALUES),
    "novelty": (KernelBoostNovelty(), None),
    "semi-supervised": (SemiSupervisedKernelBoostClassifier(KERNELS), PARTLY),
    "composed classifier": (ColumnGenerationClassifier(KERNELS), CLASSES),
    "composed regressor": (ColumnGenerationRegressor(KERNELS), VALUES),
    "sparse classifier": (SparseKernelClassifier(KERNELS, max_columns=30), LABELS),
    "sparse regressor": (SparseKernelRegressor(KERNELS, max_columns=30), VALUES),
    "cells": (SparseKernelRegressor(KERNELS, cells=40), VALUES),
    "mkboost": (MKBoostClassifier(KERNELS, max_iter=4), LABELS),
    "mkboost of classes": (MKBoostClassifier(KERNELS, max_iter=4), CLASSES),
    "boosted svm": (BoostedSVMClassifier(KERNELS, max_iter=4, n_folds=2), LABELS),
    "mkl": (MKLClassifier(KERNELS), LABELS),
    "mkl of classes": (MKLClassifier(KERNELS), CLASSES),
    "kernel design": (KernelDesignClassifier(KERNELS, max_iter=4), LABELS),
}
names = pytest.mark.parametrize("name", ESTIMATORS)


def clone_of(name):
    estimator, y = ESTIMATORS[name]
    return type(estimator)(**{**estimator.get_params(deep=False), "max_seconds": 1e6}), y


def reasons(model):
    given = model.stop_reason_
    return given if isinstance(given, list) else [given]


@pytest.fixture
def over_after(monkeypatch):
    """Let the time of every limited fit be over after so many looks at it."""

    def give(looks):
        left = [looks]

        def remaining(self):
            if self.moment == np.inf:
                return np.inf
            left[0] -= 1
            return 0.0 if left[0] < 0 or self._is_off else 1e6

        monkeypatch.setattr(Deadline, "remaining", property(remaining))

    return give


def fitted(name):
    model, y = clone_of(name)
    return model.fit(X) if y is None else model.fit(X, y)


def check_usable(model, y):
    predicted = model.predict(X)
    assert len(predicted) == len(X)
    if hasattr(model, "classes_"):
        assert set(predicted) <= set(model.classes_)
    assert np.isfinite(np.asarray(predicted, dtype=float)).all()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.n_columns_ >= 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("looks", [0, 1, 2, 4, 8, 16, 40])
@names
def test_a_limit_gives_a_model_wherever_it_strikes(name, looks, over_after):
    over_after(looks)
    model = fitted(name)
    check_usable(model, ESTIMATORS[name][1])
    if looks == 0:
        assert {reason.rule for reason in reasons(model)} == {"max_seconds"}


@names
def test_without_time_the_model_is_a_constant_and_everything_works(name, over_after, tmp_path):
    over_after(0)
    with pytest.warns(ConvergenceWarning, match="max_seconds") as warned:
        model = fitted(name)
    assert len(warned) == 1
    y = ESTIMATORS[name][1]
    check_usable(model, y)
    assert model.n_columns_ == 0
    if hasattr(model, "decision_function"):
        assert np.ptp(model.decision_function(X), axis=0).max() == 0.0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    if not name.startswith("composed"):  # these have no file format
        kboost.save_model(model, tmp_path / "model.kboost")
        read = kboost.load_model(tmp_path / "model.kboost")
        np.testing.assert_array_equal(read.predict(X), model.predict(X))
    explained = model.explain(X[:3])
    assert np.isfinite(explained.values).all()


@pytest.mark.parametrize(
    "name", ["classifier", "classifier of classes", "regressor", "novelty", "sparse classifier"]
)
def test_a_constant_goes_to_onnx_and_into_a_report(name, over_after, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    over_after(0)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = fitted(name)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    (found, *_) = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(np.asarray(found).ravel(), model.predict(X), rtol=1e-6)
    y = ESTIMATORS[name][1]
    if y is not None:
        write_report(tmp_path / "report.html", model, X, y)
        assert "max_seconds" in (tmp_path / "report.html").read_text()


def test_the_constant_is_the_heavier_class_the_median_or_an_inlier(over_after):
    over_after(0)
    with pytest.warns(ConvergenceWarning):
        heavier, classes, median, novelty = map(
            fitted, ["classifier", "classifier of classes", "regressor", "novelty"]
        )
    assert set(heavier.predict(X)) == {0}
    share = np.mean(LABELS == 0)
    np.testing.assert_allclose(heavier.predict_proba(X)[0], [share, 1 - share], atol=0.03)
    assert set(classes.predict(X)) == {np.bincount(CLASSES).argmax()}
    assert abs(np.mean(median.predict(X)[0] >= VALUES) - 0.5) < 0.02
    assert set(novelty.predict(X)) == {1}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["cg", STRATIFIED, ColumnGeneration(stop_at_errors=True)])
def test_the_library_has_the_centres_there_is_time_for(solver, monkeypatch):
    monkeypatch.setattr("kboost.plans.library.FEW_VALUES", 0)
    monkeypatch.setattr("kboost.plans.library.BLOCK_VALUES", 5 * len(X))
    monkeypatch.setattr("kboost.plans.library._Measuring.__call__", lambda self: next(looks) > 3)
    looks = iter(range(10**6))
    model = KernelBoostClassifier(KERNELS, C=1.0, solver=solver, max_seconds=1e6).fit(X, LABELS)
    assert str(model.stop_reason_).startswith("max_seconds=1e+06 left time for 20 of 90 centres")
    assert model.stop_reason_.rule == "max_seconds"
    assert model.dual_gap_ is None  # nothing is known about the other centres
    assert 0 < model.n_columns_ <= 40
    assert model.score(X, LABELS) > 0.8
    assert all((center == X).all(axis=1).any() for center in model.centers_)


def test_a_library_in_time_is_the_whole_one(monkeypatch):
    monkeypatch.setattr("kboost.plans.library.FEW_VALUES", 0)
    limited = KernelBoostClassifier(KERNELS, C=1.0, max_seconds=1e6).fit(X, LABELS)
    plain = KernelBoostClassifier(KERNELS, C=1.0).fit(X, LABELS)
    assert limited.stop_reason_.rule == plain.stop_reason_.rule != "max_seconds"
    np.testing.assert_allclose(limited.objective_, plain.objective_, rtol=1e-4)


def test_a_round_draws_fewer_rows_where_time_is_short(monkeypatch, clock_of):
    now = [0.0]

    def tick():
        now[0] += 1e-3
        return now[0]

    clock_of("kboost.core.deadline", tick)
    monkeypatch.setattr("kboost.boosting.fit._FEW_ROWS", 0)
    monkeypatch.setattr("kboost.boosting.fit._SAMPLE", 10)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = MKBoostClassifier(KERNELS, sample_ratio=1.0, max_seconds=0.2).fit(X, LABELS)
    plain = MKBoostClassifier(KERNELS, sample_ratio=1.0, max_iter=1).fit(X, LABELS)
    assert model.trace_[0].n_rows < plain.trace_[0].n_rows


@pytest.mark.parametrize("limit", [1, 2])
def test_a_nu_model_that_a_limit_ends_need_not_separate(limit):
    """Only an optimum without a margin is an error."""
    noise = np.random.default_rng(1).integers(0, 2, 90)
    narrow = [Linear()]
    with pytest.raises(ValueError, match="cannot be separated at this nu"):
        KernelBoostClassifier(narrow, nu=0.02).fit(X, noise)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelBoostClassifier(
            narrow, nu=0.02, max_iter=limit, solver=ColumnGeneration(columns_per_step=1)
        ).fit(X, noise)
    assert set(model.predict(X)) <= {0, 1}
