"""Columns on demand: the same numbers however they are asked for."""

import time

import numpy as np
import pytest

from kboost.columns.candidates import CandidateColumns
from kboost.columns.float32 import AugmentedRows
from kboost.kernels import Gaussian, Laplacian, Linear, Matern

RNG = np.random.default_rng(2)
X = RNG.normal(size=(300, 6))
KERNELS = [
    k.resolve(X) for k in (Gaussian(0.2), Laplacian(0.1, on="standard"), Linear(columns=[0, 3]))
]
ORDER = RNG.permutation(300)[:200]


def expected(ids, rows):
    columns = [KERNELS[j // 200](X[ORDER[rows]], X[ORDER[[j % 200]]])[:, 0] for j in ids]
    return np.column_stack(columns)


@pytest.mark.parametrize("options", [{}, {"n_jobs": 3}, {"lazy": True}])
def test_values_are_those_of_the_kernels(options, monkeypatch):
    monkeypatch.setattr("kboost.columns.candidates._CHUNK", 200)
    candidates = CandidateColumns(KERNELS, X, order=ORDER, **options)
    ids, rows = RNG.permutation(600)[:30], np.array([5, 7, 199, 0])
    np.testing.assert_allclose(candidates.values(ids), expected(ids, np.arange(200)), atol=1e-12)
    np.testing.assert_allclose(candidates.values(ids, rows), expected(ids, rows), atol=1e-12)
    np.testing.assert_allclose(
        candidates.values(ids, slice(10, 150)), expected(ids, np.arange(10, 150)), atol=1e-12
    )


@pytest.mark.parametrize("options", [{}, {"lazy": True}])
def test_float32_columns_are_rounded_ones(options, monkeypatch):
    monkeypatch.setattr("kboost.columns.candidates._CHUNK", 200)
    wide = [Gaussian(1e-40), Gaussian(1e-44) + Linear(), Matern(0.2, nu=0.5)]
    kernels = [*KERNELS, *(k.resolve(X) for k in wide)]
    candidates = CandidateColumns(kernels, 1e3 + X, order=ORDER, **options)
    ids = RNG.permutation(1200)[:40]
    out = np.empty((200, 40), dtype=np.float32)
    assert candidates.values(ids, out=out) is out
    exact = candidates.values(ids)
    unit = np.abs(exact).max(axis=0)
    np.testing.assert_allclose(out / unit, exact / unit, atol=1e-5)


def test_threads_measure_rows_and_centres_from_one_point(monkeypatch):
    """Chunks that come while another thread still prepares the rows are no different."""

    class SlowRows(AugmentedRows):
        def __init__(self, *parts):
            time.sleep(0.05)
            super().__init__(*parts)

    monkeypatch.setattr("kboost.columns.candidates._CHUNK", 200)
    monkeypatch.setattr("kboost.columns.candidates.AugmentedRows", SlowRows)
    candidates = CandidateColumns([KERNELS[0]], 1e2 + X, order=ORDER, n_jobs=3)
    found = candidates.values(np.arange(3), out=np.empty((200, 3), dtype=np.float32))
    np.testing.assert_allclose(found, expected(np.arange(3), np.arange(200)), atol=1e-5)


def test_hypotheses_and_diagonals_are_those_columns():
    candidates = CandidateColumns(KERNELS, X, order=ORDER)
    ids = np.array([3, 203, 599])
    for j, h in zip(ids, candidates.hypotheses(ids), strict=True):
        np.testing.assert_allclose(
            h.family.columns([h], X[ORDER])[:, 0],
            candidates.values(np.array([j]))[:, 0],
            atol=1e-12,
        )
        assert h.index == j % 200
    own = [candidates.values(ids[[i]], candidates.rows_of(ids[[i]]))[0, 0] for i in range(3)]
    np.testing.assert_allclose(candidates.diagonal(ids), own)


def test_a_part_keeps_the_rows_and_the_names_of_its_centres():
    twice = np.vstack([X[:5], X[:5]])[[0, 5, 1, 6, 2, 7, 3, 8, 4, 9]]
    candidates = CandidateColumns(KERNELS[:1], twice, center_rows=np.arange(0, 10, 2))
    part = candidates.subset(np.array([1, 4, 5, 9]))
    assert part.center_rows.tolist() == [0, 1, 3]
    assert [h.index for h in part.hypotheses(np.arange(3))] == [0, 2, 4]
    np.testing.assert_allclose(
        part.values(np.array([1])), candidates.values(np.array([2]), np.array([1, 4, 5, 9]))
    )
