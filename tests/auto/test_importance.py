"""Shares of the columns in the variation of a model."""

import numpy as np
import pytest

from kboost.auto import importance
from kboost.auto.final_fit import Member, fit_members
from kboost.auto.importance import total_effects
from kboost.data.indexed_rows import indexed_rows
from kboost.kernels import Gaussian, Linear

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))


SMOOTH = Gaussian(0.1)


def model_of(y, kernel=SMOOTH):
    rows = indexed_rows(X, y[:, None], np.ones(len(X)))
    return fit_members([Member(kernel, 1e-3, 1.0)], X, rows, labels=False).model


def test_the_relevant_column_has_the_largest_share():
    shares = total_effects(model_of(np.sin(2 * X[:, 2])), X, [slice(j, j + 1) for j in range(4)])
    assert shares.sum() == pytest.approx(1.0)
    assert shares.argmax() == 2
    assert shares[2] > 0.8


def test_the_shares_of_a_linear_function_are_its_variances():
    model = model_of(X @ [3.0, 2.0, 1.0, 0.0], Linear())
    shares = total_effects(model, X, [slice(j, j + 1) for j in range(4)])
    np.testing.assert_allclose(shares, np.array([9, 4, 1, 0]) / 14, atol=0.1)


def test_the_features_of_a_column_count_together():
    model = model_of(X @ [3.0, 2.0, 1.0, 0.0], Linear())
    shares = total_effects(model, X, [slice(0, 2), slice(2, 2), slice(2, 4)])
    np.testing.assert_allclose(shares, np.array([13, 0, 1]) / 14, atol=0.1)


def test_a_constant_has_no_shares():
    shares = total_effects(model_of(np.ones(200)), X, [slice(j, j + 1) for j in range(4)])
    assert not shares.any()


@pytest.mark.parametrize(("hurry", "n_rows"), [(False, 20), (True, 5)])
def test_large_models_are_evaluated_at_few_rows(monkeypatch, hurry, n_rows):
    monkeypatch.setattr(importance, "_ENTRIES", 1)
    model = model_of(X @ [3.0, 2.0, 1.0, 0.0], Linear())
    seen, decision = [], type(model).decision

    def counted(self, rows):
        seen.append(len(rows))
        return decision(self, rows)

    monkeypatch.setattr(type(model), "decision", counted)
    shares = total_effects(model, X, [slice(j, j + 1) for j in range(4)], hurry=hurry)
    assert seen == [n_rows, 4 * n_rows]
    assert shares.argmin() == 3
