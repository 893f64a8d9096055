"""The settings of the papers, by name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from kboost import presets
from kboost.datasets import make_sinc
from kboost.kernels import Gaussian, Linear

SCORES = {"CG-k": 0.99, "CG-ak": 0.99, "CG-LP": 0.85, "Bar-k": 0.99, "Bar-ak": 0.99, "Bar-LP": 0.85}


@pytest.fixture(scope="module")
def two_irises():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X[50:]), y[50:]


@pytest.mark.parametrize(("library", "n_kernels"), [("L", 1), ("LR", 2), ("LQR", 3), ("L+Q+R", 1)])
def test_cg_boost_has_the_kernels_of_its_letters(two_irises, library, n_kernels):
    model = presets.cg_boost(library).fit(*two_irises)
    assert len(model.columns_per_kernel_) == n_kernels
    assert (model.penalty, model.solver.pricing) == ("l2", "stratified")
    assert model.score(*two_irises) > 0.9


@pytest.mark.parametrize("library", ["", "X", "L+", "L+QR", "LQ R", None])
def test_other_letters_are_refused(library):
    with pytest.raises(ValueError, match=r"library must be letters of L, Q and R"):
        presets.cg_boost(library)


def test_the_width_of_cg_boost_is_the_mean_squared_distance(two_irises):
    X, _ = two_irises
    (kernel,) = presets.cg_boost("R", C=1.0).fit(*two_irises).kernels_
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    assert kernel.gamma == pytest.approx(1 / squared[np.triu_indices(len(X), 1)].mean(), rel=0.05)


def test_ssmk_has_centres_at_unlabelled_rows():
    X, y = load_digits(n_class=2, return_X_y=True)
    partly = np.where(np.arange(len(y)) < 20, y, -1)
    model = presets.ssmk(20).fit(X, partly)
    assert pytest.approx(2.0) == model.C * 20
    assert np.mean(model.transduction_ == y) > 0.95
    with pytest.raises(ValueError, match="n_labels must be at least 1; got 0"):
        presets.ssmk(0)


def test_mkboost_has_seventeen_kernels(two_irises):
    model = presets.mkboost("S2", max_iter=5, random_state=3)
    assert (len(model.kernels), model.variant, model.C, model.max_iter) == (17, "S2", 50.0, 5)
    widths = [1 / (2 * k.gamma) ** 0.5 for k in model.kernels if isinstance(k, Gaussian)]
    np.testing.assert_allclose(widths, 2.0 ** np.arange(-6, 8))
    assert model.fit(*two_irises).score(*two_irises) > 0.9


@pytest.mark.parametrize("method", SCORES)
def test_regression_ensembles_by_name(method):
    X, y = make_sinc(60, random_state=0)
    model = presets.regression_ensemble(method, max_iter=60).fit(X, y)
    assert model.nu == 0.5
    assert model.score(X, y) > SCORES[method]  # steps at the bounds of halfspaces


def test_an_unknown_ensemble_is_refused():
    with pytest.raises(ValueError, match=r"method must be one of CG-k, CG-ak.*; got 'CG'"):
        presets.regression_ensemble("CG")


def test_base_learners_of_sparse_boosting_have_fifty_columns():
    X, y = make_sinc(400, noise=0.1, random_state=0)
    model = presets.sparse_boosting(Gaussian(50.0), 1e-2, max_columns=100).fit(X, y)
    assert model.n_columns_ == 100
    assert [step.n_columns for step in model.trace_] == [0, 50, 100]
    assert model.score(X, y) > 0.8


def test_a_series_fits_labels(two_irises):
    model = presets.sparse_boosting_series(Gaussian(0.5), 1e-2, max_columns=100)
    assert model.fit(*two_irises).score(*two_irises) > 0.9


def test_settings_replace_those_of_the_paper():
    assert presets.cg_boost("LR", penalty="l1", C=10.0).penalty == "l1"
    assert presets.regression_ensemble("CG-ak", kernels=[Linear()]).kernels == [Linear()]
