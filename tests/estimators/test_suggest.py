"""What is suggested follows the table in docs/how_to_choose.md, and gives its reason."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import kboost
from kboost._suggest import task_of

RNG = np.random.default_rng(0)
ROWS = np.zeros((50, 3))
MIXED = pd.DataFrame({"a": ["x", None] * 25, "b": np.arange(50.0)})


@pytest.mark.parametrize(
    ("X", "y", "expected", "reason"),
    [
        (ROWS, None, "KernelBoostNovelty()", "no y"),
        (ROWS, np.arange(50) % 2, "AutoKernelClassifier()", "2 classes and 50 rows: Laplacian, "),
        (ROWS, np.array(["a", "b"] * 25), "AutoKernelClassifier()", "at most 60 seconds"),
        (ROWS, RNG.normal(size=50), "AutoKernelRegressor()", "numbers and 50 rows"),
        (MIXED, np.arange(50) % 3, "AutoKernelClassifier()", "3 classes"),
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
        (np.zeros((60, 3)), np.r_[-np.ones(40), np.ones(20)], "AutoKernelClassifier()", "2 cl"),
        (
            np.zeros((60_000, 1)),
            np.arange(60_000) % 2,
            "AutoKernelClassifier()",
            "kernels and their blend compete, by default for at most 180 seconds.",
        ),
        (sparse.csr_matrix((60, 4)), np.arange(60) % 2, "AutoKernelClassifier()", "60 rows"),
        (
            sparse.csr_matrix((60_000, 4000)),
            np.arange(60_000) % 2,
            "SparseKernelClassifier()",
            "60,000 sparse rows of 4,000 features",
        ),
        (
            sparse.csr_matrix((60_000, 4000)),
            RNG.normal(size=60_000),
            "SparseKernelRegressor()",
            "numbers and 60,000 sparse rows",
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
    model = kboost.suggest(X, X[:, 0] > 0).estimator.fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) > 0.9


def test_estimators_of_numbers_come_with_a_preparation():
    found = kboost.suggest(MIXED).estimator
    assert [type(step).__name__ for step in found] == ["TablePreparation", "KernelBoostNovelty"]
    assert set(found.fit(MIXED).predict(MIXED)) <= {-1, 1}
    gaps = np.where(np.eye(50, 3) > 0, np.nan, 0.0)
    assert "TablePreparation" in repr(kboost.suggest(gaps).estimator)
    labels = np.r_[np.full(40, -1), np.arange(10) % 2]
    assert "TablePreparation" in repr(kboost.suggest(MIXED, labels).estimator)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": np.zeros((5, 2)), "y": np.zeros(4)}, "one value per row; got 4 for 5 rows"),
        ({"X": np.zeros((1, 2))}, "at least 2 rows; got 1"),
        ({"X": np.zeros((5, 2)), "y": np.zeros(5), "task": "ranking"}, "task must be"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(ValueError, match=words):
        kboost.suggest(**arguments)
