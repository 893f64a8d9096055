"""Compiled predictors: the predictions of the model to rounding, whatever model and input."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from kboost import (
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    Predictor,
    SparseKernelClassifier,
    SparseKernelRegressor,
)
from kboost.core import model as module
from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial
from kboost.settings import Cells
from tests.fitted import FRAME, GAPS, LETTERS, MODELS, SIGN, VALUE, X, fitted, rows_of

METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_log_proba",
    "score_samples",
)
QUICK = {"max_seconds": 2}


def agree(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if ours.dtype.kind == "f":
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)
    else:
        assert_array_equal(ours, theirs)


def assert_equal_answers(model, rows):
    predictor = model.compile()
    for name in METHODS:
        assert hasattr(predictor, name) == hasattr(model, name)
        if not hasattr(model, name):
            continue
        theirs, predict = getattr(model, name)(rows), getattr(predictor, name)
        agree(predict(rows), theirs)
        for i in (0, 7, len(theirs) - 1):
            agree(predict(rows[i : i + 1]), theirs[i : i + 1])


@pytest.mark.parametrize("name", MODELS)
def test_the_predictor_gives_the_answers_of_the_model(name):
    assert_equal_answers(fitted(name), rows_of(name))


def test_a_model_of_sparse_rows_takes_dense_ones():
    assert_equal_answers(fitted("boost sparse rows"), rows_of("boost sparse rows").toarray())


def test_a_model_of_a_frame_takes_arrays_without_a_warning(recwarn):
    predictor = fitted("boost names of features").compile()
    agree(
        predictor.decision_function(FRAME.to_numpy()),
        fitted("boost names of features").decision_function(FRAME),
    )
    assert not recwarn.list


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("kernel", [Laplacian("median", on="ranks"), Matern(0.5) + Linear()])
def test_cells(kernel, partitions):
    cells = Cells(15, partitions=partitions)
    assert_equal_answers(SparseKernelRegressor([kernel], ridge=0.1, cells=cells).fit(X, VALUE), X)


@pytest.mark.parametrize("kernel", [Gaussian("mean"), Matern("mean"), Gaussian("mean", on="ranks")])
def test_rows_far_away_keep_their_digits(kernel):
    rng = np.random.default_rng(0)
    rows = np.vstack([X, 1e6 + X])[:, [0, 1, 2, 3, 0, 1]] + rng.normal(size=(120, 6))
    model = SparseKernelRegressor([kernel], ridge=1e-3).fit(rows, np.r_[VALUE, -VALUE])
    far = np.vstack([rows, 1e12 * rows])
    assert_allclose(model.compile().predict(far), model.predict(far), rtol=1e-7, atol=1e-9)


def test_float32_stays_float32():
    model = KernelBoostRegressor([Gaussian("mean")], C=1.0).fit(X, VALUE)
    assert_array_equal(model.set_predict_dtype("float32").compile().predict(X), model.predict(X))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool, object])
def test_dtypes(dtype):
    rows = (X > 0).astype(dtype)
    model = SparseKernelClassifier(ridge=0.1).fit(X, LETTERS)
    agree(model.compile().decision_function(rows), model.decision_function(rows))


BAD = [X[0], X[:, :3], X[:0], np.full((2, 4), np.nan), np.full((1, 4), np.inf), X.astype(str)[:1]]
BAD[-1][0, 0] = "word"


@pytest.mark.parametrize("rows", BAD, ids=["1-D", "narrow", "empty", "nan", "inf", "text"])
@pytest.mark.parametrize("name", ["boost", "sparse cells", "boosted SVMs", "novelty"])
def test_bad_rows_raise_the_error_of_the_model(name, rows):
    with pytest.raises(ValueError) as expected:
        fitted(name).predict(rows)
    with pytest.raises(ValueError) as found:
        fitted(name).compile().predict(rows)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("kernel", [Polynomial(5, on="standard"), Matern("mean", on="standard")])
def test_values_that_overflow_raise_the_error_of_the_model(kernel):
    model = KernelBoostRegressor([kernel], C=1.0).fit(X, VALUE)
    rows = np.full((1, 4), 1e200)
    with pytest.raises(ValueError, match="finite values") as expected:
        model.predict(rows)
    with pytest.raises(ValueError, match="finite values") as found:
        model.compile().predict(rows)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("name", ["boost three classes", "sparse partitions", "boosted votes"])
def test_pickles(name):
    predictor = fitted(name).compile(n_jobs=2)
    again = pickle.loads(pickle.dumps(predictor))
    assert isinstance(again, Predictor)
    for method in ("predict", "predict_proba"):
        assert_array_equal(
            getattr(again, method)(rows_of(name)), getattr(predictor, method)(rows_of(name))
        )


@pytest.mark.parametrize(
    "model", [SparseKernelRegressor(ridge=0.1), KernelBoostNovelty(), KernelBoostClassifier(C=1.0)]
)
def test_a_later_fit_does_not_change_it(model):
    model.fit(X, SIGN)
    predictor, before = model.compile(), model.predict(X)
    model.fit(-(X[:30] ** 3), 1 - SIGN[:30])
    agree(predictor.predict(X), before)
    agree(pickle.loads(pickle.dumps(predictor)).predict(X), before)


@pytest.mark.parametrize("name", ["boost three classes", "sparse cells"])
def test_threads_change_no_bit(name, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 1)  # chunks of 256 rows
    rows = np.random.default_rng(0).normal(size=(700, 4))
    alone = fitted(name).compile(n_jobs=1).predict(rows)
    for n_jobs in (None, 2, -1):
        assert_array_equal(fitted(name).compile(n_jobs).predict(rows), alone)


@pytest.mark.parametrize("name", ["boost three classes", "sparse cells", "boosted SVMs"])
def test_threads_may_share_it(name):
    predictor = fitted(name).compile()
    alone = [predictor.predict(X[i : i + 1]) for i in range(60)]
    with ThreadPoolExecutor(4) as pool:
        shared = list(pool.map(lambda i: predictor.predict(X[i % 60][None]), range(300)))
    assert_array_equal(np.concatenate(shared), np.tile(np.concatenate(alone), 5))


def test_it_shows_classes_and_width():
    predictor = fitted("sparse log").compile()
    assert_array_equal(predictor.classes_, ["a", "bb", "ccc"])
    assert predictor.n_features_in_ == 4
    assert repr(predictor).startswith("Predictor(SparseKernelClassifier(")
    assert not hasattr(fitted("tube").compile(), "predict_proba")


def test_an_unfitted_model_and_bad_jobs_are_refused():
    with pytest.raises(NotFittedError):
        KernelBoostClassifier().compile()
    with pytest.raises(ValueError, match="n_jobs must be an integer other than 0"):
        fitted("boost").compile(n_jobs=0)


# Tables -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table():
    frame = FRAME.copy()
    frame["gaps"] = np.where(np.arange(60) % 5 == 0, np.nan, X[:, 0])
    frame["count"] = np.arange(60) % 4
    frame["flag"] = X[:, 1] > 0
    frame["letter"] = pd.Categorical(LETTERS)
    frame["word"] = [None if i % 9 == 0 else f"w{i % 5}" for i in range(60)]
    return frame


@pytest.fixture(scope="module")
def auto_model(table):
    return AutoKernelClassifier(**QUICK).fit(table, NAMES_OF_SIGN)


NAMES_OF_SIGN = np.array(["no", "yes"], dtype=object)[SIGN]


def test_rows_of_a_table_in_any_form(auto_model, table):
    predictor, theirs = auto_model.compile(), auto_model.predict_proba(table)
    agree(predictor.predict_proba(table), theirs)
    for i, row in enumerate(table.to_dict("records")):
        one = table.iloc[i : i + 1]
        shuffled = one[one.columns[::-1]].assign(more=1)
        for form in (row, one, shuffled, one.astype(object), one.to_numpy(dtype=object)):
            agree(predictor.predict_proba(form), theirs[i : i + 1])


@pytest.mark.parametrize(
    "change",
    [
        {"word": "never seen"},
        {"word": None, "letter": None},
        {"letter": 3},
        {"one": None, "gaps": None},
        {"one": "1.5"},
        {"flag": 1},
        {"flag": "yes", "count": 2.0},
        {"one": np.float32(0.5), "count": np.int64(2)},
        {"gaps": pd.NA},
    ],
    ids=str,
)
def test_unusual_values_are_read_as_by_the_model(auto_model, table, change):
    row = table.to_dict("records")[1] | change
    one = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()})
    agree(auto_model.compile().predict_proba(row), auto_model.predict_proba(one))
    agree(auto_model.compile().predict_proba(one), auto_model.predict_proba(one))


@pytest.mark.parametrize("change", [{"one": np.inf}, {"one": "x"}, {"flag": 2}, {"one": [1]}])
def test_values_of_another_kind_raise_the_error_of_the_model(auto_model, table, change):
    row = table.to_dict("records")[1] | change
    one = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in row.items()})
    for form in (row, one):
        with pytest.raises((ValueError, TypeError)) as expected:
            auto_model.predict(one)
        with pytest.raises(type(expected.value)) as found:
            auto_model.compile().predict(form)
        assert str(found.value) == str(expected.value)


def test_a_dict_without_a_column_is_refused(auto_model):
    with pytest.raises(ValueError, match="X must have the columns of fit; 'two' is missing"):
        auto_model.compile().predict({"one": 1.0})
    with pytest.raises(ValueError, match="fitted without column names; got a dict"):
        fitted("auto").compile().predict({"one": 1.0})


@pytest.mark.parametrize("gap", [0, 1, 2])
def test_arrays_with_gaps(gap):
    model = fitted("auto")
    row = X[:1].copy()
    row[0, gap] = np.nan
    agree(model.compile().predict_proba(row), model.predict_proba(row))
    assert_equal_answers(model, GAPS)


def test_a_table_with_dates(table):
    dated = table[["one", "letter"]].assign(day=pd.date_range("2026-01-01", periods=60))
    model = AutoKernelRegressor(**QUICK).fit(dated, VALUE)
    assert_equal_answers(model, dated)
    agree(model.compile().predict(dated.to_dict("records")[3]), model.predict(dated.iloc[3:4]))
