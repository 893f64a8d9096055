"""The additive model with toy hypotheses: waves of one feature each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kboost.core import model as module
from kboost.core.model import AdditiveModel
from kboost.core.protocols import Fit


@dataclass(frozen=True)
class Waves:
    """Hypotheses `sin(frequency x_column + 1)`, a family a column."""

    column: int

    def columns(self, members, X):
        return np.stack([np.sin(m.frequency * X[:, self.column] + 1) for m in members], axis=1)

    def combine(self, members, coef):
        return Part(self, tuple(members), coef)


@dataclass(frozen=True)
class Wave:
    family: Waves
    frequency: float


class Part:
    def __init__(self, family, members, coef):
        self.family, self.members, self.coef, self.seen = family, members, coef, []

    def __call__(self, X):
        self.seen.append(len(X))
        return self.family.columns(self.members, X) @ self.coef


def waves(pairs):
    return [Wave(Waves(column), float(f)) for column, f in pairs]


def fit_of(coef, bias=0.0):
    coef = np.asarray(coef, dtype=float)
    return Fit(coef, bias, np.zeros(0), np.zeros(0), 0.0)


def expected(hypotheses, coef, bias, X):
    out = np.tile(np.asarray(bias, dtype=float), (len(X), 1))
    for h, c in zip(hypotheses, coef, strict=True):
        out += h.family.columns([h], X) * c
    return out


ROWS = np.random.default_rng(0).normal(size=(30, 3))


@given(
    pairs=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=12),
    seed=st.integers(0, 2**32 - 1),
    n_outputs=st.integers(1, 3),
)
def test_decision_is_bias_plus_the_sum_of_terms(pairs, seed, n_outputs):
    rng = np.random.default_rng(seed)
    hypotheses = waves(pairs)
    coef = rng.normal(size=(len(pairs), n_outputs)) * (rng.random((len(pairs), n_outputs)) < 0.7)
    bias = rng.normal(size=n_outputs)
    model = AdditiveModel.assemble(hypotheses, coef, bias)
    decision = model.decision(ROWS)
    assert decision.shape == (30, n_outputs)
    assert_allclose(decision, expected(hypotheses, coef, bias, ROWS), atol=1e-12)
    assert model.n_columns == len(model.coef) == (np.abs(coef).max(axis=1, initial=0) > 0).sum()


def test_members_are_grouped_by_family_in_order_of_appearance():
    hypotheses = waves([(2, 0), (0, 1), (2, 2), (1, 3), (0, 4)])
    model = AdditiveModel.assemble(hypotheses, np.arange(1.0, 6.0)[:, None], np.zeros(1))
    assert [part.family.column for part in model.parts] == [2, 0, 1]
    assert [m.frequency for m in model.parts[0].members] == [0, 2]
    assert_array_equal(model.coef[:, 0], [1, 3, 2, 5, 4])


def test_zeros_and_rounding_are_dropped():
    hypotheses = waves([(0, f) for f in range(5)])
    coef = np.array([0.0, 3.0, 1e-15, -1e-6, -0.0])[:, None]
    model = AdditiveModel.assemble(hypotheses, coef, np.zeros(1))
    assert_array_equal(model.coef[:, 0], [3.0, -1e-6])
    one_output_is_enough = np.array([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]])
    model = AdditiveModel.assemble(hypotheses[:3], one_output_is_enough, np.zeros(2))
    assert_array_equal(model.coef, [[0.0, 2.0], [1.0, 0.0]])


def test_the_scale_of_all_coefficients_does_not_matter():
    hypotheses = waves([(0, 1), (0, 2)])
    for scale in (1e-200, 1e200):
        model = AdditiveModel.assemble(hypotheses, scale * np.ones((2, 1)), np.zeros(1))
        assert model.n_columns == 2


@pytest.mark.parametrize("hypotheses", [[], waves([(0, 1), (1, 1)])])
def test_a_model_without_columns_is_its_bias(hypotheses):
    model = AdditiveModel.assemble(
        hypotheses, np.zeros((len(hypotheses), 2)), np.array([1.0, -2.0])
    )
    assert model.parts == ()
    assert model.n_columns == 0
    assert model.coef.shape == (0, 2)
    assert_array_equal(model.decision(ROWS), np.tile([1.0, -2.0], (30, 1)))


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 1000])
def test_chunks_of_rows_change_nothing(n, monkeypatch):
    X = np.random.default_rng(1).normal(size=(n, 3))
    hypotheses = waves([(0, 1), (1, 2), (0, 3)])
    coef, bias = np.array([[1.0], [2.0], [-3.0]]), np.array([0.5])
    whole = AdditiveModel.assemble(hypotheses, coef, bias).decision(X)
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 600)  # 300 rows of the widest part, 2 columns
    model = AdditiveModel.assemble(hypotheses, coef, bias)
    assert_array_equal(model.decision(X), whole)
    assert whole.shape == (n, 1)
    for part in model.parts:
        assert sum(part.seen) == n
        assert max(part.seen, default=0) <= 300


def test_outputs_share_equal_hypotheses():
    first, second = waves([(0, 1), (1, 2), (0, 3)]), waves([(1, 2), (2, 5), (0, 1)])
    fits = [fit_of([1.0, 2.0, 0.0], 0.1), fit_of([3.0, 4.0, 5.0], -0.2)]
    model = AdditiveModel.stack([(first, fits[0]), (second, fits[1])])
    together = np.column_stack(
        [
            expected(hs, f.coef[:, None], [f.bias], ROWS)
            for hs, f in zip((first, second), fits, strict=True)
        ]
    )
    assert_allclose(model.decision(ROWS), together, atol=1e-12)
    assert model.n_columns == 3  # (0, 1), (1, 2) shared, (2, 5); (0, 3) is zero
    assert_array_equal(model.coef, [[1.0, 5.0], [2.0, 3.0], [0.0, 4.0]])


def test_stacking_one_output_is_assembling_it():
    hypotheses = waves([(0, 1), (1, 2)])
    one = AdditiveModel.stack([(hypotheses, fit_of([1.0, -1.0], 2.0))])
    other = AdditiveModel.assemble(hypotheses, np.array([[1.0], [-1.0]]), np.array([2.0]))
    assert_array_equal(one.decision(ROWS), other.decision(ROWS))


def test_stacking_outputs_without_columns():
    model = AdditiveModel.stack([([], fit_of([], 1.0)), ([], fit_of([], 2.0))])
    assert_array_equal(model.decision(ROWS[:1]), [[1.0, 2.0]])
