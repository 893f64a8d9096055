"""What is suggested follows the table in docs/how_to_choose.md, and gives its reason."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import kboost
from kboost._suggest import task_of

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("X", "y", "expected", "reason"),
    [
        (np.zeros((50, 3)), None, "KernelBoostNovelty()", "no y"),
        (np.zeros((50, 3)), np.arange(50) % 2, "KernelBoostClassifier()", "2 classes and 50 rows"),
        (np.zeros((50, 3)), np.array(["a", "b"] * 25), "KernelBoostClassifier()", "2 classes"),
        (np.zeros((50, 3)), RNG.normal(size=50), "KernelBoostRegressor()", "numbers and 50 rows"),
        (
            np.zeros((5, 60)),
            RNG.normal(size=5),
            "KernelBoostRegressor(kernels='halfspaces')",
            "60 features",
        ),
        (
            np.zeros((60, 3)),
            np.r_[np.full(40, -1), np.zeros(10), np.ones(10)],
            "SemiSupervisedKernelBoostClassifier()",
            "40 of 60",
        ),
        (np.zeros((60, 3)), np.r_[-np.ones(40), np.ones(20)], "KernelBoostClassifier()", "2 cl"),
        (np.zeros((6000, 2)), np.arange(6000) % 3, "SparseKernelClassifier()", "6,000 rows"),
        (np.zeros((4000, 2)), np.arange(4000) % 9, "SparseKernelClassifier()", "9 classes"),
        (np.zeros((6000, 2)), RNG.normal(size=6000), "SparseKernelRegressor()", "6,000 rows"),
        (
            np.zeros((60_000, 1)),
            np.arange(60_000) % 2,
            "SparseKernelClassifier(cells='auto')",
            "cells",
        ),
        (
            sparse.csr_matrix((60_000, 4)),
            np.arange(60_000) % 2,
            "SparseKernelClassifier()",
            "60,000 rows",
        ),
    ],
)
def test_suggestions(X, y, expected, reason):
    found = kboost.suggest(X, y)
    assert repr(found.estimator) == expected
    assert reason in found.reason
    assert str(found) == f"{expected}: {found.reason}"


def test_the_task_may_be_said():
    y = np.arange(30) % 5
    assert task_of(y) == "classification"
    assert "Regressor" in repr(kboost.suggest(np.zeros((30, 1)), y, task="regression").estimator)


def test_what_is_suggested_can_be_fitted():
    X = RNG.normal(size=(40, 2))
    model = kboost.suggest(X, X[:, 0] > 0).estimator.set_params(C=1.0).fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) > 0.9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": np.zeros((5, 2)), "y": np.zeros(4)}, "one value per row; got 4 for 5 rows"),
        ({"X": np.zeros((5, 2)), "y": np.zeros(5), "task": "ranking"}, "task must be"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        kboost.suggest(**arguments)
