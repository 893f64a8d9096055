"""`fit` ends inside its limits, says why, and survives Ctrl-C."""

import logging
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning

from kboost._estimator.base import KernelEstimator
from kboost.core.iterate import logger
from kboost.exceptions import OutOfTimeError
from kboost.kernels import Gaussian, Linear, default_kernels
from kboost.oracles.scan import ScanSearch
from kboost.settings import ColumnGeneration, EarlyStopping
from tests.estimators.boost import boost


@pytest.fixture(scope="module")
def noisy():
    return make_classification(200, 8, flip_y=0.2, random_state=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "optimal"),
        ({"max_columns": 7}, "max_columns=7 reached; best remaining price"),
        ({"max_iter": 2}, "max_iter=2 reached; best remaining price"),
        ({"solver": ColumnGeneration(early_stopping=EarlyStopping(0.3, 2))}, "validation"),
    ],
)
def test_the_reason_is_given_in_words(noisy, options, message):
    model = boost(kernels=default_kernels(noisy[0]), **options).fit(*noisy)
    assert message in str(model.stop_reason_)
    assert model.n_iter_ == max(1, len(model.trace_) - 1)


@pytest.mark.parametrize("limit", [1, 3])
def test_max_iter_bounds_n_iter_and_warns_once(noisy, limit):
    with pytest.warns(ConvergenceWarning, match=f"max_iter={limit} reached") as caught:
        model = boost(max_iter=limit).fit(*noisy)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.n_iter_ == limit


@pytest.mark.parametrize(("options", "rule"), [({}, "tol"), ({"max_columns": 3}, "max_columns")])
def test_other_ends_do_not_warn(noisy, options, rule):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = boost(**options).fit(*noisy)
    assert model.stop_reason_.rule == rule


@pytest.mark.parametrize("limit", [1, 5, 40])
def test_no_more_columns_than_allowed(noisy, limit):
    model = boost(max_columns=limit).fit(*noisy)
    assert 1 <= model.n_columns_ <= limit
    assert model.trace_[-1].n_columns <= limit
    assert 0 < model.dual_gap_ <= 1  # the certificate speaks of the whole library


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_time_that_is_over_inside_the_first_search_leaves_a_constant(n_jobs, monkeypatch):
    def late(search, run):
        raise OutOfTimeError("the linear program was not solved")

    monkeypatch.setattr(ScanSearch, "propose", late)
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(ConvergenceWarning, match="the model is a constant"):
        model = boost(max_seconds=60.0, n_jobs=n_jobs).fit(X, np.arange(30) % 3)
    assert model.n_columns_ == 0
    assert [len(trace) for trace in model.trace_] == [0, 0, 0]


def test_more_columns_lower_the_objective(noisy):
    small, large = (boost(max_columns=m).fit(*noisy) for m in (5, 40))
    assert large.objective_ < small.objective_


def test_time_limit_inside_the_solver_keeps_the_last_step(noisy, monkeypatch):
    from kboost.exceptions import OutOfTimeError
    from kboost.masters.lp import LPRun

    plain = LPRun.extend
    calls = []

    def extend(self, proposal):
        calls.append(1)
        if len(calls) == 3:
            raise OutOfTimeError("late")
        plain(self, proposal)

    monkeypatch.setattr(LPRun, "extend", extend)
    model = boost().fit(*noisy)
    assert "max_seconds reached while solving" in str(model.stop_reason_)
    assert model.objective_ == model.trace_[-1].objective
    assert model.n_columns_ <= model.trace_[-1].n_columns


def test_validation_keeps_the_step_of_the_lowest_error(noisy):
    model = boost(
        kernels=default_kernels(noisy[0]),
        random_state=0,
        solver=ColumnGeneration(
            columns_per_step=2, early_stopping=EarlyStopping(0.3, n_iter_no_change=3)
        ),
    ).fit(*noisy)
    errors = model.trace_.values("validation_error")
    best = int(np.argmin(errors))
    assert best == len(errors) - 4
    assert model.objective_ == model.trace_[best].objective


def interrupt_at(monkeypatch, call):
    plain = ScanSearch.propose
    calls = []

    def propose(self, run):
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return plain(self, run)

    monkeypatch.setattr(ScanSearch, "propose", propose)


def test_interrupt_leaves_the_columns_so_far(noisy, monkeypatch):
    interrupt_at(monkeypatch, 4)
    model = boost(solver=ColumnGeneration(columns_per_step=2))
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noisy)
    assert model.stop_reason_.rule == "interrupted"
    assert 1 <= model.n_columns_ <= 4
    assert model.score(*noisy) > 0.6


def test_interrupt_before_the_first_step_changes_nothing(noisy, monkeypatch):
    interrupt_at(monkeypatch, 1)
    model = boost()
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(*noisy)
    assert vars(model) == before


def test_interrupt_before_every_class_has_a_model_changes_nothing(monkeypatch):
    interrupt_at(monkeypatch, 3)
    X, y = load_iris(return_X_y=True)
    model = boost([Linear(), Gaussian()])
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [
        ((ScanSearch, "propose"), MemoryError("std::bad_alloc"), "too little memory for this fit"),
        ((KernelEstimator, "_warn_of_limits"), SystemExit(143), "143"),  # by a signal handler
    ],
)
def test_an_error_in_the_first_or_last_moment_changes_nothing(
    noisy, monkeypatch, place, error, words
):
    def fail(*arguments):
        raise error

    model = boost().fit(*noisy)
    before = dict(vars(model))
    monkeypatch.setattr(*place, fail)
    with pytest.raises(type(error), match=words):
        model.fit(*noisy)
    assert vars(model) == before


def test_verbose_logs_and_silence_is_silent(noisy, capfd):
    boost(max_iter=2).fit(*noisy)
    assert capfd.readouterr() == ("", "")
    boost(max_iter=2, verbose=1).fit(*noisy)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("objective") == 3
    assert "max_iter=2 reached" in err
    assert logger.handlers == []
    assert logger.level == logging.NOTSET


def test_a_generous_time_limit_is_not_used_up(noisy):
    started = time.monotonic()
    model = boost(max_seconds=1e6, max_iter=2).fit(*noisy)
    assert model.stop_reason_.rule == "max_iter"
    assert model.trace_[-1].seconds <= time.monotonic() - started
