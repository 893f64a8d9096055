"""Prediction: threads change no bit, float32 little, and both work for every estimator."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from kboost import (
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    SparseKernelRegressor,
)
from kboost.core import model as module
from kboost.kernels import Gaussian, Laplacian, Linear
from kboost.settings import ActiveGaussians

LIBRARY = [Linear(), Gaussian("mean")]
MODELS = [
    KernelBoostClassifier(LIBRARY, C=1.0),
    KernelBoostRegressor(LIBRARY, C=1.0),
    KernelBoostRegressor("active", C=0.1, tol=1e-2),
    KernelBoostNovelty([Gaussian("mean")]),
]


def fitted(model, n_classes=3):
    X, y = make_classification(
        120, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    return model.fit(X, y), np.random.default_rng(0).normal(size=(700, 6))


def decide(model, X):
    return getattr(model, "decision_function", model.predict)(X)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_threads_change_no_bit(model, dtype, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 1)  # chunks of 256 rows
    model, X = fitted(model.set_predict_dtype(dtype))
    assert len(model._model.chunks(*X.shape)) == 3
    alone = decide(model.set_params(n_jobs=1), X)
    for n_jobs in (2, 3, -1):
        np.testing.assert_array_equal(decide(model.set_params(n_jobs=n_jobs), X), alone)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_float32_is_near_and_set_at_any_time(model):
    model, X = fitted(model.set_params(n_jobs=None).set_predict_dtype("float64"))
    double = decide(model, X)
    single = decide(model.set_predict_dtype("float32"), X)
    assert single.dtype == np.float64
    assert (single != double).any()
    scale = np.abs(model.dual_coef_).sum(axis=-1).max()
    assert np.abs(single - double).max() <= 1e-5 * scale


@pytest.mark.parametrize(
    "model",
    [
        KernelBoostRegressor([Gaussian(0.5)], C=1.0),
        KernelBoostRegressor([Laplacian(0.5)], C=1.0),
        KernelBoostRegressor("active", C=0.1, tol=1e-2),
        SparseKernelRegressor([Gaussian(0.5)], ridge=1e-3),
        SparseKernelRegressor([Gaussian(0.5)], ridge=1e-3, cells=50),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sparse_rows_far_from_0_are_those_rows(model, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) + 5.0
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=120)
    model = clone(model).fit(X, y)
    dense = model.predict(X)
    if hasattr(model, "set_predict_dtype"):
        model.set_predict_dtype(dtype)
    else:
        model.set_predict_dtype(dtype)
    np.testing.assert_allclose(model.predict(sparse.csr_array(X)), dense, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-20, 1e19, 1e20])
def test_active_widths_without_room_in_float32_stay_in_float64(scale):
    X = scale * np.random.default_rng(0).normal(size=(60, 2))
    y = np.sin(2 * X[:, 0] / scale)
    kernels = [Gaussian(0.5 / scale**2)]
    model = KernelBoostRegressor(ActiveGaussians(kernels), C=0.1, tol=1e-2).fit(X, y)
    double = model.predict(X)
    np.testing.assert_array_equal(model.set_predict_dtype("float32").predict(X), double)


def test_probabilities_agree_with_predictions_in_float32():
    model, X = fitted(MODELS[0].set_predict_dtype("float32"))
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_an_unknown_dtype_is_refused():
    message = "dtype must be 'float64' or 'float32'; got dtype='half'."
    with pytest.raises(ValueError, match=message):
        KernelBoostClassifier(LIBRARY, C=1.0).set_predict_dtype("half")


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 1)
    model, X = fitted(MODELS[0].set_params(n_jobs=2).set_predict_dtype("float64"))

    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(Gaussian, "profile", fail)
    with pytest.raises(MemoryError, match="no room"):
        model.predict(X)
