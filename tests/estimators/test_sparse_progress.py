"""The time left, against fits whose time is known."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from kboost import SparseKernelRegressor
from kboost.core.deadline import Deadline
from kboost.core.progress import TimeEstimate, TimeRemaining
from kboost.core.trace import Step
from kboost.kernels import Gaussian
from kboost.local.cells import CellProgress, CellStep
from kboost.settings import Full

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(120, 2))
Y = np.sin(2 * X[:, 0]) * X[:, 1]
FAR = 10**9


def steps(counts, power, unit=0.5):
    """A trace whose time is `unit` times a power of the columns."""
    return [
        Step(i, m, 1.0, None, 1.0, 1, seconds=unit * m**power) for i, m in enumerate([0, *counts])
    ]


class Clock:
    def __init__(self, remaining):
        self.remaining = remaining


@pytest.mark.parametrize(("quadratic", "power"), [(True, 2), (False, 1)])
def test_to_the_last_column_it_is_exact_where_time_is_the_power(quadratic, power):
    left = TimeRemaining(40, FAR, quadratic=quadratic).after(steps([5, 10], power))
    assert (left.done, left.limit, left.unit) == (10, 40, "columns")
    assert left.seconds == pytest.approx(0.5 * 40**power - 0.5 * 10**power)


@pytest.mark.parametrize(("quadratic", "power"), [(True, 2), (False, 1)])
def test_steps_that_end_before_the_columns_are_what_is_left(quadratic, power):
    trace = steps([5, 10, 15], power)
    left = TimeRemaining(1000, 8, quadratic=quadratic).after(trace)
    assert (left.done, left.limit, left.unit) == (3, 8, "steps")
    assert left.seconds == pytest.approx(0.5 * 40**power - 0.5 * 15**power)
    assert TimeRemaining(40, 8).after(trace).unit == "columns"  # both at once
    assert TimeRemaining(30, 8).after(trace).unit == "columns"


def test_steps_that_grow_count_as_they_are_now():
    left = TimeRemaining(1000, 4, quadratic=False).after(steps([5, 25], 1))
    assert left.seconds == pytest.approx(0.5 * (2 * 20))


def test_the_deadline_is_the_most_there_is_left():
    trace, far = steps([10], 2), TimeRemaining(100, FAR)
    assert far.after(trace).seconds > 7.0
    assert replace(far, deadline=Clock(7.0)).after(trace).seconds == 7.0
    assert replace(far, deadline=Clock(1e6)).after(trace) == far.after(trace)


@pytest.mark.parametrize(("quadratic", "power"), [(True, 2), (False, 1)])
def test_a_series_is_all_its_ensembles(quadratic, power):
    """Five of 10 columns: two are done, of the third there are 4 columns."""
    one = 0.5 * 10**power
    now = TimeRemaining(
        50, FAR, Deadline(np.inf), quadratic, 10, columns=20, steps=20, seconds=2 * one
    )
    spent = 0.5 * 4**power
    assert now.after(steps([1, 2, 3, 4], power)).seconds == pytest.approx(5 * one - 2 * one - spent)
    # steps over all ensembles: 5 of the fourth
    left = replace(now, max_iter=35).after(steps([1, 2, 3, 4], power))
    assert (left.done, left.limit, left.unit) == (24, 35, "steps")
    assert left.seconds == pytest.approx(3 * one + 0.5 * 5**power - 2 * one - spent)
    # at the start of an ensemble, too
    assert now.after(steps([], power)).seconds == pytest.approx(3 * one)


def test_nothing_is_said_before_there_is_a_column_or_at_the_limit(caplog):
    with caplog.at_level(logging.INFO, "kboost"):
        TimeRemaining(10, FAR).on_step(steps([], 2))
        TimeRemaining(10, FAR).on_step(steps([10], 2))
        TimeRemaining(10, 1).on_step(steps([5], 2))
        TimeRemaining(10, FAR, Clock(0.0)).on_step(steps([5], 2))
        assert not caplog.records
        TimeRemaining(10, FAR).on_step(steps([5], 2))
    assert [record.getMessage() for record in caplog.records] == [
        "5 of 10 columns, about 38 s left"
    ]


def said(caplog, **options):
    with caplog.at_level(logging.INFO, "kboost"):
        SparseKernelRegressor([Gaussian(0.5)], ridge=0.01, **options).fit(X, Y)
    return [r.args[0] for r in caplog.records if r.args and isinstance(r.args[0], TimeEstimate)]


def test_fits_count_to_their_limit(caplog):
    told = said(caplog, update="full", selection="random", max_columns=20)
    assert [(t.done, t.limit, t.unit) for t in told] == [(m, 20, "columns") for m in range(1, 20)]


def test_fits_in_few_steps_count_these(caplog):
    told = said(caplog, update="full", selection="random", max_columns=20, max_iter=6)
    assert [(t.done, t.limit, t.unit) for t in told] == [(k, 6, "steps") for k in range(1, 6)]


def test_a_series_counts_on(caplog):
    told = said(caplog, update=Full(series=5), selection="random", max_columns=20)
    assert {(t.limit, t.unit) for t in told} == {(20, "columns")}
    counts = [t.done for t in told]
    assert counts == sorted(counts)
    assert {1, 7, 13, 19} <= set(counts)


def test_time_that_ends_the_fit_is_the_time_left(caplog, monkeypatch):
    monkeypatch.setattr(Deadline, "remaining", 1e-6)
    told = said(caplog, update="full", selection="random", max_columns=20, max_seconds=1e6)
    assert {t.seconds for t in told} == {1e-6}


def test_cells_have_no_more_time_than_the_limit(caplog):
    steps = [CellStep(1, 10, 10.0), CellStep(2, 10, 10.5), CellStep(3, 10, 20.0)]
    short = [CellStep(1, 3, 10.0)]
    with caplog.at_level(logging.INFO, "kboost"):
        progress = CellProgress(Clock(50.0))
        for count in range(1, 4):
            progress.on_step(steps[:count])
        CellProgress(Clock(50.0)).on_step(short)
    estimates = [record.args[0] for record in caplog.records]
    assert [(e.done, round(e.seconds, 6)) for e in estimates] == [
        (1, 50.0),
        (3, round(20.0 / 3 * 7, 6)),  # the second came half a second after the first
        (1, 20.0),
    ]


def test_cells_log_their_time(caplog):
    estimates = said(caplog, cells=30)
    assert [(e.done, e.limit, e.unit, e.seconds) for e in estimates] == [(4, 4, "cells", 0.0)]
