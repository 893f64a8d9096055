"""Stratified pricing, TR1 and threads as a user meets them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.settings import ColumnGeneration

LQR = [Linear(), Polynomial(2), Gaussian("mean")]


@pytest.fixture(scope="module")
def noisy():
    return make_classification(260, 6, n_informative=4, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("model", [KernelBoostClassifier, KernelBoostRegressor])
def test_the_same_optimum_from_fewer_columns(noisy, model):
    X, y = noisy
    y = y if model is KernelBoostClassifier else X[:, 0] + np.sin(2 * X[:, 1])
    scan, few = (
        model(LQR, C=0.1, solver=ColumnGeneration(pricing), tol=1e-6).fit(X, y)
        for pricing in ("scan", "stratified")
    )
    assert few.objective_ == pytest.approx(scan.objective_, rel=1e-5)
    assert max(few.dual_gap_, scan.dual_gap_) <= 1e-5
    assert scan.trace_.values("n_priced").min() == 780
    assert few.trace_.values("n_priced").mean() < 780


@pytest.mark.parametrize("limit", [{"max_columns": 5}, {"max_iter": 2}], ids=str)
def test_an_early_end_is_certified_over_the_whole_library(noisy, limit):
    model = KernelBoostClassifier(
        LQR, C=0.1, solver=ColumnGeneration(pricing="stratified"), **limit
    ).fit(*noisy)
    best = KernelBoostClassifier(LQR, C=0.1, tol=1e-7).fit(*noisy).objective_
    assert 0 < model.dual_gap_ < 1
    assert model.objective_ * (1 - model.dual_gap_) <= best * (1 + 1e-6)


@pytest.mark.parametrize("pricing", ["scan", "stratified"])
def test_tr1_says_so(noisy, pricing):
    model = KernelBoostClassifier(
        LQR, C=0.05, solver=ColumnGeneration(pricing=pricing, stop_at_errors=True)
    ).fit(*noisy)
    assert str(model.stop_reason_).startswith(
        ("TR1: no column centred at an error point", "optimal")
    )
    assert model.trace_[-1].error_price <= 1e-4
    assert np.isfinite(model.dual_gap_)
    if pricing == "stratified":
        assert model.stop_reason_.rule == "stop_at_errors"


@pytest.mark.parametrize("pricing", ["scan", "stratified"])
@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_threads_change_nothing_but_rounding(noisy, pricing, data):
    X, y = noisy if data == "two classes" else load_iris(return_X_y=True)
    solver = ColumnGeneration(pricing, memory_budget=300_000)
    options = {"C": 0.5, "tol": 1e-6, "solver": solver}
    one, two = (KernelBoostClassifier(LQR, n_jobs=n, **options).fit(X, y) for n in (None, 2))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-5)
    assert np.max(two.dual_gap_) <= 1e-5
