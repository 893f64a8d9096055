"""AutoKernel on a real cluster: the local model for few rows, a good one for many."""

from __future__ import annotations

import pickle
import re

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, r2_score

from kboost import AutoKernelClassifier, AutoKernelRegressor
from kboost.auto import engine, final_fit, finalists, fit, search, small_model
from kboost.auto.final_fit import Engine
from kboost.columns import cell_tree
from kboost.dask import DaskAutoKernelClassifier, DaskAutoKernelRegressor, _table, auto
from kboost.dask._table import PartitionedTable
from kboost.estimators._auto import AutoKernelBase
from kboost.metric.families import FAMILIES
from kboost.settings import Cells


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A short search."""
    options = {"families": FAMILIES[:2], "rounds": 1}
    monkeypatch.setattr(AutoKernelBase, "_plan_options", options)


@pytest.fixture
def few(monkeypatch):
    """All rows are on the workers, and the preparation sees some of them."""
    monkeypatch.setattr(auto, "SMALL", 50)
    monkeypatch.setattr(auto, "SAMPLE", 300)


def surface(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=n)


def mixed(n, seed=0):
    """Numbers with gaps, a category, one of many values, and a column of no use."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n)
    colour = rng.integers(3, size=n)
    town = rng.integers(60, size=n)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.uniform(size=n) < 0.05, np.nan, number),
            "colour": pd.Categorical.from_codes(colour, ["red", "green", "blue"]),
            "town": np.array([f"town {t}" for t in range(60)], dtype=object)[town],
            "noise": rng.normal(size=n),
        }
    )
    frame.loc[rng.uniform(size=n) < 0.05, "colour"] = None
    return frame, number + 2.0 * colour + 3.0 * np.sin(town)


CHUNKS = ((100, 0, 180, 20), 2)  # of unequal size, one empty


def test_a_small_collection_gives_the_local_model(client):
    X, y = surface()
    model = DaskAutoKernelRegressor(max_seconds=None).fit(da.from_array(X, chunks=CHUNKS), y)
    local = AutoKernelRegressor(max_seconds=None).fit(X, y)
    assert model.reason_ == local.reason_
    assert_array_equal(model.predict(X), local.predict(X))
    spread = da.from_array(X, chunks=CHUNKS)
    assert_array_equal(model.predict_interval(spread, 0.8), local.predict_interval(X, 0.8))
    frame, value = mixed(200)
    labels = np.where(value > 2, "high", "low")
    spread = dd.from_pandas(frame, npartitions=3)
    series = dd.from_pandas(pd.Series(labels), npartitions=2)
    classifier = DaskAutoKernelClassifier(max_seconds=None, client=client).fit(spread, series)
    local = AutoKernelClassifier(max_seconds=None).fit(frame, labels)
    assert_array_equal(classifier.feature_names_in_, frame.columns)
    assert_array_equal(classifier.predict_proba(frame), local.predict_proba(frame))


@pytest.mark.parametrize("prefer", ["accuracy", "speed"])
def test_rows_on_the_workers_give_the_local_model_too(client, few, prefer, monkeypatch):
    for module in (fit, final_fit, engine):  # several cells
        monkeypatch.setattr(module, "ONE_CELL", 150)
    for module in (final_fit, engine, finalists):
        monkeypatch.setattr(module, "CELLS", Engine("cells", Cells(80)))
    monkeypatch.setattr(engine, "OVERLAPPING", Engine("overlap", Cells(80, overlap=1.0)))
    monkeypatch.setattr(search, "_CELL_ROWS", 60)
    monkeypatch.setattr(small_model, "CERTIFIED_ROWS", 0)  # no column generation with so many rows
    X, y = surface()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y))
    given = {"prefer": prefer, "max_seconds": None}
    local = AutoKernelRegressor(**given).fit(X, y, weight)
    model = DaskAutoKernelRegressor(**given).fit(
        da.from_array(X, chunks=CHUNKS), da.from_array(y, chunks=170), da.from_array(weight)
    )
    assert model.reason_ == local.reason_
    assert model.n_columns_ == local.n_columns_
    assert model.estimator_.n_cells_ == local.estimator_.n_cells_
    assert prefer == "speed" or model.estimator_.n_cells_ > 1
    learned = [line["candidate"] for line in model.leaderboard_[:2]]
    assert any(" learned in cells" in each for each in learned) == (prefer == "accuracy")
    assert_allclose(model.predict(X), local.predict(X), atol=1e-5)
    assert_allclose(model.feature_importances_, local.feature_importances_, atol=1e-5)


def test_numbers_of_a_frame_with_categories_and_gaps(client, few):
    frame, value = mixed(900)
    model = DaskAutoKernelRegressor(max_seconds=None)
    model.fit(dd.from_pandas(frame[:700], npartitions=4), da.from_array(value[:700]))
    found = model.predict(frame[700:])
    assert isinstance(found, np.ndarray)
    assert r2_score(value[700:], found) > 0.8
    other = frame[700:][["town", "noise", "colour", "number"]].assign(more=1)
    spread = dd.from_pandas(other, npartitions=2)
    lazy = model.predict(spread)
    assert isinstance(lazy, dd.Series)
    pd.testing.assert_series_equal(lazy.compute(), pd.Series(found, index=other.index))
    interval = model.predict_interval(spread, coverage=0.8)
    assert interval.columns.tolist() == ["lower", "upper"]
    assert_allclose(interval.compute(), model.predict_interval(frame[700:], coverage=0.8))
    assert_allclose(model.to_local().predict(frame[700:]), found)
    assert model.leaderboard_[0]["candidate"] in model.reason_
    assert model.feature_importances_.argmin() == 3
    with pytest.raises(ValueError, match="X must have the columns of fit; 'town' is missing"):
        model.predict(dd.from_pandas(frame.drop(columns="town"), npartitions=1))


def test_labels_with_probabilities(client, few):
    frame, value = mixed(900)
    labels = np.array(["low", "middle", "high"])[np.digitize(value, [0.0, 4.0])]
    spread = dd.from_pandas(frame, npartitions=9)
    target = dd.from_pandas(pd.Series(labels), npartitions=3)
    model = DaskAutoKernelClassifier(max_seconds=None).fit(spread.partitions[:7], target.loc[:699])
    tested = spread.partitions[7:]
    shares = model.predict_proba(tested)
    assert shares.shape[1] == 3
    shares = shares.compute()
    assert_allclose(shares.sum(axis=1), 1.0)
    assert log_loss(labels[700:], shares, labels=model.classes_) < 0.6
    assert np.mean(model.predict(tested).compute() == labels[700:]) > 0.8
    assert_allclose(np.exp(model.predict_log_proba(tested).compute()), shares)
    scores = model.decision_function(tested).compute()
    assert_array_equal(scores.to_numpy().argmax(axis=1), shares.to_numpy().argmax(axis=1))
    assert_allclose(model.predict_proba(frame[700:]), shares)


def test_a_row_is_not_encoded_by_its_own_target(client, few):
    """Towns alone say nothing about this target, however well they fit it."""
    rng = np.random.default_rng(0)
    town = np.array([f"town {t}" for t in rng.integers(150, size=280)])
    frame = pd.DataFrame({"town": town, "number": rng.normal(size=280)})
    y = frame["number"].to_numpy() + rng.normal(size=280)
    model = DaskAutoKernelRegressor(max_seconds=None)
    model.fit(dd.from_pandas(frame, npartitions=3), y)
    local = AutoKernelRegressor(max_seconds=None).fit(frame, y)
    assert_allclose(model.predict(frame), local.predict(frame), atol=1e-5)


def test_means_of_categories_are_those_of_all_rows(client, few, monkeypatch):
    monkeypatch.setattr(auto, "SAMPLE", 120)  # without some of the 60 towns
    frame, value = mixed(700)
    weight = np.random.default_rng(1).integers(0, 3, size=700)
    parts = dd.concat([dd.from_pandas(frame[:300], npartitions=2), dd.from_pandas(frame[300:])])
    model = DaskAutoKernelRegressor(max_seconds=None).fit(parts, value, weight)
    local = AutoKernelRegressor(max_seconds=None).fit(frame, value, weight)
    found, expected = (
        each.preparation_.transform(frame)[:, each.preparation_.columns_[2].output]
        for each in (model, local)
    )
    assert_allclose(found, expected, atol=1e-9)


def test_the_same_seed_draws_the_same_rows(client, few):
    frame, value = mixed(320)
    first, again, other = (
        DaskAutoKernelRegressor(max_seconds=None, random_state=seed)
        .fit(dd.from_pandas(frame, npartitions=n), value)
        .preparation_
        for seed, n in ((0, 2), (0, 5), (1, 2))
    )
    assert_array_equal(first.transform(frame), again.transform(frame))
    assert (first.transform(frame) != other.transform(frame)).any()


def test_few_rows_come_to_the_client(client, few, monkeypatch):
    for module, size in ((cell_tree, 64), (_table, 16), (search, 200)):
        name = "_SAMPLE" if module is search else "SAMPLE"
        monkeypatch.setattr(module, name, size)  # small, as these rows are few
    monkeypatch.setattr(search, "_LEFT", 200)
    monkeypatch.setattr(search, "_REFERENCE", 300)
    brought = []
    fetch = PartitionedTable._fetch

    def watched(self, rows, feature):
        brought.append(0 if feature is not None else len(np.unique(rows)))
        return fetch(self, rows, feature)

    monkeypatch.setattr(PartitionedTable, "_fetch", watched)
    monkeypatch.setattr("kboost.dask._prepared_table._REFERENCE", 300)
    X, y = surface(3000)
    model = DaskAutoKernelRegressor(max_seconds=None).fit(da.from_array(X, chunks=(1000, 2)), y)
    assert model.score(X, y) > 0.98
    assert max(brought) <= 1000


def test_a_limit_gives_a_model(client, few):
    X, y = surface()
    model = DaskAutoKernelRegressor(max_seconds=1e-6)
    with pytest.warns(ConvergenceWarning, match="max_seconds reached"):
        model.fit(da.from_array(X, chunks=CHUNKS), da.from_array(y))
    assert len(model.leaderboard_) == 1
    assert model.score(X, y) > 0.3


def test_copies_and_pickles(client, few):
    X, y = surface(100)
    blocks = da.from_array(X, chunks=(40, 2))
    model = DaskAutoKernelClassifier(max_seconds=None, client=client).fit(blocks, y > 0)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert_array_equal(again.predict(X), model.predict(blocks).compute())
    assert again.predict(blocks).chunks == ((40, 40, 20),)
    assert clone(model).client is client
    assert type(model.to_local()) is AutoKernelClassifier


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((4, 2))}, "X must be a dask array or data frame; got ndarray.*from_array"),
        ({"X": da.zeros(4)}, "X must be two-dimensional"),
        ({"X": da.zeros((0, 2))}, "X must have at least one row; got only empty partitions"),
        ({"y": np.zeros(3)}, "y must have one value per row; got 3 for 4 rows"),
        ({"y": None}, "requires y to be passed, but the target y is None"),
        ({"client": "here"}, "client must be a distributed.Client"),
        ({"prefer": "best"}, "prefer must be "),
        ({"X": da.from_array(np.full((4, 2), np.inf))}, "must be finite|infinit"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(client, change, message):
    given = {"X": da.ones((4, 2)), "y": da.arange(4)} | change
    X, y = given.pop("X"), given.pop("y")
    model = DaskAutoKernelRegressor(**given)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


@pytest.mark.parametrize("cls", [AutoKernelClassifier, AutoKernelRegressor])
def test_local_estimators_name_those_that_accept_dask(cls):
    accepts = re.escape(f"got a Dask Array, which kboost.dask.Dask{cls.__name__} accepts.")
    with pytest.raises(TypeError, match=accepts):
        cls().fit(da.zeros((10, 2)), np.arange(10) % 2)
