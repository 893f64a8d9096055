"""The driver with a scripted method: every end has its reason, and what was kept last stands."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import pytest

from kboost.core.deadline import Deadline
from kboost.core.iterate import Method, iterate
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.exceptions import OutOfTimeError, SolverError

DONE = StopReason("done", "all done.")


@dataclass(frozen=True)
class Record:
    number: int
    validation_error: float | None = None


class Script(Method):
    """Returns, or raises, what the script says; notes every call."""

    def __init__(self, *entries, on_finish=None, on_certify=None):
        self.entries, self.trace, self.calls, self.kept = list(entries), [], [], None
        self.on = {"finish": on_finish, "certify": on_certify}

    def advance(self):
        self.calls.append("advance")
        entry = self.entries[self.calls.count("advance") - 1]
        if isinstance(entry, BaseException):
            raise entry
        return entry

    def keep(self):
        self.kept = self.trace[-1].number

    def finish(self):
        self._note("finish")

    def certify(self):
        self._note("certify")

    def abort(self):
        self._note("abort")

    def _note(self, name):
        self.calls.append(name)
        if self.on.get(name) is not None:
            raise self.on[name]


class Listening:
    def __init__(self, request=None):
        self.heard, self.ends, self.request = [], 0, request

    def on_step(self, trace):
        self.heard.append(trace[-1].number)
        return self.request

    def on_end(self):
        self.ends += 1


def never(trace):
    return None


def test_a_method_ends_with_its_own_reason_then_finishes_and_certifies():
    method = Script(Record(0), Record(1), DONE)
    assert iterate(method, never) is DONE
    assert [record.number for record in method.trace] == [0, 1]
    assert method.calls == ["advance"] * 3 + ["finish", "certify"]
    assert method.kept == 1


def test_a_stop_rule_sees_each_record_before_the_next_step():
    method = Script(Record(0), Record(1), Record(2))
    assert iterate(method, lambda trace: DONE if len(trace) == 2 else None) is DONE
    assert method.calls.count("advance") == 2


def test_the_step_of_the_lowest_held_out_error_is_kept():
    method = Script(Record(0, 0.5), Record(1, 0.2), Record(2, 0.2), Record(3, 0.4), DONE)
    iterate(method)
    assert method.kept == 1


@pytest.mark.parametrize("where", ["advance", "finish"])
def test_a_time_limit_inside_a_step_keeps_the_last_record_and_still_certifies(where):
    late = OutOfTimeError("late")
    if where == "advance":
        method = Script(Record(0), late)
    else:
        method = Script(Record(0), DONE, on_finish=late)
    reason = iterate(method)
    assert reason is (OUT_OF_TIME if where == "advance" else DONE)
    assert method.calls[-1] == "certify"
    assert method.kept == 0


def test_a_deadline_ends_the_steps_after_the_record():
    deadline = Deadline.after(1e6)
    deadline.call_off()
    method = Script(Record(0), Record(1))
    assert iterate(method, never, deadline=deadline).rule == "max_seconds"
    assert len(method.trace) == 1


@pytest.mark.parametrize("where", ["advance", "finish", "certify"])
def test_ctrl_c_ends_the_steps_wherever_it_comes_and_aborts(where):
    stop = KeyboardInterrupt()
    if where == "advance":
        method = Script(Record(0), stop)
    else:
        method = Script(Record(0), DONE, **{f"on_{where}": stop})
    assert iterate(method) is INTERRUPTED
    assert method.calls[-1] == "abort"
    assert method.kept == 0


def test_other_errors_pass_through():
    with pytest.raises(SolverError, match="broken"):
        iterate(Script(Record(0), SolverError("broken")))


def test_listeners_hear_every_step_and_may_request_the_end():
    request = StopReason("callback", "please.")
    quiet, asking = Listening(), Listening(request)
    assert iterate(Script(Record(0), Record(1)), never, listeners=[quiet, asking]) is request
    assert quiet.heard == asking.heard == [0]
    assert quiet.ends == asking.ends == 1


def test_a_stop_rule_goes_before_a_request():
    listening = Listening(StopReason("callback", "please."))
    assert iterate(Script(Record(0)), lambda trace: DONE, listeners=[listening]) is DONE


def test_each_step_and_the_reason_are_logged_once(caplog):
    caplog.set_level(logging.INFO, logger="kboost")
    iterate(Script(Record(0), Record(1), DONE))
    assert [record.getMessage() for record in caplog.records] == [
        str(Record(0)),
        str(Record(1)),
        "all done.",
    ]
