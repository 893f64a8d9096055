"""Kernel matrices within `memory_budget`, or refused with the number that would do."""

import re
import tracemalloc

import numpy as np
import pytest

from kboost import MKBoostClassifier
from kboost.baselines import (
    BoostedSVMClassifier,
    CompositeSVC,
    CompositeSVR,
    KernelDesignClassifier,
    MKLClassifier,
)
from kboost.boosting import fit as boosting
from kboost.columns import gram
from kboost.columns.gram import kernel_matrices, kernel_sum, rows_within, sample_bytes
from kboost.kernels import Gaussian, Laplacian, Linear

N = 700
KERNELS = [Linear(), Gaussian(0.3), Gaussian(0.7), Laplacian(0.4)]
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 4))
y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=N) > 0).astype(int)

MODELS = {
    "MKL": MKLClassifier(KERNELS, tol=0.1),
    "design": KernelDesignClassifier(Gaussian(0.5), max_iter=3),
    "linear design": KernelDesignClassifier(Linear(), max_iter=3),
    "sum": CompositeSVC(KERNELS),
    "tube": CompositeSVR(KERNELS),
    "rounds": MKBoostClassifier(KERNELS, max_iter=2, sample_ratio=1.0),
    "one kernel": BoostedSVMClassifier(KERNELS, max_iter=2, n_folds=3),
}
WORDS = r"^memory_budget must be at least (\d+) bytes for .* rows; got memory_budget=1000\.$"


@pytest.fixture(autouse=True)
def _as_with_many_rows(monkeypatch):
    """Blocks of a few rows, and no floor: so few rows are below what any budget allows."""
    monkeypatch.setattr(boosting, "LEAST_BUDGET", 0)
    monkeypatch.setattr(gram, "_CHUNK", 50 * N)
    monkeypatch.setattr(gram, "_BLOCK", 50 * N)


def refusal(model):
    with pytest.raises(ValueError, match=WORDS) as refused:
        model.set_params(memory_budget=1000).fit(X, y)
    return int(re.match(WORDS, str(refused.value))[1])


@pytest.mark.parametrize("name", MODELS)
def test_the_named_budget_is_enough_and_bounds_the_peak(name):
    model = MODELS[name]
    budget = refusal(model)
    tracemalloc.start()
    try:
        model.set_params(memory_budget=budget).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * budget + 2**22
    with pytest.raises(ValueError, match=r"^memory_budget must be at least"):
        model.set_params(memory_budget=budget - 1).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_nothing_is_computed_before_the_refusal(name, monkeypatch):
    def forbidden(*_):
        raise AssertionError("kernel values were computed.")

    monkeypatch.setattr(gram, "evaluate", forbidden)
    refusal(MODELS[name])


def test_problems_in_threads_share_the_budget():
    three = y + (X[:, 2] > 0.5)
    alone, threads = (
        MKLClassifier(KERNELS, memory_budget=1000, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    numbers = []
    for model in (alone, threads):
        with pytest.raises(ValueError, match=WORDS) as refused:
            model.fit(X, three)
        numbers.append(int(re.match(WORDS, str(refused.value))[1]))
    assert numbers[1] == 2 * numbers[0]


@pytest.mark.parametrize("name", ["rounds", "one kernel"])
def test_under_a_time_limit_rounds_draw_what_fits(name):
    budget = sample_bytes(KERNELS, 100)
    model = MODELS[name].set_params(memory_budget=budget, max_seconds=60)
    try:
        model.fit(X, y)
    finally:
        model.set_params(max_seconds=None)
    assert 0 < max(record.n_rows for record in model.trace_) <= 150  # fewer pairings, more rows


def test_rows_within_a_budget():
    for n_rows in (2, 17, 100):
        budget = sample_bytes(KERNELS, n_rows, n_jobs=2)
        assert rows_within(KERNELS, budget, n_jobs=2) == n_rows
        assert rows_within(KERNELS, budget - 1, n_jobs=2) == n_rows - 1


def test_blocks_of_rows_change_no_value(monkeypatch):
    blocks = kernel_matrices(KERNELS, X, X)
    monkeypatch.setattr(gram, "_CHUNK", N * N)
    whole = kernel_matrices(KERNELS, X, X)
    np.testing.assert_allclose(blocks, whole, rtol=1e-12, atol=1e-14)
    monkeypatch.setattr(gram, "_CHUNK", 50 * N)
    np.testing.assert_allclose(kernel_sum(KERNELS, X, X), whole.sum(axis=0), rtol=1e-12)
