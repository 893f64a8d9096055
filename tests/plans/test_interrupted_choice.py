"""Ctrl-C while kernels are chosen: a model of few rows, or none."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.metric import compare
from kboost.model_selection import path
from kboost.selection.learned_kernels import ROWS

N = 3 * ROWS
X = np.random.default_rng(0).normal(size=(N, 3))
WAVE = np.sin(2 * X[:, 0]) + X[:, 1]
SIDE = np.where(WAVE > 0, "above", "below")


@pytest.fixture
def ctrl_c_after_a_family(monkeypatch):
    """SIGINT to this process when the first family of kernels is judged."""
    real, sent = compare.learn_rounds, threading.Event()

    def learn(*arguments):
        fits = real(*arguments)
        if not sent.is_set():
            sent.set()
            os.kill(os.getpid(), signal.SIGINT)
        return fits

    monkeypatch.setattr(compare, "learn_rounds", learn)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    yield sent
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("model", "y"), [(KernelBoostClassifier(), SIDE), (KernelBoostRegressor(), WAVE)]
)
@pytest.mark.usefixtures("ctrl_c_after_a_family")
def test_the_model_is_of_few_rows(model, y):
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_reason_.rule == "interrupted"
    assert 1 <= model.n_columns_ <= 400
    assert model.score(X, y) > 0.8


def test_rows_without_one_of_the_classes_change_nothing(ctrl_c_after_a_family):
    y = SIDE.astype(object)
    y[:20] = [f"class {k}" for k in range(20)]
    model = KernelBoostClassifier()
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert ctrl_c_after_a_family.is_set()
    assert not hasattr(model, "classes_")


@pytest.mark.usefixtures("ctrl_c_after_a_family")
def test_a_path_ends():
    with pytest.raises(KeyboardInterrupt):
        path(KernelBoostRegressor(), X, WAVE)
