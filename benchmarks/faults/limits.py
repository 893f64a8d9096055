"""Limits of time and steps, and clocks that jump."""

from __future__ import annotations

import time
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from benchmarks.faults.kind import Begin, Kind, with_parameter
from benchmarks.faults.outcome import Outcome, attempt
from benchmarks.faults.subjects import Subject

_JUMPS = (-1e9, -60.0, 60.0, 1e9)


def short(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A random limit from far too little to just too little; the longest cannot be the reason."""
    seconds = draw.choice([1e-9, 1e-3, 0.01, draw.uniform(0.0, 0.3)])
    begin()
    rules = ("max_seconds",) if seconds <= 1e-3 else None
    return attempt(subject, subject.make(max_seconds=seconds), rules=rules)


def one_step(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """`max_iter`."""
    begin()
    return attempt(subject, subject.make(max_iter=draw.randint(1, 3)))


def clock(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """The clocks of Python jump once, and time may be limited."""
    jump, after = draw.choice(_JUMPS), draw.randint(1, 60)
    calls = [0]

    def jumping(plain: Any) -> Any:
        def now() -> float:
            calls[0] += 1
            return float(plain()) + (jump if calls[0] > after else 0.0)

        return now

    limit = {"max_seconds": 5.0} if subject.takes("max_seconds") and draw.random() < 0.5 else {}
    wrong = SimpleNamespace(**{name: getattr(time, name) for name in dir(time) if name[0] != "_"})
    wrong.monotonic, wrong.time = jumping(time.monotonic), jumping(time.time)
    wrong.perf_counter = jumping(time.perf_counter)
    begin()
    with patch.dict("sys.modules", time=wrong), _modules_with(wrong):
        return attempt(subject, subject.make(**limit))


def _modules_with(wrong: Any) -> Any:
    """Every module of the library gets the wrong clock."""
    import sys
    from contextlib import ExitStack

    stack = ExitStack()
    for name, module in list(sys.modules.items()):
        if name.startswith("kboost.") and getattr(module, "time", None) is time:
            stack.enter_context(patch.object(module, "time", wrong))
    return stack


KINDS = {
    "max_seconds": Kind(short, with_parameter("max_seconds"), tries=2),
    "max_iter": Kind(one_step, with_parameter("max_iter")),
    "clock that jumps": Kind(clock),
}
