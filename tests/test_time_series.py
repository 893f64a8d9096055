import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from kboost.time_series import embed, iterate


class Counting:
    """A one-step rule that remembers how often it was asked."""

    def __init__(self, rule):
        self.rule = rule
        self.calls = 0

    def predict(self, X):
        self.calls += 1
        return self.rule(X)


@pytest.mark.parametrize(("dimension", "lag"), [(1, 1), (2, 1), (3, 4), (6, 6)])
def test_rows_hold_the_lagged_values(dimension, lag):
    series = np.random.default_rng(0).normal(size=60)
    X, y = embed(series, dimension, lag)
    first = (dimension - 1) * lag
    assert X.shape == (len(series) - first - 1, dimension)
    for i, t in enumerate(range(first, len(series) - 1)):
        assert_array_equal(X[i], [series[t - j * lag] for j in range(dimension)])
        assert y[i] == series[t + 1]


def test_the_true_rule_is_followed_from_every_start():
    # s[t + 1] = 1.6 s[t] - s[t - 2] * 0.4 - 0.3 s[t - 4]
    rng = np.random.default_rng(1)
    series = list(rng.normal(size=5))
    for _ in range(60):
        series.append(1.6 * series[-1] - 0.4 * series[-3] - 0.3 * series[-5])
    model = Counting(lambda X: X @ [1.6, -0.4, -0.3])
    starts = np.arange(4, 50)
    out = iterate(model, series, 12, dimension=3, lag=2, starts=starts)
    truth = np.asarray(series)[starts[:, None] + 1 + np.arange(12)]
    assert_allclose(out, truth, rtol=1e-9, atol=1e-9)
    assert model.calls == 12


def test_many_starts_are_each_start_alone_and_see_no_future():
    series = np.random.default_rng(2).normal(size=40)
    model = Counting(lambda X: np.tanh(X @ [0.7, -0.5, 0.2]))
    starts = [10, 25, 39]
    together = iterate(model, series, 7, dimension=3, lag=5, starts=starts)
    for row, start in zip(together, starts, strict=True):
        alone = iterate(model, series[: start + 1], 7, dimension=3, lag=5, starts=[start])
        assert_allclose(alone[0], row)


def test_one_step_is_the_model_on_the_embedding():
    series = np.random.default_rng(3).normal(size=40)
    model = Counting(lambda X: X.sum(axis=1))
    X, _ = embed(series, 3, 2)
    out = iterate(model, series, 1, dimension=3, lag=2)
    assert_allclose(out[:-1, 0], X.sum(axis=1))
    assert len(out) == len(X) + 1


class Twice:
    def predict(self, X):
        return np.hstack([X, X])


def test_targets_in_a_column_are_values_too():
    series = np.sin(np.arange(40.0))
    X, y = embed(series, 2, 1)
    flat, column = LinearRegression().fit(X, y), LinearRegression().fit(X, y[:, None])
    assert_allclose(
        iterate(column, series, 3, dimension=2, lag=1), iterate(flat, series, 3, dimension=2, lag=1)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: embed(np.arange(31.0)), "more than .* = 31 values; got 31"),
        (lambda: embed(np.ones((4, 2))), "series must be one-dimensional"),
        (lambda: embed(np.arange(40.0), lag=0), "lag must be an integer of at least 1; got lag=0"),
        (lambda: embed([0.0, np.nan, 1.0], 1, 1), "series contains NaN"),
        (lambda: iterate(None, np.arange(9.0), 2, dimension=3, lag=2, starts=[3]), "starts must"),
        (lambda: iterate(None, np.arange(9.0), 2, dimension=3, lag=2, starts=[9]), "starts must"),
        (lambda: iterate(None, np.arange(9.0), 2, dimension=1, starts=[0.5]), "integers"),
        (lambda: iterate(None, np.arange(9.0), 0, dimension=1), "n_steps must be"),
        (lambda: embed(["a", "b"], 1, 1), "series must be finite numbers .*; could not convert"),
        (lambda: embed(3.0), "series must be finite numbers in one dimension"),
        (lambda: embed([], 1, 1), "series must be finite numbers .*; Found array with 0 sample"),
        (lambda: embed(np.arange(40) * 1j), r"series must be finite numbers .* not supported\.$"),
        (lambda: iterate(Twice(), np.arange(9.0), 2, dimension=1), r"model must predict one value"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
