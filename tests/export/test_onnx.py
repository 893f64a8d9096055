"""ONNX graphs say what the estimators say."""

from copy import copy

import numpy as np
import onnxruntime
import pytest
import skl2onnx
from scipy.sparse import issparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kboost import KernelBoostClassifier, KernelBoostNovelty, KernelBoostRegressor
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.export.onnx import register, to_onnx
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kboost.kernels.adapters import SklearnKernel, as_kernels
from tests.fitted import (
    COUNTS,
    EVERY_KERNEL,
    LETTERS,
    MODELS,
    SIGN,
    VALUE,
    X,
    fitted,
    one_of_each,
    rows_of,
)

METHODS = {
    "label": "predict",
    "prediction": "predict",
    "decision": "decision_function",
    "probabilities": "predict_proba",
}
ALLOWED = {"float64": 1e-12, "float32": 2e-5}


def dense(rows):
    return rows.toarray() if issparse(rows) else np.asarray(rows)


def run(made, rows, names=None):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    names = [out.name for out in session.get_outputs()] if names is None else names
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_the_same(name, dtype):
    model = fitted(name)
    rows = dense(rows_of(name)).astype(dtype)
    found = run(to_onnx(model, dtype=dtype), rows)
    size = 1.0 + sum(
        np.abs(term.values) @ np.abs(part.coef)
        for part in getattr(model._model, "parts", ())
        for term in part.terms_at(rows.astype(np.float64))
    )
    size = float(np.max(size))
    methods = [method for what, method in METHODS.items() if what in found]
    assert set(methods) >= {m for m in METHODS.values() if hasattr(model, m)}
    for what, values in found.items():
        expected = getattr(model, METHODS[what])(rows)
        assert values.shape == expected.shape
        if what == "label":
            decision = model.decision_function(rows)
            gaps = (
                np.abs(decision)
                if decision.ndim == 1
                else np.ptp(np.sort(decision)[:, -2:], axis=1)
            )
            clear = gaps > ALLOWED[dtype] * size
            assert clear.mean() > 0.5  # some training rows are on the border
            assert (values[clear] == expected[clear]).all()
        else:
            assert values.dtype == dtype
            np.testing.assert_allclose(values, expected, rtol=0, atol=ALLOWED[dtype] * size)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_kernel_alone(dtype):
    """No fit may pass over a kernel, and no factor may be rounded to float32 on the way."""
    cosine = SklearnKernel("cosine")
    more = [0.3 * cosine, "chi2", "additive_chi2", Polynomial(3, coef0=0.0, gamma=0.3, columns=[1])]
    more += [
        0.3 * Sigmoid(0.1),
        0.7 * Linear(columns=[2]) * Gaussian(0.1),
        Polynomial(3, gamma=0.3),
    ]
    model = copy(fitted("tube"))
    rows, coef = COUNTS.astype(dtype), np.linspace(-1, 1, 10)[:, None]
    for kernel in as_kernels([*EVERY_KERNEL, *more], COUNTS):
        part = KernelPart(kernel, COUNTS[:10], coef, np.arange(10))
        model._model = AdditiveModel((part,), np.zeros(1))
        found = run(to_onnx(model, dtype=dtype), rows)["prediction"]
        expected = model._model.decision(rows.astype(np.float64))[:, 0]
        size = np.abs(kernel(COUNTS, COUNTS[:10]) @ np.abs(coef)).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=ALLOWED[dtype] * size)


def test_no_rows_and_one_row():
    for name in ("boost three classes", "sparse partitions", "halfspaces"):
        made = to_onnx(fitted(name))
        for n in (0, 1):
            for values in run(made, X[:n]).values():
                assert len(values) == n


def test_features_far_from_zero_keep_their_digits_in_float32():
    rows = (1e6 + 100.0 * X).astype(np.float32)
    model = KernelBoostRegressor([Gaussian(on="standard"), Laplacian()], C=10.0).fit(rows, VALUE)
    found = run(to_onnx(model, dtype="float32"), rows)["prediction"]
    np.testing.assert_allclose(found, model.predict(rows), atol=1e-3)


def test_what_cannot_be_exported_is_refused():
    model = KernelBoostClassifier([lambda A, B: A @ B.T], C=1.0).fit(X, SIGN)
    with pytest.raises(ValueError, match="must not contain functions for ONNX"):
        to_onnx(model)
    with pytest.raises(ValueError, match=r"with skl2onnx\.to_onnx"):
        to_onnx(make_pipeline(StandardScaler(), KernelBoostRegressor(C=1.0)).fit(X, VALUE))
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(fitted("boost"), dtype="float16")
    with pytest.raises(ValueError, match="opset must be"):
        to_onnx(fitted("boost"), opset=9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("labels", [SIGN, LETTERS], ids=["two classes", "three"])
def test_a_pipeline_of_a_classifier(labels, dtype):
    register()
    library = [Linear(), Gaussian(on="ranks"), Laplacian(columns=[0, 1])]
    columns = make_column_transformer((StandardScaler(), [0, 1]), (MinMaxScaler(), [2, 3]))
    model = make_pipeline(columns, KernelBoostClassifier(library, C=1.0)).fit(X, labels)
    rows = X.astype(dtype)
    for raw in (False, True):
        options = {id(model[-1]): {"zipmap": False, "raw_scores": raw}}
        made = skl2onnx.to_onnx(model, rows[:1], options=options)
        found = run(made, rows, ["label", "probabilities"])
        assert (found["label"] == model.predict(rows)).mean() > 0.98
        expected = model.decision_function(rows) if raw else model.predict_proba(rows)
        if expected.ndim == 1:
            expected = np.column_stack([-expected, expected])
        np.testing.assert_allclose(found["probabilities"], expected, atol=10 * ALLOWED[dtype])


def test_pipelines_of_a_regressor_and_of_a_novelty_detector():
    register()
    register()  # once more changes nothing
    model = make_pipeline(StandardScaler(), KernelBoostRegressor(C=1.0)).fit(X, VALUE)
    found = run(skl2onnx.to_onnx(model, X[:1]), X, ["variable"])["variable"]
    np.testing.assert_allclose(found[:, 0], model.predict(X), atol=1e-10)
    model = make_pipeline(StandardScaler(), KernelBoostNovelty()).fit(X)
    found = run(skl2onnx.to_onnx(model, X[:1]), X, ["label", "scores"])
    np.testing.assert_allclose(found["scores"][:, 0], model.decision_function(X), atol=1e-10)
    clear = np.abs(model.decision_function(X)) > 1e-10
    assert (found["label"] == model.predict(X))[clear].all()


@pytest.mark.parametrize("name", [n for n in one_of_each() if rows_of(n) is X])
def test_pipelines_of_every_estimator(name):
    register()
    step = MinMaxScaler().fit(X)
    model = Pipeline([("scale", step), ("model", fitted(name))])
    made = skl2onnx.to_onnx(model, X[:1], options=_plain(model[-1]))
    first = run(made, X, [made.graph.output[0].name])[made.graph.output[0].name]
    expected = model.predict(X)
    agree = np.isclose(first.ravel(), expected) if expected.dtype.kind == "f" else first == expected
    assert agree.mean() > 0.9  # float64, so all but those on the border


def _plain(model):
    return {id(model): {"zipmap": False}} if hasattr(model, "classes_") else None
