"""Long fits say so at the beginning: once, with a time and another estimator."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kboost
from kboost import KernelBoostClassifier, KernelBoostNovelty, KernelBoostRegressor, baselines
from kboost.baselines import MKLClassifier
from kboost.data.sizes import MOST_ROWS, ROW_LIMITS, RowLimit, about, warn_of_size
from kboost.exceptions import LongFitWarning
from kboost.kernels import Linear

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (70.0, "about 1 minute"),
        (960.0, "about 16 minutes"),
        (5.6 * 3600, "about 6 hours"),
        (100 * 3600, "about 4 days"),
    ],
)
def test_times_in_words(seconds, words):
    assert about(seconds) == words


def test_a_long_fit_says_how_long_and_what_else_there_is():
    words = (
        "KernelBoostClassifier may take about 16 minutes for 20,000 rows; "
        "SparseKernelClassifier takes seconds, or set max_seconds."
    )
    with pytest.warns(LongFitWarning) as warned:
        warn_of_size("KernelBoostClassifier", 20_000, 1, None)
    assert [str(w.message) for w in warned] == [words]


def test_classes_take_time_and_limits_are_not_warned_of():
    with pytest.warns(LongFitWarning, match="about 80 minutes"):
        warn_of_size("KernelBoostClassifier", 20_000, 10, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_size("KernelBoostClassifier", 20_000, 1, 60.0)
        warn_of_size("KernelBoostClassifier", MOST_ROWS, 1, None)
        warn_of_size("SparseKernelClassifier", 10**7, 1, None)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelBoostClassifier([Linear()], C=1.0),
        KernelBoostRegressor([Linear()], C=1.0),
        KernelBoostNovelty(),
        MKLClassifier([Linear()]),
    ],
)
def test_an_estimator_warns_once_at_the_line_of_its_fit(estimator, monkeypatch):
    monkeypatch.setitem(ROW_LIMITS, type(estimator).__name__, RowLimit(50, "take another"))
    with pytest.warns(LongFitWarning, match="for 60 rows; take another, or set") as warned:
        estimator.fit(X, Y)
    assert [w.filename for w in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.set_params(max_seconds=1e6).fit(X, Y)


def test_every_estimator_of_the_table_exists():
    for name in ROW_LIMITS:
        assert any(hasattr(module, name) for module in (kboost, baselines, kboost.compose))
