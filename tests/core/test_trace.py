"""Steps, the trace and the relative gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kboost.core.deadline import Deadline
from kboost.core.protocols import Fit, Proposal
from kboost.core.trace import Step, Trace, relative_gap

FINITE = st.floats(-1e100, 1e100)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (1.0, None, None),
        (0.0, None, None),
        (0.0, 0.0, 0.0),
        (0.0, -0.0, 0.0),
        (2.0, 1.0, 0.5),
        (1.0, 0.0, 1.0),
        (0.0, -3.0, 1.0),
        (-1.0, -4.0, 0.75),
        (1.0, -1.0, 2.0),
        (1.0, 1.0 + 1e-12, 0.0),  # rounding must not make a gap negative
        (1e-320, 0.0, 1.0),
    ],
)
def test_relative_gap(objective, bound, gap):
    assert relative_gap(objective, bound) == gap


@given(objective=FINITE, below=st.floats(0, 1e100), factor=st.sampled_from([0.25, 8.0, 1024.0]))
def test_relative_gap_is_scale_free_and_between_0_and_2(objective, below, factor):
    gap = relative_gap(objective, objective - below)
    assert 0.0 <= gap <= 2.0
    if abs(objective) > 1e-100:
        again = relative_gap(factor * objective, factor * (objective - below))
        assert again == pytest.approx(gap, rel=1e-12)


def after(trace, objective=1.0, bound=None, price=0.5, converged=True, **more):
    fit = Fit(np.zeros(0), 0.0, np.zeros(0), np.zeros(0), objective, converged)
    proposal = Proposal(np.zeros(0, dtype=int), [], np.zeros((0, 0)), price, bound, n_priced=7)
    return Step.after(trace, fit, proposal, n_columns=4, seconds=1.5, **more)


@given(bounds=st.lists(st.none() | FINITE, min_size=1, max_size=8))
def test_a_trace_keeps_the_best_bound(bounds):
    trace = Trace()
    for k, bound in enumerate(bounds):
        trace.append(after(trace, bound=bound))
        known = [b for b in bounds[: k + 1] if b is not None]
        assert trace[-1].bound == (max(known) if known else None)
        assert trace[-1].iteration == k


def test_a_step_copies_what_it_is_told():
    step = after([], objective=3.0, bound=1.5, price=0.25, converged=False, validation_error=0.125)
    assert step == Step(0, 4, 3.0, 1.5, 0.25, 7, 1.5, False, 0.125)
    assert step.gap == 0.5


def test_a_bound_found_after_the_last_step_counts_if_it_is_better():
    trace = Trace()
    for bound in (None, 2.0):
        trace.append(after(trace, objective=4.0, bound=bound))
    for found, best in [(None, 2.0), (1.0, 2.0), (3.0, 3.0)]:
        trace.certify(found)
        assert trace[-1].bound == best
    assert trace[0].bound is None
    assert trace[-1].gap == 0.25


def test_values_are_arrays_with_gaps_in_them():
    trace = Trace()
    for objective, bound in [(3.0, None), (2.0, 1.0), (1.5, 0.5)]:
        trace.append(after(trace, objective, bound))
    assert_array_equal(trace.values("objective"), [3.0, 2.0, 1.5])
    assert_array_equal(trace.values("bound"), [np.nan, 1.0, 1.0])
    assert_array_equal(trace.values("gap"), [np.nan, 0.5, 1 / 3])
    assert_array_equal(trace.values("validation_error"), [np.nan] * 3)
    assert_array_equal(trace.values("converged"), [1.0] * 3)
    assert trace.values("price").dtype == np.float64
    assert Trace().values("objective").shape == (0,)
    with pytest.raises(AttributeError):
        trace.values("no_such_thing")


def test_a_step_in_words():
    bare = str(after([], objective=2.0))
    assert "objective 2" in bare
    assert "4 columns" in bare
    assert "gap" not in bare
    assert "validation" not in bare
    full = str(after([], objective=2.0, bound=1.0, validation_error=0.25))
    assert "gap 5.0e-01" in full
    assert "validation error 0.2500" in full


def test_deadlines(clock_of):
    now = [100.0]
    clock_of("kboost.core.deadline", lambda: now[0])
    never, soon = Deadline.after(None), Deadline.after(2.0)
    assert (never.remaining, soon.remaining) == (np.inf, 2.0)
    now[0] = 101.5
    assert soon.remaining == 0.5
    now[0] = 200.0
    assert (never.remaining, soon.remaining) == (np.inf, 0.0)
