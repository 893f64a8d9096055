"""Kernel boosting with its pricing on a real cluster: the local result."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.dask import DaskKernelBoostClassifier, DaskKernelBoostRegressor
from kboost.kernels import Gaussian, Linear, default_kernels
from kboost.selection import c_path
from kboost.settings import ColumnGeneration, Halfspaces

EARLY = ColumnGeneration(early_stopping=0.3)
STRATIFIED = ColumnGeneration(pricing="stratified")
CHUNKS = ((40, 0, 65, 15), 2)  # of unequal size, one empty


def moons(n=120):
    X, y = make_moons(n, noise=0.25, random_state=0)
    return np.vstack([X[: n - 10], X[:10]]), np.append(y[: n - 10], y[:10])  # some rows twice


PLAIN = default_kernels(moons()[0])  # what "auto" is on a cluster


@pytest.mark.parametrize(
    "settings",
    [
        {"C": 2.0, "kernels": [Linear(), Gaussian("mean")], "solver": EARLY},
        {"C": 2.0, "kernels": PLAIN, "penalty": "l2", "column_scaling": None, "max_columns": 20},
        {"C": 2.0, "kernels": [Linear(), Gaussian(1.0)], "solver": STRATIFIED},
        {"kernels": [Linear(), Gaussian(1.0)]},  # C="auto"
    ],
)
def test_the_mixture_is_the_local_one(client, settings, monkeypatch):
    monkeypatch.setattr(c_path, "SPLITS", ((len(moons()[0]), 2),))  # each step asks the cluster
    X, y = moons()
    local = KernelBoostClassifier(**settings).fit(X, y)
    model = DaskKernelBoostClassifier(**settings)
    model.fit(da.from_array(X, chunks=CHUNKS), da.from_array(y, chunks=50))
    assert pytest.approx(local.C_) == model.C_
    assert (model.tuning_ is None) == ("C" in settings)
    assert_allclose(model.objective_, local.objective_, rtol=1e-6)
    decision = model.decision_function(da.from_array(X, chunks=CHUNKS))
    assert_allclose(decision.compute(), local.decision_function(X), atol=1e-6)
    found = model.predict_proba(da.from_array(X, chunks=CHUNKS))
    assert found.chunks == (CHUNKS[0], (2,))
    # one slope, of models without some of the rows, which are solved to `tol` only
    assert_allclose(found.compute(), local.predict_proba(X), atol=1e-4)
    assert_array_equal(model.predict(da.from_array(X)).compute(), local.predict(X))


def sinc(n=100):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sinc(X[:, 0]) + X[:, 1], rng.integers(0, 3, size=n)


def test_regression_with_weights(client):
    X, y, weight = sinc()
    settings = {"C": 5.0, "kernels": ["linear", Gaussian("median", on="ranks")]}
    local = KernelBoostRegressor(**settings).fit(X, y, weight)
    model = DaskKernelBoostRegressor(**settings)
    model.fit(da.from_array(X, chunks=(30, 2)), da.from_array(y), da.from_array(weight))
    assert pytest.approx(local.C_) == model.C_
    assert_allclose(model.objective_, local.objective_, rtol=1e-6)
    assert_allclose(model.to_local().predict(X), local.predict(X), atol=1e-5)


def test_distributed_validation_rows_choose_the_step(client):
    X, y, weight = sinc()
    blocks = [da.from_array(each, chunks=40) for each in (X[:60], y[:60])]
    given = [da.from_array(each, chunks=30) for each in (X[60:], y[60:], weight[60:])]
    model = DaskKernelBoostRegressor(["linear", "rbf"], C=5.0, max_columns=10)
    model.fit(*blocks, None, *given)
    errors = [step.validation_error for step in model.trace_]
    off = (y[60:] - model.to_local().predict(X[60:])) ** 2
    assert min(errors) == pytest.approx(np.average(off, weights=weight[60:]))
    assert min(errors) < 0.5 * errors[0]


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"kernels": "active"}, {}, "kernels must be evaluated at rows .* got kernels='active'"),
        ({"kernels": Halfspaces()}, {}, "kernels must be evaluated at rows"),
        ({}, {"X_val": da.ones((4, 2))}, "X_val and y_val must be given together"),
        ({}, {"X_val": np.ones((4, 2)), "y_val": da.ones(4)}, "X_val must be a dask array"),
        ({}, {"X_val": da.ones((4, 2)), "y_val": da.ones(3)}, "y_val must have one value per row"),
        ({}, {"X_val": da.ones((4, 3)), "y_val": da.ones(4)}, "X has 3 features"),
        (
            {"kernels": "precomputed"},
            {},
            "kernels must be .* got kernels='precomputed'",
        ),
    ],
)
def test_what_a_cluster_has_no_use_for_is_refused(client, settings, given, message):
    model = DaskKernelBoostRegressor(**settings)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(da.ones((4, 2)), da.arange(4), **given)
    assert vars(model) == before
