"""Sparse kernel machines on a real cluster: the local result, whatever the partitions."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import time
from functools import cache
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.columns import cell_tree
from kboost.dask import DaskSparseKernelClassifier, DaskSparseKernelRegressor, _table
from kboost.dask._cells import BranchFitting
from kboost.dask._table import PartitionedTable
from kboost.kernels import Gaussian
from kboost.plans import cells as cells_plan
from kboost.settings import Cells, Joint, MatchingPursuit, One

CHUNKS = ((150, 0, 420, 30), 2)  # of unequal size, one empty


def surface(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.05 * rng.normal(size=n)


SETTINGS = {
    "cells": {"cells": 100, "kernels": [Gaussian(0.5)]},
    "cells averaged": {
        "cells": Cells(150, partitions=2), "kernels": [Gaussian(0.5)], "ridge": 0.1,
    },
    "overlapping cells": {
        "cells": Cells(150, overlap=0.5), "kernels": [Gaussian(0.5)], "ridge": 0.1,
    },
    "sparse cells": {
        "cells": Cells(150, columns_per_cell=20), "kernels": [Gaussian(0.5)], "ridge": 0.1,
    },
    "cells that share the columns": {
        "cells": Cells(150, partitions=2), "kernels": [Gaussian(0.5)], "ridge": 0.1,
        "max_columns": 100,
    },
    "joint": {"max_columns": 30, "kernels": [Gaussian(0.5), Gaussian(2.0)]},
    "full": {
        "max_columns": 6, "kernels": [Gaussian(0.5)], "ridge": 0.1, "update": "full",
        "selection": MatchingPursuit(10),
    },
    "series": {
        "max_columns": 20, "kernels": [Gaussian(0.5)], "ridge": 0.1,
        "update": One(5, series=2),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_the_local_one(client, name):
    X, y = surface()
    local = SparseKernelRegressor(**SETTINGS[name]).fit(X, y)
    model = DaskSparseKernelRegressor(**SETTINGS[name])
    model.fit(da.from_array(X, chunks=CHUNKS), da.from_array(y, chunks=200))
    assert model.n_columns_ == local.n_columns_
    assert model.n_cells_ == local.n_cells_
    assert_allclose(model.centers_, local.centers_)
    assert_allclose(model.objective_, local.objective_, rtol=1e-8)
    assert_allclose(model.to_local().predict(X), local.predict(X), rtol=1e-5, atol=1e-5)


def test_an_interrupt_keeps_the_branches_fitted_so_far(client, monkeypatch):
    X, y = surface()
    blocks, targets = da.from_array(X, chunks=CHUNKS), da.from_array(y, chunks=200)
    model = DaskSparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=60)
    every = clone(model).fit(blocks, targets).to_local().predict(X)
    real = BranchFitting.advance

    def advance(self):
        if len(self.trace) == 1:
            raise KeyboardInterrupt
        return real(self)

    monkeypatch.setattr(BranchFitting, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blocks, targets)
    assert model.stop_reason_.rule == "interrupted"
    assert 0 < model.n_columns_ < 600
    values, part = model.to_local().predict(X), model._model.parts[0]
    reached = (np.diff(part.starts) > 0)[part.tree.assign(X)]
    assert_allclose(values[reached], every[reached], rtol=1e-6)
    assert_allclose(values[~reached], y.mean())


@cache
def fitted_in_cells():
    return SparseKernelRegressor(cells=150).fit(*surface(400))


def test_cells_choose_what_they_choose_locally(client):
    X, y = surface(400)
    local = fitted_in_cells()
    blocks = da.from_array(X, chunks=(250, 1))  # in chunks of columns too
    model = DaskSparseKernelRegressor(cells=150, client=client).fit(blocks, da.from_array(y))
    assert str(model.choice_) == str(local.choice_)
    assert_allclose(model.to_local().predict(X), local.predict(X), rtol=1e-5, atol=1e-5)


def test_auto_decides_as_it_does_locally(client, monkeypatch):
    monkeypatch.setattr(cells_plan, "AUTO_ROWS", 200)
    monkeypatch.setattr(cells_plan, "AUTO", Cells(80))
    X, y = surface(240)
    blocks, targets = da.from_array(X, chunks=(100, 2)), da.from_array(y)
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "max_columns": 10, "cells": "auto"}
    model = DaskSparseKernelRegressor(**settings).fit(blocks, targets)
    assert model.n_cells_ == SparseKernelRegressor(**settings).fit(X, y).n_cells_ > 1
    model.set_params(update="full").fit(blocks, targets)
    assert model.n_cells_ is None
    assert model.n_columns_ == 10


def test_the_choice_of_cells_has_a_limit(client):
    X, y = surface(400)
    blocks, targets = da.from_array(X, chunks=(250, 2)), da.from_array(y)
    local = fitted_in_cells()
    model = DaskSparseKernelRegressor(cells=150, max_seconds=1e6).fit(blocks, targets)
    assert str(model.choice_) == str(local.choice_)
    model.set_params(max_seconds=1e-9).fit(blocks, targets)
    assert str(model.stop_reason_).endswith("cut the choice of kernels and ridge short.")
    assert_allclose(model.to_local().predict(X), y.mean())


def test_frames_weights_labels_and_chunks_of_unknown_size(client):
    X, y = surface(300)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-1.0, 1.0])]
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(300) * 2 + 5)
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "max_columns": 20}
    local = SparseKernelClassifier(**settings).fit(frame, labels, weight)
    spread = dd.from_pandas(frame, npartitions=3)
    unknown = dd.from_pandas(pd.Series(labels), npartitions=2).to_dask_array()
    assert np.isnan(unknown.shape[0])
    model = DaskSparseKernelClassifier(**settings)
    model.fit(spread, unknown, da.from_array(weight, chunks=120))
    assert_array_equal(model.feature_names_in_, ["a", "b"])
    assert_array_equal(model.classes_, local.classes_)
    found = model.predict(spread)
    assert isinstance(found, dd.Series)
    assert found.divisions == spread.divisions
    pd.testing.assert_series_equal(
        found.compute(), pd.Series(local.predict(frame), index=frame.index)
    )
    shares = model.predict_proba(spread[spread["a"] < 1.0])  # a partition may lose all its rows
    assert isinstance(shares, dd.DataFrame)
    kept = frame[frame["a"] < 1.0]
    expected = pd.DataFrame(local.predict_proba(kept), kept.index, local.classes_)
    pd.testing.assert_frame_equal(shares.compute(), expected, rtol=1e-6)
    assert model.score(spread, unknown) == pytest.approx(local.score(frame, labels))
    values = model.decision_function(spread.to_dask_array(lengths=True))
    assert values.shape == (300, 3)
    assert_allclose(values.compute(), local.decision_function(X), atol=1e-8)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(spread.rename(columns={"a": "c"}))


def test_predictions_wait_until_they_are_computed_and_keep_the_blocks(client):
    X, y = surface(200)
    blocks = da.from_array(X, chunks=((50, 0, 150), 2))
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "max_columns": 5}
    model = DaskSparseKernelRegressor(**settings).fit(blocks, da.from_array(y))
    found = model.predict(blocks)
    assert found.chunks == ((50, 0, 150),)
    assert_allclose(found.compute(), model.to_local().predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert_allclose(again.predict(blocks).compute(), found.compute())


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_probabilities_wait_too(client, loss):
    X, y = surface(200)
    blocks = da.from_array(X, chunks=((50, 0, 150), 2))
    labels = da.from_array((y > 0).astype(int))
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "max_columns": 5}
    model = DaskSparseKernelClassifier(**settings, loss=loss).fit(blocks, labels)
    found = model.predict_proba(blocks)
    assert found.chunks == ((50, 0, 150), (2,))
    assert_allclose(found.compute(), model.to_local().predict_proba(X))
    local = SparseKernelClassifier(**settings, loss=loss).fit(X, (y > 0).astype(int))
    assert_allclose(found.compute(), local.predict_proba(X), atol=1e-6)


def test_features_stay_on_the_workers(client, monkeypatch):
    """Rows come to the client as samples only, features one at a time."""
    for module in (cell_tree, _table):
        monkeypatch.setattr(module, "SAMPLE", 64)  # small, as these rows are few
    asked = []
    bring = PartitionedTable._fetch

    def watched(self, rows, feature):
        asked.append((len(rows), feature))
        return bring(self, rows, feature)

    monkeypatch.setattr(PartitionedTable, "_fetch", watched)
    X, y = surface(6000)
    blocks = da.from_array(X, chunks=(2000, 2))
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1}
    for more in ({"cells": Cells(400, columns_per_cell=3)}, {"max_columns": 50}):
        asked.clear()
        DaskSparseKernelRegressor(**settings, **more).fit(blocks, da.from_array(y))
        assert asked
        assert sum(n for n, feature in asked if feature is None) < len(X)


def test_progress_and_the_log_of_the_workers_are_seen_on_the_client(client, capsys, caplog):
    client.forward_logging("kboost", level="DEBUG")
    client.run(lambda: logging.getLogger("kboost").setLevel("DEBUG"))
    X, y = surface(120)
    model = DaskSparseKernelRegressor([Gaussian(0.5)], ridge=0.1, cells=60, verbose=1)
    with caplog.at_level("DEBUG", logger="kboost"):
        model.fit(da.from_array(X, chunks=(60, 2)), da.from_array(y))
        assert "branches" in capsys.readouterr().err
        deadline = time.monotonic() + 20
        while "every cell is fitted" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
    client.unforward_logging("kboost")
    assert "every cell is fitted" in caplog.text


def test_an_asynchronous_client_is_not_blocked(cluster):
    X, y = surface(60)
    blocks, targets = da.from_array(X, chunks=(30, 2)), da.from_array(y)

    async def work():
        address = cluster.scheduler_address
        async with distributed.Client(address, asynchronous=True) as client:
            model = DaskSparseKernelRegressor([Gaussian(0.5)], ridge=0.1, max_columns=5)
            with pytest.raises(ValueError, match=r"await asyncio\.to_thread"):
                model.fit(blocks, targets)
            await asyncio.to_thread(model.fit, blocks, targets)
            values = await client.compute(model.predict(blocks))
            assert_allclose(values, model.to_local().predict(X))

    asyncio.run(work())


def fatal(work, flag):
    """The same, but it ends the first worker that is asked for it."""
    here = os.getpid()

    def once(*arguments):
        if os.getpid() != here and not os.path.exists(flag):
            Path(flag).touch()
            os._exit(1)
        return work(*arguments)

    return once


@pytest.mark.parametrize("stage", ["source", "_as_rows", "_facts", "take"])
def test_a_worker_that_dies_while_rows_are_taken_over_does_not_end_the_fit(
    client, tmp_path, monkeypatch, stage
):
    X, y = surface(240)
    flag = str(tmp_path / "died")
    blocks, targets = da.from_array(X, chunks=(60, 2)), da.from_array(y, chunks=60)
    if stage == "source":
        blocks = blocks.map_blocks(fatal(np.copy, flag), meta=np.empty((0, 2)))
    else:
        monkeypatch.setattr(_table, stage, fatal(getattr(_table, stage), flag))
    settings = {"kernels": [Gaussian(0.5)], "ridge": 0.1, "max_columns": 20}
    model = DaskSparseKernelRegressor(**settings).fit(blocks, targets)
    assert os.path.exists(flag)
    local = SparseKernelRegressor(**settings).fit(X, y)
    assert_allclose(model.dual_coef_, local.dual_coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("more", [{"cells": 60}, {"max_columns": 20}])
def test_a_worker_that_is_killed_does_not_end_the_fit(client, tmp_path, more):
    flag, here = str(tmp_path / "died"), os.getpid()

    class Fatal(Gaussian):
        """Ends the first worker that computes it."""

        def profile(self, block):
            if os.getpid() != here and not os.path.exists(flag):
                Path(flag).touch()
                os._exit(1)
            return super().profile(block)

    X, y = surface(240)
    blocks, targets = da.from_array(X, chunks=(60, 2)), da.from_array(y, chunks=60)
    model = DaskSparseKernelRegressor([Fatal(0.5)], ridge=0.1, **more).fit(blocks, targets)
    assert os.path.exists(flag)
    local = SparseKernelRegressor([Gaussian(0.5)], ridge=0.1, **more).fit(X, y)
    assert_allclose(model.dual_coef_, local.dual_coef_, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((4, 2))}, "X must be a dask array or data frame; got ndarray.*from_array"),
        ({"y": np.zeros(4)}, "y must be a dask array or data frame; got ndarray"),
        ({"X": da.zeros(4)}, "X must be two-dimensional"),
        ({"X": da.zeros((0, 2))}, "X must have at least one row; got only empty partitions"),
        ({"y": da.zeros(3)}, "y must have one value per row; got 3 for 4 rows"),
        ({"X": da.from_array(np.full((4, 2), np.nan))}, "X contains NaN"),
        (
            {"kernels": "precomputed"},
            "kernels must be evaluated at rows in kboost.dask; got",
        ),
        ({"client": "here"}, "client must be a distributed.Client"),
        ({"ridge": -1.0}, "ridge must be positive"),
        ({"cells": 2, "update": "one"}, r"cells require update='joint'; got update=One\("),
        (
            {"cells": 2, "update": Joint(5)},
            r"cells require update='joint'; got .*per_step=5",
        ),
        ({"cells": 2, "memory_budget": 7}, "memory_budget must hold the kernel values of a cell"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(client, change, message):
    given = {"X": da.ones((4, 2)), "y": da.arange(4)} | change
    X, y = given.pop("X"), given.pop("y")
    model = DaskSparseKernelRegressor(**given)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


def test_without_a_client_the_message_says_how_to_start_one():
    model = DaskSparseKernelRegressor()
    with pytest.raises(ValueError, match=r"distributed\.Client\(\) starts one"):
        model.fit(da.ones((4, 2)), da.ones(4))


def test_copies_share_the_client(client):
    model = DaskSparseKernelClassifier(ridge=0.5, client=client)
    copy = clone(model)
    assert copy.client is client
    assert copy.ridge == 0.5
    assert "client" not in copy.to_local().get_params()
    assert not hasattr(model, "partial_fit")
