"""Pipelines of scikit-learn's preprocessing and an estimator, and skops."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import skops.io
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC

from benchmarks.mutants import parted, repaired
from kboost import (
    SKOPS_TRUSTED,
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostRegressor,
    load_model,
    save_model,
)
from kboost.kernels import Gaussian
from tests.fitted import MODELS, SIGN, VALUE, X, fitted, rows_of

TABLE = pd.DataFrame(X, columns=list("abcd"))
TABLE.loc[::7, "b"] = np.nan
TABLE["word"] = np.array(["red", "green", None], dtype=object)[np.arange(60) % 3]
TABLE["flag"] = np.arange(60) % 2 == 0


def back(model, folder):
    save_model(model, folder / "model.kboost")
    return load_model(folder / "model.kboost")


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_table_of_mixed_columns(output, tmp_path):
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False),
    )
    columns = ColumnTransformer(
        [("numbers", numbers, list("abc")), ("words", words, ["word"])], remainder="passthrough"
    )
    columns.set_output(transform=output)
    model = Pipeline([("columns", columns), ("model", KernelBoostClassifier(C=1.0))])
    model.fit(TABLE, np.array(["no", "yes"])[SIGN])
    again = back(model, tmp_path)
    for method in ("predict", "decision_function", "predict_proba"):
        np.testing.assert_array_equal(getattr(model, method)(TABLE), getattr(again, method)(TABLE))
    assert list(again[:-1].get_feature_names_out()) == list(model[:-1].get_feature_names_out())
    assert again.feature_names_in_.tolist() == TABLE.columns.tolist()


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(),
        KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
        MaxAbsScaler(),
        MinMaxScaler(clip=True),
        Normalizer(),
        PolynomialFeatures(2),
        PowerTransformer(),
        QuantileTransformer(n_quantiles=10, random_state=0),
        RobustScaler(),
        PCA(2, random_state=0),
        VarianceThreshold(),
        make_union(StandardScaler(), PCA(1)),
        make_column_transformer((MinMaxScaler(), [0]), (OrdinalEncoder(), [1]), ("drop", [2])),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_come_back_as_they_were(step, tmp_path):
    model = make_pipeline(step, KernelBoostRegressor([Gaussian(0.5)], C=1.0)).fit(X, VALUE)
    np.testing.assert_array_equal(model.predict(X), back(model, tmp_path).predict(X))


def test_other_steps_and_functions_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"steps cannot be saved: files contain no sklearn.svm"):
        save_model(make_pipeline(StandardScaler(), SVC()).fit(X, SIGN), tmp_path / "m")
    logs = make_pipeline(FunctionTransformer(np.abs), KernelBoostClassifier(C=1.0)).fit(X, SIGN)
    with pytest.raises(ValueError, match="got the function 'absolute'"):
        save_model(logs, tmp_path / "m")


def test_another_version_of_scikit_learn_is_told(tmp_path):
    path = tmp_path / "m"
    save_model(make_pipeline(StandardScaler(), KernelBoostClassifier(C=1.0)).fit(X, SIGN), path)
    version, manifest, numbers = parted(path.read_bytes())
    words = f'"scikit-learn":"{sklearn.__version__}"'.encode()
    path.write_bytes(repaired(version, manifest.replace(words, b'"scikit-learn":"9.9"'), numbers))
    with pytest.warns(InconsistentVersionWarning, match=r"from version 9.9"):
        load_model(path)


@pytest.mark.parametrize("name", MODELS)
def test_skops_needs_no_other_types_than_ours(name):
    model = fitted(name)
    stored = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=stored)) <= set(SKOPS_TRUSTED)
    again = skops.io.loads(stored, trusted=SKOPS_TRUSTED)
    np.testing.assert_array_equal(model.predict(rows_of(name)), again.predict(rows_of(name)))


@pytest.mark.parametrize("labels", [True, False], ids=["labels", "numbers"])
def test_a_table_of_every_kind_of_column_in_an_auto_estimator(labels, tmp_path):
    n = 120
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": np.where(np.arange(n) % 9, rng.normal(size=n), np.nan),
            "flag": rng.random(n) < 0.5,
            "colour": np.where(np.arange(n) % 8, rng.choice(["red", "green", "blue"], n), None),
            "town": [f"town {k}" for k in rng.integers(0, 40, n)],
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
            "note": [
                f"{rng.choice(['big', 'small'])} {i} in a box" for i in rng.integers(0, 99, n)
            ],
        }
    )
    value = frame["size"].fillna(0.0) + frame["flag"] + 2 * (frame["colour"] == "red")
    estimator = AutoKernelClassifier() if labels else AutoKernelRegressor()
    model = estimator.fit(frame, value > 1 if labels else np.exp(2 * value))
    kinds = {column.name: column.kind for column in model.preparation_.columns_}
    assert kinds["town"] == "category"
    assert {"number", "boolean", "category", "date", "text"} == set(kinds.values())
    again = back(model, tmp_path)
    stored = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=stored)) <= set(SKOPS_TRUSTED)
    for other in (again, skops.io.loads(stored, trusted=SKOPS_TRUSTED)):
        for method in ("predict", "predict_proba") if labels else ("predict",):
            answers = [getattr(each, method)(frame) for each in (model, other)]
            np.testing.assert_array_equal(*answers)
    assert again.leaderboard_ == model.leaderboard_
    assert again.reason_ == model.reason_
    assert again._model is again.estimator_._model
