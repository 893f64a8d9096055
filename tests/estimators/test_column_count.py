"""The number of columns by held-out rows: few where they are enough, equal for repeated rows."""

import numpy as np
import pytest

from kboost import SparseKernelClassifier, SparseKernelRegressor
from kboost.kernels import Gaussian
from kboost.plans import least_squares

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, size=(150, 2))
SMOOTH = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=150)
KERNELS = [Gaussian(0.5)]


@pytest.mark.parametrize("make", [SparseKernelRegressor, SparseKernelClassifier])
def test_columns_that_gain_nothing_are_left_out(make):
    y = SMOOTH if make is SparseKernelRegressor else np.sign(SMOOTH)
    few = make(KERNELS, ridge=1.0, random_state=0).fit(X, y)
    all_ = make(KERNELS, ridge=1.0, max_columns=150, random_state=0).fit(X, y)
    assert few.n_columns_ < 80 < all_.n_columns_
    assert few.score(X, y) > all_.score(X, y) - 0.03


def test_a_row_of_weight_two_counts_as_two_rows():
    weight = np.where(np.arange(150) % 3, 1, 2)
    model = SparseKernelRegressor(KERNELS, ridge=1.0, random_state=0)
    weighted = model.fit(X, SMOOTH, sample_weight=weight)
    found, count = weighted.predict(X), weighted.n_columns_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(SMOOTH, weight))
    assert repeated.n_columns_ == count < 150
    np.testing.assert_allclose(repeated.predict(X), found, atol=1e-6)


def test_given_limits_and_few_rows_are_not_judged():
    assert SparseKernelRegressor(KERNELS, ridge=1.0, max_columns=90).fit(X, SMOOTH).n_columns_ == 90
    small = SparseKernelRegressor(KERNELS, ridge=1.0).fit(X[:60], SMOOTH[:60])
    assert small.n_columns_ == 60


def test_ctrl_c_in_a_trial_keeps_a_first_model(monkeypatch):
    real, calls = least_squares.until_interrupted, []

    def in_the_second_work(work, deadline):  # the first one chooses kernels
        calls.append(1)
        if len(calls) == 1:
            return real(work, deadline)
        deadline.call_off()
        return work(), True

    monkeypatch.setattr(least_squares, "until_interrupted", in_the_second_work)
    model = SparseKernelRegressor(KERNELS, ridge=1.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, SMOOTH)
    assert len(calls) == 2
    assert model.n_columns_ >= 1
    assert model.stop_reason_.rule == "interrupted"
