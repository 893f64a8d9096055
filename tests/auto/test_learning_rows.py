"""The rows of the search: merged by x, or repeated where one x has several targets."""

import numpy as np
import pytest

from kboost import AutoKernelClassifier, AutoKernelRegressor
from kboost.auto.learning_rows import learning_rows, row_counts
from kboost.data.indexed_rows import indexed_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
CODES = RNG.integers(3, size=(200, 2)).astype(float)  # nine different rows
SIGNS = np.where(RNG.uniform(size=200) < (1 + CODES[:, 0]) / 4, 1.0, -1.0)[:, None]


def rows_of(X, targets, weight):
    return learning_rows(X, indexed_rows(X, targets, weight), labels=True)


def same(one, other):
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.targets, other.targets)
    np.testing.assert_array_equal(one.weight, other.weight)


def test_distinct_rows_stay_as_they_are():
    rows = rows_of(X, X[:, :1], np.ones(30))
    assert sorted(rows.X.tolist()) == sorted(X.tolist())
    assert (rows.weight == 1).all()


@pytest.mark.parametrize("weight", [2.0, 5.0, 0.5])
def test_weights_do_not_repeat_rows(weight):
    """A row that is left out must not be among the training rows."""
    rows = rows_of(X, np.sign(X[:, :1]), np.full(30, weight))
    assert len(rows) == 30
    assert (rows.weight == weight).all()


def test_rows_of_one_x_with_several_targets_are_left_out_one_by_one():
    rows = rows_of(CODES, SIGNS, np.ones(200))
    assert len(rows) == 200
    assert rows.targets.sum() == SIGNS.sum()
    assert set(rows.targets.ravel()) == {-1.0, 1.0}


def test_a_row_of_weight_two_equals_the_row_twice():
    weight = RNG.integers(0, 3, size=200)
    repeated = RNG.permutation(np.repeat(np.arange(200), weight))
    same(
        rows_of(CODES, SIGNS, weight.astype(float)),
        rows_of(CODES[repeated], SIGNS[repeated], np.ones(len(repeated))),
    )


def test_weights_with_fractions_merge_the_rows_of_one_x():
    rows = rows_of(CODES, SIGNS, np.full(200, 0.5))
    assert len(rows) == 9
    assert rows.weight.sum() == pytest.approx(100.0)
    assert (np.abs(rows.targets) < 1).any()


def test_the_probabilities_of_repeated_rows_are_their_frequencies():
    model = AutoKernelClassifier().fit(CODES, SIGNS[:, 0])
    proba = model.predict_proba(CODES)[:, 1]
    for level in range(3):
        here = CODES[:, 0] == level
        assert proba[here].mean() == pytest.approx((SIGNS[here] > 0).mean(), abs=0.1)


def test_weights_that_are_shares_count_as_rows():
    np.testing.assert_allclose(row_counts(np.array([0.1, 0.0, 0.3])), [0.5, 0.0, 1.5])
    whole = np.array([1.0, 0.0, 3.0])
    assert row_counts(whole) is whole


@pytest.mark.parametrize("n", [6, 49, 103, 2000])
def test_weights_of_one_over_n_are_one_row_each(n):
    np.testing.assert_array_equal(row_counts(np.full(n, 1.0 / n)), np.ones(n))
    part = np.full(n, 1.0 / n)
    part[0] *= 1.5
    assert (row_counts(part) != np.round(row_counts(part))).any()


def test_a_transformed_target_has_the_mean_of_rows_of_one_x():
    """Merged rows: the mean of the targets is transformed, not the mean of their logarithms."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.uniform(size=(400, 2)), 5, axis=0)
    y = np.exp(2.5 * X.sum(axis=1) + rng.normal(size=len(X)))
    weight = rng.uniform(0.5, 1.5, size=len(X))
    model = AutoKernelRegressor(max_seconds=None).fit(X, y, weight)
    assert model.target_scale_.kind == "log"
    mean = np.average(model.predict(X), weights=weight)
    assert mean == pytest.approx(np.average(y, weights=weight), rel=0.1)
