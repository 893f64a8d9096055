"""penalty="l2" in the classifier: an SVM on the scaled columns, and a certificate when it stops."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.settings import ColumnGeneration
from tests.estimators.boost import boost

LIBRARY = [Linear(), Polynomial(2), Gaussian()]


@pytest.fixture(scope="module")
def moons():
    return make_moons(70, noise=0.25, random_state=3)


def test_the_full_problem_is_an_svm_on_the_scaled_columns(moons):
    X, y = moons
    C = 0.02
    model = boost(
        LIBRARY, penalty="l2", C=C, tol=1e-10, solver=ColumnGeneration(columns_per_step=30)
    ).fit(X, y)
    columns = np.hstack([k(X, X) for k in model.kernels_])
    rms = np.sqrt((columns**2).mean(axis=0))
    H = columns / np.maximum(rms, 0.3 * np.abs(columns).max(axis=0))
    svc = SVC(kernel="precomputed", C=C, tol=1e-9).fit(H @ H.T, y)
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(H @ H.T), atol=1e-3
    )
    dual = np.zeros(len(y))
    dual[svc.support_] = svc.dual_coef_[0]
    value = np.abs(dual).sum() - 0.5 * dual @ H @ H.T @ dual
    assert model.objective_ == pytest.approx(value, rel=1e-6)


def test_an_early_stop_is_certified_over_the_whole_library(moons):
    X, y = moons
    full = boost(
        LIBRARY, penalty="l2", tol=1e-10, solver=ColumnGeneration(columns_per_step=30)
    ).fit(X, y)
    for pricing in ("scan", "stratified"):
        early = boost(
            LIBRARY, penalty="l2", max_columns=6, solver=ColumnGeneration(pricing=pricing)
        ).fit(X, y)
        assert early.n_columns_ <= 6
        distance = (early.objective_ - full.objective_) / early.objective_
        assert distance <= early.dual_gap_ * (1 + 1e-9)
        assert early.dual_gap_ < 1


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_stratified_pricing_takes_kernels_in_their_order(moons, penalty):
    X, y = moons
    first = boost(
        [Linear(), Gaussian()],
        penalty=penalty,
        max_iter=1,
        solver=ColumnGeneration(pricing="stratified"),
    ).fit(X, y)
    assert first.columns_per_kernel_["Linear()"] == first.n_columns_
    turned = boost(
        [Gaussian(), Linear()],
        penalty=penalty,
        max_iter=1,
        solver=ColumnGeneration(pricing="stratified"),
    ).fit(X, y)
    assert turned.columns_per_kernel_["Linear()"] == 0
