"""Signals at random moments of a fit."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from random import Random
from types import FrameType

from benchmarks.faults.kind import Begin, Kind, maybe_fitted, with_parameter
from benchmarks.faults.outcome import LOSS, InjectedError, Outcome, after_interrupt, attempt
from benchmarks.faults.subjects import Subject


def _inside_fit(frame: FrameType | None) -> bool:
    """Whether the signal came while an estimator of the library was fitted."""
    while frame is not None:
        if frame.f_code.co_name == "fit" and "/kboost/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


class _Heard:
    """Ctrl-C as Python handles it, and where it came inside fit; outside nothing happens."""

    def __init__(self) -> None:
        self.where = ""
        signal.signal(signal.SIGINT, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if _inside_fit(frame):
            self.where = "".join(traceback.format_stack(frame, limit=3))
            raise KeyboardInterrupt


def interrupted(subject: Subject, draw: Random, begin: Begin, **options: object) -> Outcome:
    """SIGINT; an interrupt inside fit must come out of it."""
    model = maybe_fitted(subject, draw, subject.make(**options))
    heard, before = _Heard(), dict(vars(model))
    rows, y = subject.data()
    begin()
    try:
        model.fit(rows) if y is None else model.fit(rows, y)
    except KeyboardInterrupt as error:
        return after_interrupt(model, before, error, subject)
    if heard.where:
        return Outcome(LOSS, f"fit went on after an interrupt: {heard.where}"[:600])
    return attempt(subject, model)  # it came too late


def interrupted_threads(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """SIGINT while threads work."""
    return interrupted(subject, draw, begin, n_jobs=2)


def terminated(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """SIGTERM, with a handler that ends the process as servers do."""
    model = maybe_fitted(subject, draw, subject.make())

    def end(number: int, frame: FrameType | None) -> None:
        if _inside_fit(frame):
            sys.exit(143)

    signal.signal(signal.SIGTERM, end)
    begin()
    return attempt(subject, model, recover=_deaf(signal.SIGTERM))


def timed_out(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """SIGALRM, whose handler raises an error of the user's."""
    model = maybe_fitted(subject, draw, subject.make())

    def ring(number: int, frame: FrameType | None) -> None:
        if _inside_fit(frame):
            raise InjectedError("the user's own limit")

    signal.signal(signal.SIGALRM, ring)
    begin()
    return attempt(subject, model, recover=_deaf(signal.SIGALRM))


def suspended(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """SIGSTOP and SIGCONT: the process stands still for a while."""
    begin()
    return attempt(subject, subject.make())


def _deaf(number: int) -> Callable[[], None]:
    def recover() -> None:
        signal.signal(number, signal.SIG_IGN)

    return recover


def _once(number: int) -> Callable[[Random, float], list[tuple[float, int]]]:
    return lambda draw, seconds: [(draw.uniform(0.0, seconds), number)]


def _twice(draw: Random, seconds: float) -> list[tuple[float, int]]:
    first = draw.uniform(0.0, seconds)
    return [(first, signal.SIGINT), (first + draw.uniform(0.0, 0.05), signal.SIGINT)]


def _stopped(draw: Random, seconds: float) -> list[tuple[float, int]]:
    first = draw.uniform(0.0, seconds)
    return [(first, signal.SIGSTOP), (first + 0.2, signal.SIGCONT)]


KINDS = {
    "SIGINT": Kind(interrupted, tries=4, signals=_once(signal.SIGINT)),
    "SIGINT twice": Kind(interrupted, tries=2, signals=_twice),
    "SIGINT, two threads": Kind(
        interrupted_threads, with_parameter("n_jobs"), tries=2, signals=_once(signal.SIGINT)
    ),
    "SIGTERM": Kind(terminated, tries=2, signals=_once(signal.SIGTERM)),
    "SIGALRM with an error": Kind(timed_out, tries=2, signals=_once(signal.SIGALRM)),
    "SIGSTOP, SIGCONT": Kind(suspended, signals=_stopped),
}
