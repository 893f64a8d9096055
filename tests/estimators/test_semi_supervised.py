from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from kboost import KernelBoostClassifier, SemiSupervisedKernelBoostClassifier
from kboost.columns.scaling import column_scales
from kboost.exceptions import AllLabelledWarning
from kboost.kernels import Gaussian, Linear
from kboost.model_selection import path
from kboost.settings import ColumnGeneration


def problem(seed=0, n=60, n_labelled=14, n_classes=2):
    X, y = make_blobs(n, centers=n_classes, cluster_std=2.5, n_features=3, random_state=seed)
    rng = np.random.default_rng(seed)
    some = np.full(n, -1)
    known = np.concatenate([rng.permutation(n)[:n_labelled], [np.argmax(y == k) for k in set(y)]])
    some[known] = y[known]
    return X, y, some


@pytest.mark.parametrize("scaling", [None, "floored"])
def test_it_is_the_full_program_over_all_centres(scaling):
    X, _, some = problem()
    kernels, C, known = [Linear(), Gaussian(0.05), Gaussian(0.5)], 0.8, some != -1
    model = SemiSupervisedKernelBoostClassifier(kernels, C=C, column_scaling=scaling, tol=1e-7)
    model.fit(X, some)
    everywhere = np.hstack([kernel(X) for kernel in kernels])  # all points by all centres
    rms, peak = np.sqrt((everywhere**2).mean(axis=0)), np.abs(everywhere).max(axis=0)
    H = (everywhere / column_scales(scaling, rms, peak))[known]
    n, k = H.shape
    signs = np.where(some[known] == 1, 1.0, -1.0)[:, None]
    A = np.hstack([signs * np.hstack([H, -H, np.ones((n, 1)), -np.ones((n, 1))]), np.eye(n)])
    cost = np.concatenate([np.ones(2 * k), [0, 0], np.full(n, C)])
    full = linprog(cost, A_ub=-A, b_ub=-np.ones(n))
    assert_allclose(model.objective_, full.fun, rtol=1e-6)
    assert model.dual_gap_ <= 1e-6


def test_centres_are_labelled_and_unlabelled_rows():
    X, _, some = problem(n=200, n_labelled=10)
    model = SemiSupervisedKernelBoostClassifier([Gaussian(0.05)], C=10.0).fit(X, some)
    at = [int(np.argmin(((X - c) ** 2).sum(axis=1))) for c in model.centers_]
    assert_array_equal(X[at], model.centers_)
    assert (some[at] == -1).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_transduction_keeps_labels_and_predicts_the_rest(n_classes):
    X, y, some = problem(n_classes=n_classes)
    model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    known = some != -1
    assert_array_equal(model.transduction_[known], y[known])
    assert_array_equal(model.transduction_[~known], model.predict(X[~known]))
    assert_array_equal(model.classes_, np.arange(n_classes))
    assert (model.transduction_ == y).mean() > 0.8
    assert not hasattr(model, "_pool")
    assert model.predict_proba(X).shape == (len(y), n_classes)


def test_labels_may_be_words():
    X, y, some = problem()
    words = np.array(["no", "yes"], dtype=object)[y]
    words[some == -1] = -1
    model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, words)
    plain = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    assert_array_equal(model.classes_, ["no", "yes"])
    assert_array_equal(model.transduction_ == "yes", plain.transduction_ == 1)


@pytest.mark.parametrize("kind", [bool, float, int])
def test_numbers_may_come_as_objects(kind):
    X, _, some = problem()
    mixed = [kind(label) if label != -1 else -1 for label in some]
    model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, np.array(mixed, dtype=object))
    plain = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.transduction_, plain.transduction_)


def test_labels_that_are_no_numbers_stay_what_they_are():
    X, _, some = problem()
    huge = np.array([2**63 + int(label) if label != -1 else -1 for label in some], dtype=object)
    pairs = np.empty(len(some), dtype=object)
    pairs[:] = [(label, label) if label != -1 else -1 for label in some.tolist()]
    for labels in (huge, pairs):
        with pytest.raises(ValueError, match=r"(Unknown label type|multi-label)"):
            SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, labels)


def test_missing_labels_are_refused():
    X, _, some = problem()
    words = pd.Series(np.where(some == -1, None, np.array(["no", "yes"])[some]), dtype="string")
    with pytest.raises(ValueError, match=r"y must not contain missing values; got pandas\.NA\."):
        SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, words)


def test_without_unlabelled_rows_it_is_the_classifier():
    X, y, _ = problem()
    with pytest.warns(AllLabelledWarning, match="no unlabelled rows"):
        model = SemiSupervisedKernelBoostClassifier().fit(X, y)
    plain = KernelBoostClassifier().fit(X, y)
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert_array_equal(model.transduction_, y)


def test_without_a_mark_every_label_is_a_class():
    X, _, some = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SemiSupervisedKernelBoostClassifier(C=1.0, unlabelled=None).fit(X, some)
    assert model.classes_.tolist() == [-1, 0, 1]
    plain = KernelBoostClassifier(C=1.0).fit(X, some)
    assert_array_equal(model.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("mark", ["?", 7])
def test_the_mark_of_unlabelled_rows_may_be_another_one(mark):
    X, _, some = problem()
    names = np.array(["no", "yes", "?"]) if mark == "?" else np.array([0, 1, 7])
    model = SemiSupervisedKernelBoostClassifier(C=1.0, unlabelled=mark).fit(X, names[some])
    same = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    assert model.classes_.tolist() == names[:2].tolist()
    assert_array_equal(model.decision_function(X), same.decision_function(X))
    with pytest.raises(ValueError, match=r"unlabelled must be an integer, a string or None; got"):
        model.set_params(unlabelled=0.5).fit(X, names[some])


def test_a_filter_makes_the_warning_an_error_which_changes_nothing():
    X, y, _ = problem()
    model = SemiSupervisedKernelBoostClassifier(C=1.0)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error", AllLabelledWarning)
        with pytest.raises(AllLabelledWarning, match="no unlabelled rows"):
            model.fit(X, y)
    assert vars(model) == before


def test_a_mark_of_another_kind_is_named():
    X, y = np.arange(6.0)[:, None], np.array([0, 1, -1, 0, 1, -1])
    model = SemiSupervisedKernelBoostClassifier(unlabelled="-1")
    for labels in (y, y.astype(float)):
        with pytest.raises(ValueError, match=r"the number -1, as in y; got the string '-1'"):
            model.fit(X, labels)


def test_unlabelled_rows_without_weight_are_none():
    X, _, some = problem()
    weight = (some != -1).astype(float)
    with pytest.warns(AllLabelledWarning, match="no unlabelled rows"):
        model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some, weight)
    plain = KernelBoostClassifier(C=1.0).fit(X[some != -1], some[some != -1])
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert not (model.transduction_ == -1).any()


def test_with_an_unlabelled_row_there_is_no_warning():
    X, _, some = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some)
    assert (some == -1).any()
    assert set(model.transduction_) == {0, 1}


def test_scikit_learn_asks_for_fits_without_unlabelled_rows_and_its_own_estimators_make_them():
    """Why that is a warning and no error; this fails when scikit-learn changes its mind."""
    X, y, _ = problem()
    for peer in (LabelSpreading(), SelfTrainingClassifier(LogisticRegression())):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert peer.fit(X, y).predict(X).shape == y.shape


def test_an_unlabelled_row_given_twice_is_one_of_weight_two_and_order_does_not_matter():
    X, _, some = problem()
    again = np.flatnonzero(some == -1)[:9]
    weight = np.ones(len(some))
    weight[again] = 2.0
    once = SemiSupervisedKernelBoostClassifier().fit(X, some, sample_weight=weight)
    order = np.random.default_rng(0).permutation(len(some) + len(again))
    twice = SemiSupervisedKernelBoostClassifier()
    twice.fit(np.r_[X, X[again]][order], np.r_[some, some[again]][order])
    assert_allclose(twice.decision_function(X), once.decision_function(X), rtol=1e-9, atol=1e-9)


def test_rows_without_weight_are_no_centres():
    X, _, some = problem()
    weight = np.ones(len(some))
    weight[::2] = 0.0
    model = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X, some, sample_weight=weight)
    alone = SemiSupervisedKernelBoostClassifier(C=1.0).fit(X[1::2], some[1::2])
    assert_allclose(model.decision_function(X), alone.decision_function(X))


def test_sparse_and_precomputed_give_the_same_model():
    X, _, some = problem()
    kernels = [Linear(), Gaussian(0.1)]
    dense = SemiSupervisedKernelBoostClassifier(kernels, C=0.5).fit(X, some)
    csr = SemiSupervisedKernelBoostClassifier(kernels, C=0.5).fit(sparse.csr_matrix(X), some)
    assert_allclose(csr.decision_function(X), dense.decision_function(X), atol=1e-7)
    K = np.hstack([kernel(X) for kernel in kernels])
    given = SemiSupervisedKernelBoostClassifier("precomputed", C=0.5).fit(K, some)
    assert_allclose(given.decision_function(K), dense.decision_function(X), atol=1e-7)


def test_rows_held_out_and_a_path():
    X, y, some = problem(n=120, n_labelled=40)
    watched = SemiSupervisedKernelBoostClassifier(
        C=1.0, solver=ColumnGeneration(early_stopping=0.3)
    ).fit(X, some)
    assert np.isfinite(watched.trace_.values("validation_error")).all()
    own = SemiSupervisedKernelBoostClassifier().fit(X, some, X_val=X[:30], y_val=y[:30])
    assert own.tuning_ is not None
    found = path(SemiSupervisedKernelBoostClassifier(tol=1e-6), X, some, Cs=[0.05, 0.5])
    for C, fitted in zip(found.C, found.estimators, strict=True):
        single = SemiSupervisedKernelBoostClassifier(C=C, tol=1e-6).fit(X, some)
        assert_allclose(fitted.objective_, single.objective_, rtol=1e-5)
        assert fitted.transduction_.shape == some.shape


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(6, -1), "y must have labelled rows"),
        (np.array([1, 1, -1, -1, 1, -1]), "if -1 is a class, set unlabelled=None"),
        (np.array([2, 2, 2, 2, 2, 2]), "at least two classes"),
        (["no", "yes", -1, "no", -1, "yes"], "got the string '-1'.*dtype=object"),
        (np.array(["no", "yes", "-1", "no", -1, "yes"], dtype=object), "got the string '-1'"),
        (np.array(["no", 1, -1, "no", -1, "yes"], dtype=object), "labels of one kind besides -1"),
        (
            np.array(["no", None, -1, "no", -1, "yes"], dtype=object),
            "labels of one kind besides -1",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:y has no unlabelled rows")
def test_labels_that_cannot_be_learnt_from(labels, message):
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=message):
        SemiSupervisedKernelBoostClassifier().fit(X, labels)


def test_labels_without_weight_do_not_count():
    X, _, some = problem()
    weight = np.where(some == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="at least two labelled classes; got one class, 0"):
        SemiSupervisedKernelBoostClassifier().fit(X, some, sample_weight=weight)
