"""ONNX graphs say what the estimators say."""

from copy import copy
from functools import partial

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from scipy.sparse import issparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kboost import (
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
)
from kboost.columns.hypothesis import KernelPart
from kboost.core.model import AdditiveModel
from kboost.export.onnx import register, to_onnx
from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kboost.kernels.adapters import SklearnKernel, as_kernels
from kboost.preparation import TablePreparation
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


def steepness(model, rows):
    """The largest derivative of an output by the value of the model."""
    if hasattr(model, "probabilities_"):
        return max(1.0, 2 * model.probabilities_.slope)
    scale = getattr(model, "target_scale_", None)
    if scale is None or scale.kind == "identity":
        return 1.0
    return np.abs(model.predict(rows)).max() + abs(scale.shift) + scale.spread


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_the_same(name, dtype):
    model = fitted(name)
    rows = dense(rows_of(name)).astype(dtype)
    found = run(to_onnx(model, dtype=dtype), rows)
    inner = rows.astype(np.float64)
    inner = model.preparation_.transform(inner) if hasattr(model, "preparation_") else inner
    size = 1.0 + sum(
        np.abs(term.values) @ np.abs(part.coef)
        for part in getattr(model._model, "parts", ())
        for term in part.terms_at(inner)
    )
    size = float(np.max(size)) * steepness(model, rows)
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


def mixed_table(n=90):
    """Numbers with gaps, booleans, categories with few and many values, dates before 1970."""
    rng = np.random.default_rng(0)
    day = rng.integers(-30_000, 20_000, n).astype("datetime64[D]").astype("datetime64[us]")
    frame = pd.DataFrame(
        {
            "k_1": np.where(np.arange(n) % 9, rng.normal(size=n), np.nan),
            "flag": rng.random(n) < 0.5,
            "colour": np.where(np.arange(n) % 8, rng.choice(["red", "green", "blue"], n), None),
            "town": [f"town {k}" for k in rng.integers(0, 35, n)],
            "seen": day + rng.integers(0, 86_400_000_000, n).astype("timedelta64[us]"),
            "same": 1.0,
        }
    )
    frame.loc[::10, "seen"] = pd.NaT
    value = frame["k_1"].fillna(0.0) + frame["flag"] + 2 * (frame["colour"] == "red")
    return frame, value.to_numpy() + 0.1 * rng.normal(size=n)


def fed(session, frame, dtype):
    """A frame as the inputs of a graph."""
    out = {}
    for given in session.get_inputs():
        column = frame[given.name]
        if given.type == "tensor(string)":
            values = column.fillna("").to_numpy(dtype=object)
        elif given.type == "tensor(int64)":
            values = column.to_numpy(dtype="datetime64[us]").astype(np.int64)
        else:
            values = column.to_numpy(dtype=dtype)
        out[given.name] = values[:, None]
    return out


@pytest.mark.parametrize("what", ["two classes", "three", "numbers", "logarithms", "both signs"])
def test_a_table_with_its_preparation(what):
    frame, value = mixed_table()
    targets = {
        "two classes": np.where(value > 0.5, "high", "low"),
        "three": np.digitize(value, [0.3, 1.5]),
        "numbers": value,
        "logarithms": np.exp(2 * value),
        "both signs": np.sinh(3 * (value - 1)),
    }
    labels = what in ("two classes", "three")
    model = (AutoKernelClassifier() if labels else AutoKernelRegressor()).fit(frame, targets[what])
    new = frame[::-1].reset_index(drop=True)
    new.loc[:4, "colour"], new.loc[3:6, "town"] = "violet", "nowhere"
    new.loc[5:7, "flag"] = True
    new.loc[8, "town"] = None
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    names = [out.name for out in session.get_outputs()]
    found = dict(zip(names, session.run(names, fed(session, new, "float64")), strict=True))
    assert [given.name for given in session.get_inputs()] == list(frame.columns[:-1])
    for name, values in found.items():
        expected = getattr(model, METHODS[name])(new)
        if name == "label":
            assert (values == expected).all()
        else:
            np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("many", ["target", "mean", "frequency", "one-hot", "both"])
def test_every_encoding_of_a_category(many, monkeypatch):
    preparation = partial(TablePreparation, many=many)
    monkeypatch.setattr("kboost.estimators._auto.TablePreparation", preparation)
    frame, value = mixed_table()
    model = AutoKernelRegressor().fit(frame[["k_1", "town"]], value)
    assert model.preparation_.columns_[1].encoding == many
    new = frame[["k_1", "town"]].copy()
    new.loc[3:6, "town"], new.loc[8, "town"] = "nowhere", None
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (found,) = session.run(None, fed(session, new, "float64"))
    np.testing.assert_allclose(np.ravel(found), model.predict(new), rtol=1e-8, atol=1e-9)


def test_tables_that_cannot_be_exported_are_refused():
    frame, value = mixed_table()
    words = frame[["k_1"]].assign(
        note=[f"some {'big ' * (i % 3)}words {i % 60}" for i in range(90)]
    )
    model = AutoKernelRegressor().fit(words, value)
    with pytest.raises(ValueError, match=r"for ONNX; got text in 'note'"):
        to_onnx(model)
    model = AutoKernelRegressor().fit(frame.rename(columns={"town": "label"}), value)
    with pytest.raises(ValueError, match=r"name of an output of the graph.*; got 'label'"):
        to_onnx(model)


def test_an_auto_estimator_in_a_pipeline():
    register()
    labels = make_pipeline(StandardScaler(), AutoKernelClassifier()).fit(X, SIGN)
    made = skl2onnx.to_onnx(labels, X[:1], options={"zipmap": False})
    found = run(made, X)
    np.testing.assert_allclose(found["probabilities"], labels.predict_proba(X), atol=1e-10)
    numbers = make_pipeline(StandardScaler(), AutoKernelRegressor()).fit(X, np.exp(3 * VALUE))
    (found,) = run(skl2onnx.to_onnx(numbers, X[:1]), X).values()
    np.testing.assert_allclose(found[:, 0], numbers.predict(X), rtol=1e-9)
    frame, value = mixed_table()
    mixed = AutoKernelRegressor().fit(frame, value)
    with pytest.raises(ValueError, match="must have been fitted to numbers in a pipeline"):
        skl2onnx.to_onnx(mixed, X[:1])


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
