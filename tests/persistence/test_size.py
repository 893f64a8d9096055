"""Files and pickles hold what a model needs: fewer bytes than a support vector machine."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

from kboost import (
    KernelBoostClassifier,
    KernelBoostRegressor,
    SparseKernelRegressor,
    load_model,
    save_model,
)
from kboost.kernels import Gaussian, Laplacian, Linear
from tests.fitted import MODELS, SIGN, VALUE, X, answers, fitted, rows_of
from tests.persistence.equality import same


@pytest.mark.parametrize(
    ("load", "estimator", "peer"),
    [
        (load_breast_cancer, KernelBoostClassifier(), SVC()),
        (load_iris, KernelBoostClassifier(), SVC()),
        (load_diabetes, SparseKernelRegressor(), SVR()),
        (load_diabetes, KernelBoostRegressor(C=1.0), SVR()),
    ],
)
def test_a_model_is_smaller_than_a_support_vector_machine(load, estimator, peer, tmp_path):
    rows, target = load(return_X_y=True)
    save_model(estimator.fit(rows, target), tmp_path / "model.kboost")
    limit = len(pickle.dumps(peer.fit(scale(rows), target)))
    assert (tmp_path / "model.kboost").stat().st_size < limit
    assert len(pickle.dumps(estimator)) < limit


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back_from_a_pickle_as_it_was(name):
    model = fitted(name)
    again = pickle.loads(pickle.dumps(model))
    same(model, again)
    same(answers(model, rows_of(name)), answers(again, rows_of(name)))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copies_are_plain(make):
    model = fitted("boost")
    again = make(model)
    same(model, again)
    assert (again._model is model._model) == (make is copy.copy)


def square(A, B):
    return (A @ B.T) ** 2


class OwnClassifier(KernelBoostClassifier):
    """A subclass of the user's."""


@pytest.mark.parametrize(
    "model",
    [
        KernelBoostClassifier([square, Gaussian(0.5)], C=1.0),
        OwnClassifier([Gaussian(1.0), Linear()], C=1.0),
    ],
)
def test_what_no_file_holds_is_pickled_as_usual(model):
    model.fit(X, SIGN)
    content = pickle.dumps(model)
    assert b"kboost.persistence" not in content
    again = pickle.loads(content)
    same(model, again)
    same(model.predict(X), again.predict(X))


def test_what_no_file_saves_stays_in_a_pickle():
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0).fit(X, SIGN)
    model._metadata_request = {"fit": "sample_weight"}
    content = pickle.dumps(model)
    assert b"kboost.persistence" in content
    assert pickle.loads(content)._metadata_request == {"fit": "sample_weight"}


def test_an_estimator_without_a_fit_is_pickled_as_usual():
    content = pickle.dumps(KernelBoostClassifier(C=2.0))
    assert b"kboost.persistence" not in content
    assert pickle.loads(content).C == 2.0


def test_the_centres_are_held_once():
    model = KernelBoostClassifier([Linear(), Gaussian(0.5), Laplacian(1.0)], C=10.0).fit(X, SIGN)
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again, copy.deepcopy(model)):
        assert len(each._model.parts) > 1
        assert all(np.shares_memory(part.centers, each.centers_) for part in each._model.parts)
        assert each.centers_.nbytes == each.n_columns_ * X.shape[1] * 8


@pytest.mark.parametrize(
    "model",
    [
        KernelBoostRegressor([Gaussian(0.5)], C=1.0),
        SparseKernelRegressor([Gaussian(0.5)], ridge=0.1),
        SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=20),
    ],
)
def test_a_model_does_not_hold_its_training_rows(model):
    rows = X.copy()
    watched = weakref.ref(rows)
    model.fit(rows, VALUE)
    del rows
    gc.collect()
    assert watched() is None
    for part in model._model.parts:
        assert part.centers.base is None or part.centers.base is model.centers_


def test_a_file_that_would_deflate_too_much_is_stored(tmp_path):
    model = KernelBoostClassifier([Gaussian(1.0)], C=1.0).fit(X, SIGN)
    model.zeros_ = np.zeros(200_000)
    save_model(model, tmp_path / "model.kboost")
    assert (tmp_path / "model.kboost").stat().st_size > 100_000
    same(load_model(tmp_path / "model.kboost").zeros_, model.zeros_)
