"""Several outputs: shares of the time, threads, and Ctrl-C with and without a model of each."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Event

import pytest

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.outputs import solve_outputs, until_interrupted
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.exceptions import SolverError

DONE = StopReason("done", "all done.")


@dataclass(frozen=True)
class Result:
    number: int
    reason: StopReason = DONE
    trace: tuple[int, ...] = (0,)


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
@pytest.mark.parametrize("count", [1, 3])
def test_results_come_in_the_order_of_the_outputs(count, n_jobs):
    results = solve_outputs(lambda k, deadline: Result(k), count, NO_LIMIT, n_jobs)
    assert results == [Result(k) for k in range(count)]


def test_in_sequence_each_output_has_an_equal_share_of_the_time_left():
    shares = []

    def solve(k, deadline):
        shares.append(deadline.remaining)
        return Result(k)

    solve_outputs(solve, 4, Deadline.after(100.0), 1)
    assert shares == pytest.approx([25.0, 100 / 3, 50.0, 100.0], abs=0.5)


def test_in_threads_all_have_the_whole_deadline():
    deadline = Deadline.after(100.0)
    seen = []
    solve_outputs(lambda k, d: seen.append(d) or Result(k), 3, deadline, 2)
    assert all(d is deadline for d in seen)


def test_an_interrupted_output_ends_the_sequence():
    calls = []

    def solve(k, deadline):
        calls.append(k)
        return Result(k, INTERRUPTED if k == 1 else DONE)

    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        solve_outputs(solve, 3, NO_LIMIT, 1)
    assert calls == [0, 1]
    assert [r.reason for r in solve_outputs(solve, 2, NO_LIMIT, 1)] == [DONE, INTERRUPTED]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupted_output_without_a_model_raises_but_time_leaves_a_constant(n_jobs):
    late = solve_outputs(lambda k, d: Result(k, OUT_OF_TIME, ()), 2, NO_LIMIT, n_jobs)
    assert [result.number for result in late] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        solve_outputs(lambda k, d: Result(k, INTERRUPTED, ()), 2, NO_LIMIT, n_jobs)


def test_ctrl_c_calls_off_the_threads_and_raises_if_an_output_has_no_model():
    deadline, running = Deadline.after(100.0), Event()

    def solve(k, deadline):
        if k == 0:
            running.wait(10)
            raise KeyboardInterrupt  # reaches the main thread through the future
        running.set()
        while deadline.remaining > 0:
            time.sleep(0.001)
        return Result(k, OUT_OF_TIME)

    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        solve_outputs(solve, 3, deadline, 2)
    assert deadline.remaining == 0.0


def test_ctrl_c_in_the_main_thread_reports_running_outputs_as_interrupted(monkeypatch):
    deadline, first, running = Deadline.after(100.0), [True], Event()
    original = Future.result

    def result(self, timeout=None):
        if first:
            first.pop()
            original(self)  # output 0 has ended
            running.wait(10)
            raise KeyboardInterrupt
        return original(self, timeout)

    def solve(k, deadline):
        if k:
            running.set()
        while k and deadline.remaining > 0:
            time.sleep(0.001)
        return Result(k, OUT_OF_TIME if k else DONE)

    monkeypatch.setattr(Future, "result", result)
    results = solve_outputs(solve, 2, deadline, 2)
    assert results == [Result(0, DONE), Result(1, INTERRUPTED)]


def test_an_error_calls_off_the_other_outputs():
    deadline = Deadline.after(100.0)

    def solve(k, deadline):
        if k == 0:
            raise SolverError("broken")
        while deadline.remaining > 0:
            time.sleep(0.001)
        return Result(k)

    with pytest.raises(SolverError, match="broken"):
        solve_outputs(solve, 2, deadline, 2)


def test_work_that_ctrl_c_cuts_short_returns_the_best_so_far(monkeypatch):
    deadline, original, first = Deadline.after(100.0), Future.result, [True]

    def result(self, timeout=None):
        if first:
            first.pop()
            raise KeyboardInterrupt
        return original(self, timeout)

    def work():
        while deadline.share(2).remaining > 0:
            time.sleep(0.001)
        return "best so far"

    assert until_interrupted(lambda: 1, NO_LIMIT) == (1, False)
    monkeypatch.setattr(Future, "result", result)
    assert until_interrupted(work, deadline) == ("best so far", True)


def test_an_interrupt_inside_the_work_is_raised():
    def work():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        until_interrupted(work, Deadline.after(100.0))


def test_a_share_is_off_with_the_whole_deadline_and_not_the_other_way_round():
    whole = Deadline.after(100.0)
    half = whole.share(2)
    half.call_off()
    assert half.remaining == 0.0 < whole.remaining
    other = whole.share(3)
    whole.call_off()
    assert other.remaining == 0.0
