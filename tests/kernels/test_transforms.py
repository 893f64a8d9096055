"""Standardised features and ranks."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import rankdata
from sklearn.preprocessing import StandardScaler

from kboost.kernels import Linear
from kboost.kernels.transforms import MAX_KNOTS, Ranks, Standardize

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.7) * [1, 10, 0.1, 1]
W = rng.integers(1, 5, size=50).astype(float)


def test_standardize_is_a_weighted_standard_scaler():
    expected = StandardScaler().fit(X, sample_weight=W).transform(X)
    assert_allclose(Standardize.fit(X, W).apply(X), expected, rtol=1e-12, atol=1e-12)


def test_on_sparse_rows_it_scales_only():
    S = sparse.csr_matrix(X)
    transform = Standardize.fit(S, W)
    scaler = StandardScaler(with_mean=False).fit(S, sample_weight=W)
    assert_allclose(transform.apply(S).toarray(), scaler.transform(S).toarray(), rtol=1e-12)
    assert_array_equal(transform.apply(X), transform.apply(S).toarray())
    assert transform.apply(S).nnz == S.nnz


def test_constant_features_contribute_nothing():
    C = np.column_stack([np.full(50, 0.1), X[:, 0]])
    for fitted in (Standardize.fit(C, W), Standardize.fit(sparse.csr_matrix(C), W)):
        assert_array_equal(fitted.apply(np.array([[0.1, 1.0], [7.0, 1.0]]))[:, 0], 0)
    assert len(set(Ranks.fit(C, W).apply(C + np.array([3.0, 0.0]))[:, 0])) == 1


@settings(max_examples=60)
@given(power=st.integers(-1020, 1020), seed=st.integers(0, 1000))
def test_scale_by_powers_of_two_changes_nothing(power, seed):
    values = np.random.default_rng(seed).uniform(-1, 1, size=(20, 2))
    weights = np.ones(20)
    scaled = np.ldexp(values, power)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (Standardize, Ranks):
            expected = kind.fit(values, weights).apply(values)
            got = kind.fit(scaled, weights).apply(scaled)
            assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_any_finite_feature_becomes_finite_and_stays_in_order(values):
    x = np.array(values)[:, None]
    weights = np.ones(len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (Standardize, Ranks):
            t = kind.fit(x, weights).apply(x)[:, 0]
            assert np.isfinite(t).all()
            assert (np.diff(t[np.argsort(x[:, 0], kind="stable")]) >= -1e-12).all()


def test_ranks_are_mid_ranks_at_the_data_and_linear_between():
    expected = (rankdata(X, axis=0) - 0.5) / len(X)
    assert_allclose(Ranks.fit(X, np.ones(50)).apply(X), expected, rtol=1e-12)
    ranks = Ranks.fit(np.array([[0.0], [1.0]]), np.array([1.0, 3.0]))
    probe = np.array([[-9.0], [0.0], [0.5], [1.0], [9.0]])
    assert_allclose(ranks.apply(probe)[:, 0], [0.125, 0.125, 0.375, 0.625, 0.625])


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n=st.sampled_from([5, 40, 400]))
def test_a_row_given_twice_is_exactly_a_row_of_weight_two(seed, n):
    draw = np.random.default_rng(seed)
    rows = np.round(draw.normal(size=(n, 2)), 3)
    counts = draw.integers(1, 4, size=n)
    order = draw.permutation(np.repeat(np.arange(n), counts))
    once, again = Ranks.fit(rows, counts.astype(float)), Ranks.fit(rows[order], np.ones(len(order)))
    assert once == again
    assert hash(once) == hash(again)


def test_ranks_stay_small_and_close():
    many = rng.standard_cauchy(size=(5000, 2))
    ranks = Ranks.fit(many, np.ones(5000))
    assert np.diff(ranks.starts).max() <= MAX_KNOTS
    exact = (rankdata(many, axis=0) - 0.5) / 5000
    assert np.abs(ranks.apply(many) - exact).max() < 1.5 / MAX_KNOTS
    assert len(pickle.dumps(ranks)) < 2 * 2 * 8 * MAX_KNOTS + 2000


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_rows_have_the_same_ranks_as_many(dtype):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 6)).round(2).astype(dtype)
    rows[:, 1], rows[:, 2], rows[:, 3] = 1.0, rows[:, 2] > 0, rows[:, 3] * 1e30
    ranks = Ranks.fit(rows, np.ones(600)).scaled(np.arange(1.0, 7.0))
    new = np.vstack([rows, 2 * rng.normal(size=(100, 6)).astype(dtype), np.full((1, 6), 1e35)])
    whole = ranks.apply(new.astype(dtype))
    for few in (1, 3):
        pieces = [ranks.apply(new[i : i + few].astype(dtype)) for i in range(0, len(new), few)]
        assert_array_equal(np.concatenate(pieces), whole)


def test_ranks_refuse_sparse_rows():
    with pytest.raises(ValueError, match="on='ranks' requires dense X; got a sparse matrix"):
        Linear(on="ranks").resolve(sparse.csr_matrix(X))


def test_a_fitted_transform_may_be_given():
    transform = Standardize.fit(X, W)
    assert Linear(on="standard").resolve(X, sample_weight=W) == Linear(on=transform)
    with pytest.raises(
        ValueError,
        match=r"on must be fitted on the 2 features that columns selects; got <Standardize",
    ):
        Linear(columns=[0, 1], on=transform).resolve(X)


def test_transforms_are_rebuilt_from_their_arrays():
    for transform in (Standardize.fit(X, W), Ranks.fit(X, W)):
        again = type(transform)(*transform.arrays)
        assert again == transform
        assert transform != Standardize.fit(X + 1, W)
        assert repr(again) == f"<{type(transform).__name__} of 4 features>"


def test_zero_weight_is_absent():
    weights = np.where(np.arange(50) < 30, 1.0, 0.0)
    for on in ("standard", "ranks"):
        weighted = Linear(on=on).resolve(X, sample_weight=weights)
        assert weighted == Linear(on=on).resolve(X[:30])
