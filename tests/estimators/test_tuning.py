"""`C="auto"`: a sensible C, found alike for rows given twice and rows of weight two."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.core.path import PathFitter
from kboost.exceptions import OutOfTimeError
from kboost.kernels import Gaussian, Linear
from kboost.oracles.scan import ScanSearch

LIBRARY = [Linear(), Gaussian()]


@pytest.mark.parametrize("n", [150, 320])
def test_the_best_c_of_the_path_is_used(n):
    X, y = make_classification(n, 6, flip_y=0.2, random_state=0)
    model = KernelBoostClassifier(LIBRARY).fit(X, y)
    tuning = model.tuning_
    assert tuning.C[tuning.best] == model.C_
    assert tuning.error[tuning.best] <= 1.01 * tuning.error.min()
    assert (tuning.error[: tuning.best] > 1.01 * tuning.error.min()).all()
    assert (np.diff(tuning.C) > 0).all()
    assert len(tuning.C) == len(tuning.error) == len(tuning.n_columns) >= 3
    fixed = KernelBoostClassifier(LIBRARY, C=model.C_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), fixed.decision_function(X), atol=1e-9)


def test_noise_gets_a_smaller_c_and_fewer_columns_than_a_clean_rule():
    X, y = make_classification(300, 6, n_informative=3, flip_y=0.0, class_sep=2.0, random_state=1)
    noisy = np.random.default_rng(0).permutation(y)
    clean = KernelBoostClassifier(LIBRARY).fit(X, y)
    noise = KernelBoostClassifier(LIBRARY).fit(X, noisy)
    assert clean.score(X, y) > 0.9
    assert noise.n_columns_ < 40


def test_weights_count_like_rows_on_more_than_200_rows():
    X, y = make_classification(220, 5, flip_y=0.1, random_state=2)
    count = np.random.default_rng(0).integers(1, 3, len(y))
    repeated = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), count))
    model = KernelBoostClassifier(LIBRARY)
    weighted = clone(model).fit(X, y, sample_weight=count.astype(float))
    again = clone(model).fit(X[repeated], y[repeated])
    assert weighted.C_ == again.C_
    np.testing.assert_allclose(weighted.decision_function(X), again.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_rare_class_is_found(seed):
    X, y = make_classification(400, 8, n_informative=4, weights=[0.88], random_state=seed)
    X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
    model = KernelBoostClassifier().fit(X, y)
    assert roc_auc_score(y_new, model.decision_function(X_new)) > 0.75
    assert (model.predict(X) == 1).any()


def test_several_classes_share_one_c():
    X, y = load_iris(return_X_y=True)
    model = KernelBoostClassifier(LIBRARY).fit(X, y)
    assert np.isscalar(model.C_)
    assert model.score(X, y) > 0.94


def test_too_few_rows_to_choose_by():
    model = KernelBoostClassifier(LIBRARY).fit([[0.0], [1.0]], [0, 1])
    assert model.tuning_ is None
    assert model.C_ == 1.0


# Ctrl-C while C is chosen ---------------------------------------------------------------------


def interrupted_at(monkeypatch, call):
    """Ctrl-C inside one of the searches of the path."""
    plain, calls = ScanSearch.propose, []

    def propose(self, run):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return plain(self, run)

    monkeypatch.setattr(ScanSearch, "propose", propose)


@pytest.mark.parametrize("estimator", [KernelBoostClassifier, KernelBoostRegressor])
def test_ctrl_c_while_c_is_chosen_keeps_the_best_so_far(estimator, monkeypatch):
    X, y = make_classification(600, 6, flip_y=0.1, random_state=0)
    calls, plain = [], PathFitter.solve

    def solve(self, factor):
        calls.append(factor)
        if len(calls) > 9:  # three splits, three values of C
            raise KeyboardInterrupt
        return plain(self, factor)

    monkeypatch.setattr(PathFitter, "solve", solve)
    model = estimator(LIBRARY)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    assert len(model.tuning_.C) == 3
    assert model.tuning_.C[model.tuning_.best] == model.C_
    assert model.n_columns_ > 0
    assert model.score(X, y) > (0.7 if estimator is KernelBoostClassifier else 0.1)


def test_ctrl_c_before_a_value_of_c_keeps_the_columns_of_the_path(monkeypatch):
    X, y = make_classification(2500, 6, flip_y=0.1, random_state=0)
    interrupted_at(monkeypatch, 3)
    model = KernelBoostClassifier(LIBRARY)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    assert model.tuning_.C[-1] < model.C_  # at which there were no columns yet
    assert model.n_columns_ > 0
    assert model.predict_proba(X).shape == (2500, 2)


def test_ctrl_c_before_the_first_column_of_the_path_changes_nothing(monkeypatch):
    X, y = make_classification(300, 6, flip_y=0.1, random_state=0)
    interrupted_at(monkeypatch, 1)
    model = KernelBoostClassifier(LIBRARY)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert vars(model) == before


def test_out_of_time_the_best_c_so_far_is_used(monkeypatch):
    X, y = make_classification(600, 6, flip_y=0.1, random_state=0)
    calls, plain = [], PathFitter.solve

    def solve(self, factor):
        calls.append(factor)
        if len(calls) > 9:
            raise OutOfTimeError("late")
        return plain(self, factor)

    monkeypatch.setattr(PathFitter, "solve", solve)
    model = KernelBoostClassifier(LIBRARY).fit(X, y)
    assert len(model.tuning_.C) == 3
    assert model.tuning_.C[model.tuning_.best] == model.C_


def test_columns_that_are_all_but_constant_have_no_c_of_their_own():
    """Kernels at rows this close to each other differ in the twelfth digit only."""
    X = 1e-6 * np.random.default_rng(0).normal(size=(42, 4))
    y = (X[:, 0] > 0).astype(int)
    model = KernelBoostClassifier([Gaussian(0.25)]).fit(X, y)
    assert model.C_ < 1e9
    assert model.n_columns_ == 0
