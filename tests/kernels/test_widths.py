"""Width rules against brute force over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from kboost.kernels import Gaussian, Laplacian, Matern, Polynomial, Sigmoid
from kboost.kernels.widths import width

METRICS = {Gaussian: "sqeuclidean", Matern: "sqeuclidean", Laplacian: "cityblock"}


@pytest.mark.parametrize("family", METRICS)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 30), d=st.integers(1, 7))
def test_mean_and_median_over_all_pairs(family, container, seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 1) * (rng.random((n, d)) < 0.7)
    counts = rng.integers(1, 4, size=n)
    every = np.repeat(X, counts, axis=0)
    distances = cdist(every, every, METRICS[family])
    for rule, spread in (("mean", distances.mean()), ("median", np.median(distances))):
        expected = 1 / (spread or distances.mean() or 1.0)
        got = family(rule).resolve(container(X), sample_weight=counts).gamma
        assert_allclose(got, expected, rtol=1e-10)
        assert_allclose(family(rule).resolve(container(every)).gamma, expected, rtol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_scale_is_that_of_svc(container):
    X = np.random.default_rng(0).normal(1.0, 2.0, size=(30, 4))
    X[X < 0] = 0
    svc = SVC(gamma="scale").fit(container(X), np.arange(30) % 2)
    for kernel in (Gaussian("scale"), Laplacian("scale"), Sigmoid(), Polynomial(2, gamma="scale")):
        assert_allclose(kernel.resolve(container(X)).gamma, svc._gamma, rtol=1e-12)


def test_columns_and_transform_come_before_the_width():
    X = np.random.default_rng(0).normal(size=(25, 4)) * [1, 10, 100, 1000]
    assert_allclose(Gaussian(columns=[2]).resolve(X).gamma, 1 / (2 * X[:, 2].var()))
    assert_allclose(Gaussian(on="standard").resolve(X).gamma, 1 / 8)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_median_of_many_rows(family, container):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    counts = rng.integers(1, 4, size=1500)
    got = family("median").resolve(container(X), sample_weight=counts).gamma
    order = rng.permutation(np.repeat(np.arange(1500), counts))
    assert family("median").resolve(container(X[order])).gamma == got
    every = X[order[:1200]]
    assert_allclose(got, 1 / np.median(cdist(every, every, METRICS[family])), rtol=0.1)


@pytest.mark.parametrize("rule", ["mean", "median", "scale"])
@pytest.mark.parametrize("family", [Gaussian, Laplacian, Sigmoid])
@pytest.mark.parametrize(
    "X", [np.full((5, 2), 3.0), np.full((1, 2), 0.7), np.zeros((3, 1)), np.full((7, 3), 0.1)]
)
def test_no_spread_gives_one(rule, family, X):
    assert family(rule).resolve(X).gamma == pytest.approx(1.0)
    assert family(rule).resolve(sparse.csr_matrix(X)).gamma == pytest.approx(1.0)


@pytest.mark.parametrize("rule", ["mean", "median", "scale"])
@pytest.mark.parametrize("size", [1e-200, 1e-155, 1e150])
def test_never_infinite(rule, size):
    X = size * np.random.default_rng(0).normal(size=(10, 3))
    for family in (Gaussian, Laplacian, Matern):
        gamma = family(rule).resolve(X).gamma
        assert 0 < gamma < np.inf


def test_bad_weights():
    X = np.ones((3, 1))
    for bad in ([1, 2], [1, -1, 1], [0, 0, 0], [1, np.nan, 1]):
        with pytest.raises(ValueError, match="sample_weight must"):
            Gaussian().resolve(X, sample_weight=bad)


@pytest.mark.parametrize("rule", ["mean", "median", "scale"])
@pytest.mark.parametrize("weight", [1e300, 1e-300])
def test_the_unit_of_weights_does_not_matter(rule, weight):
    X = np.random.default_rng(0).normal(size=(30, 2))
    plain = Gaussian(rule).resolve(X)
    assert Gaussian(rule).resolve(X, np.full(30, weight)).gamma == pytest.approx(plain.gamma)


def test_a_rule_needs_a_distance():
    with pytest.raises(ValueError, match="gamma='mean' requires 'sqeuclidean' or 'cityblock'"):
        width("mean", "dot", np.eye(3), np.ones(3))
