"""Targets, weights and costs of absurd size: a model, or one sentence that names them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kboost import (
    KernelBoostClassifier,
    KernelBoostRegressor,
    MKBoostClassifier,
    SparseKernelClassifier,
    SparseKernelRegressor,
)
from kboost.kernels import Gaussian, Linear
from kboost.solvers.libsvm import solve_dual

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
VALUE = X[:, 0] * X[:, 1]
SIGN = (VALUE + 0.3 * RNG.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@pytest.mark.parametrize("options", [{}, {"penalty": "l2"}, {"solver": "barrier"}])
def test_targets_beyond_what_squares_hold(unit, options):
    model = KernelBoostRegressor([Gaussian(0.5)], C=1.0, **options)
    with pytest.raises(ValueError, match=r"y must be between 1e-100 and 1e\+100.*; got \d"):
        model.fit(X, unit * VALUE)


def test_the_2_norm_on_small_targets_is_a_high_cost():
    model = KernelBoostRegressor([Gaussian(0.5)], C=1.0, penalty="l2")
    with pytest.raises(ValueError, match=r"C over the largest size of y must be below 1e\+12; got"):
        model.fit(X, 1e-20 * VALUE)


@pytest.mark.parametrize(
    ("model", "y", "size", "words"),
    [
        (
            KernelBoostClassifier(),
            SIGN,
            1e20,
            "with C='auto' the largest sample weight must be",
        ),
        (KernelBoostRegressor(C=1.0), VALUE, 1e300, "C times the largest sample weight must be"),
        (SparseKernelRegressor(), VALUE, 1e300, "sample_weight must have a sum of at most 1e+100"),
        (MKBoostClassifier(), SIGN, 1e306, "sample_weight must have a sum of at most 1e+305"),
    ],
)
def test_weights_beyond_what_sums_hold(model, y, size, words):
    with pytest.raises(ValueError, match=re.escape(words) + r".*; got \d"):
        model.fit(X, y, sample_weight=np.full(60, size))


def test_a_machine_that_votes_takes_few_steps(monkeypatch):
    """libsvm would take millions at a high cost, for each of the machines of each round."""
    taken = []

    def counted(*arguments):
        found = solve_dual(*arguments)
        taken.append(found[2])
        return found

    monkeypatch.setattr("kboost.boosting.fit.STEPS_OF_A_VOTE", 500)
    monkeypatch.setattr("kboost.boosting.fit.solve_dual", counted)
    model = MKBoostClassifier([Linear()], C=1e6, max_iter=2).fit(X, SIGN)
    assert set(taken) == {500}
    assert model.score(X, SIGN) > 0.5


@pytest.mark.parametrize(
    ("y", "classes", "name"),
    [(np.array(["a", 1] * 30, dtype=object), ["a", "b"], "y"), (SIGN, [0, None], "classes")],
)
def test_labels_of_a_stream_are_of_one_kind(y, classes, name):
    with pytest.raises(
        ValueError, match=f"^{name} must have labels of one kind, without missing values; "
    ):
        SparseKernelClassifier().partial_fit(X, y, classes=classes)
