"""Boost-SVM: the kernel by cross-validation, then the rounds of MKBoost with it alone."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost import MKBoostClassifier
from kboost.baselines import BoostedSVMClassifier
from kboost.boosting import kernel_choice
from kboost.boosting.kernel_choice import stratified_folds
from kboost.core.deadline import Deadline
from kboost.data.merged_rows import merge_rows
from kboost.exceptions import OutOfTimeError
from kboost.kernels import Gaussian, Linear, Polynomial

KERNELS = [Linear(), Gaussian(0.01), Gaussian(0.5), Polynomial(2)]


def rings(n=100, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
    rows = merge_rows(X, y, np.ones(n))
    return rows, rows.X, rows.codes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([BoostedSVMClassifier(n_folds=3, max_iter=5)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_errors_are_those_of_svcs_on_the_folds():
    rows, X, y = rings()
    kernels = [Gaussian(4.0), Gaussian(0.5), Gaussian(0.1)]  # libsvm is quick on these
    model = BoostedSVMClassifier(kernels, C=2.0, n_folds=5, max_iter=3, tol=1e-6).fit(X, y)
    folds = stratified_folds(rows, 5, np.random.RandomState(0))
    assert sorted(np.bincount(folds)) == [20] * 5
    expected = []
    for kernel in kernels:
        K = kernel(X) / np.mean(np.diag(kernel(X)))
        wrong = 0
        for fold in range(5):
            learn, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            peer = SVC(kernel="precomputed", C=2.0, tol=1e-6).fit(K[np.ix_(learn, learn)], y[learn])
            wrong += np.sum(peer.predict(K[np.ix_(held, learn)]) != y[held])
        expected.append(wrong / len(y))
    np.testing.assert_allclose(list(model.cv_errors_.values()), expected, atol=1e-12)
    assert model.kernel_ == model.kernels_[0]
    assert min(expected) == expected[[repr(k) for k in kernels].index(*model.kernel_usage_)]


def test_rounds_are_those_of_one_kernel():
    _, X, y = rings()
    model = BoostedSVMClassifier(KERNELS, max_iter=6).fit(X, y)
    alone = MKBoostClassifier([model.kernel_], column_scaling=None, max_iter=6).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(model.errors_, alone.errors_)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("budget", [2**30, 1])
def test_several_classes_share_one_kernel(multi_class, budget):
    X, y = load_iris(return_X_y=True)
    model = BoostedSVMClassifier(
        KERNELS, n_folds=3, max_iter=4, multi_class=multi_class, memory_budget=budget
    ).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert len(model.kernels_) == 1
    assert len(model.cv_errors_) == 4


def test_one_kernel_needs_no_folds():
    _, X, y = rings(40)
    assert BoostedSVMClassifier([Gaussian(0.5)], max_iter=2).fit(X, y).cv_errors_ == {}


@pytest.mark.parametrize("budget", [2**30, 1])
def test_threads_change_nothing(monkeypatch, budget):
    _, X, y = rings(60)
    one = BoostedSVMClassifier(KERNELS, max_iter=3, n_jobs=1, memory_budget=budget).fit(X, y)
    asked = []
    executor = kernel_choice.ThreadPool
    monkeypatch.setattr(kernel_choice, "ThreadPool", lambda n: asked.append(n) or executor(n))
    two = BoostedSVMClassifier(KERNELS, max_iter=3, n_jobs=2, memory_budget=budget).fit(X, y)
    assert asked == [2]
    assert one.cv_errors_ == two.cv_errors_
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_without_time_for_a_fold_the_first_kernel_is_taken():
    _, X, y = rings()
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = BoostedSVMClassifier(KERNELS, n_folds=5, max_seconds=1e-9).fit(X, y)
    assert model.cv_errors_ == {}
    assert model.trace_[-1].outcome == "constant"


def test_folds_end_with_the_time(monkeypatch):
    rows, X, y = rings()
    judged = []

    def check(deadline):
        if len(judged) > 1:
            raise OutOfTimeError("late")

    plain = kernel_choice._held_out_values
    monkeypatch.setattr(
        kernel_choice, "_held_out_values", lambda *given: judged.append(1) or plain(*given)
    )
    monkeypatch.setattr(Deadline, "check", check)
    model = BoostedSVMClassifier(KERNELS, n_folds=5, max_iter=1).fit(X, y)
    held = int(np.sum(stratified_folds(rows, 5, np.random.RandomState(0)) == 0))
    counts = np.array(list(model.cv_errors_.values())) * held
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


def test_rows_with_the_same_x_share_a_fold():
    X, y = np.repeat(np.arange(8.0)[:, None], 3, axis=0), np.tile([0, 1, 1], 8)
    rows = merge_rows(X, y, np.ones(24))
    folds = stratified_folds(rows, 4, np.random.RandomState(0))
    assert all(len(set(folds[rows.X[:, 0] == x])) == 1 for x in range(8))


def test_too_few_folds_are_refused():
    with pytest.raises(ValueError, match=r"^n_folds must be an integer of at least 2; got "):
        BoostedSVMClassifier(n_folds=1).fit(np.eye(4), [0, 0, 1, 1])
