"""The process around a fit: memory, threads, forks, warnings, recursion, broken output."""

from __future__ import annotations

import os
import resource
import sys
import threading
import warnings
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg

from benchmarks.faults.kind import Begin, Kind, maybe_fitted, with_parameter
from benchmarks.faults.outcome import LOSS, MODEL, Outcome, attempt, usable
from benchmarks.faults.subjects import Subject, X

_PREDICTING = 8  # threads


def little_memory(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """RLIMIT_AS a little above what the process has, at 20 times the rows.

    OpenBLAS takes its buffer at its first call, and waits for ever if there is none: both libraries
    are called before.
    """
    scipy.linalg.cholesky(np.eye(300) @ np.eye(300))
    searches = subject.kernels is None and subject.takes("max_seconds")
    model = subject.make(**({"max_seconds": 2.0} if searches else {}))
    data = subject.data(20)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = size + int(2 ** draw.uniform(20.0, 28.0))
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    begin()
    return attempt(
        subject, model, data=data,
        recover=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
    )  # fmt: skip


def no_threads(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """No further thread can be started."""
    model = maybe_fitted(subject, draw, subject.make())
    model.set_params(n_jobs=2)
    plain, left = threading.Thread.start, [draw.randint(1, 3)]

    def start(thread: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        plain(thread)

    begin()
    with patch.object(threading.Thread, "start", start):
        return attempt(subject, model, recover=lambda: left.__setitem__(0, 1 << 60))


def forked(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A fork after fit predicts the same, and fits again."""
    begin()
    model = subject.fit(subject.make())
    expected = model.predict(X)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            good = np.array_equal(model.predict(X), expected)
            refitted = attempt(subject, subject.make()).verdict == MODEL
            code = 0 if good and refitted else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return usable(model) if code == 0 else Outcome(LOSS, f"the fork ended with code {code}")


def threads(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """Eight threads predict while another estimator is fitted."""
    model, other = subject.fit(subject.make()), subject.make()
    expected, wrong, over = model.predict(X), [], threading.Event()

    def predict() -> None:
        try:
            while not over.is_set():
                if not np.array_equal(model.predict(X), expected):
                    wrong.append("another prediction")
        except Exception as error:
            wrong.append(repr(error))

    begin()
    running = [threading.Thread(target=predict) for _ in range(_PREDICTING)]
    for thread in running:
        thread.start()
    outcome = attempt(subject, other)
    over.set()
    for thread in running:
        thread.join()
    if wrong:
        return Outcome(LOSS, wrong[0])
    if outcome.verdict == MODEL and not np.array_equal(other.predict(X), expected):
        return Outcome(LOSS, "a fit beside predictions gives another model")
    return outcome


def fits_at_once(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """Four threads fit at once."""
    expected = subject.fit(subject.make()).predict(X)
    models = [subject.make() for _ in range(4)]
    outcomes: list[Outcome] = []
    begin()
    running = [
        threading.Thread(target=lambda model=model: outcomes.append(_plain(subject, model)))
        for model in models
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for outcome in outcomes:
        if outcome.verdict != MODEL:
            return outcome
    if any(not np.array_equal(model.predict(X), expected) for model in models):
        return Outcome(LOSS, "fits in threads differ")
    return outcomes[0]


def _plain(subject: Subject, model: Any) -> Outcome:
    try:
        return usable(subject.fit(model))
    except Exception as error:
        return Outcome(LOSS, repr(error))


def warnings_are_errors(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """The user's filter raises every warning."""
    limits = [{}]
    limits += [{"max_iter": 1}] if subject.takes("max_iter") else []
    limits += [{"max_seconds": 1e-3}] if subject.takes("max_seconds") else []
    model = subject.make(**draw.choice(limits))
    plain = warnings.simplefilter

    def errors(action: str, *arguments: Any, **options: Any) -> None:
        plain("error" if action == "always" else action, *arguments, **options)  # type: ignore[arg-type]

    begin()
    with patch.object(warnings, "simplefilter", errors):
        return attempt(subject, model, recover=lambda: setattr(warnings, "simplefilter", plain))


def floating_point_errors(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """`np.seterr`: division by zero, overflow and invalid values raise."""
    begin()
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        return attempt(subject, subject.make())


def little_stack(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """A low recursion limit."""
    limit, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    model = maybe_fitted(subject, draw, subject.make())
    sys.setrecursionlimit(depth + draw.randint(12, 70))
    begin()
    return attempt(subject, model, recover=lambda: sys.setrecursionlimit(limit))


def broken_output(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """`verbose=1`, and standard error is a closed pipe, a closed file or None."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(os.devnull, "w") as closed:
        pass
    broken = draw.choice([os.fdopen(writing, "w", buffering=1), closed, None])
    begin()
    with patch.object(sys, "stderr", broken):
        return attempt(subject, subject.make(verbose=1))


def read_only_rows(subject: Subject, draw: Random, begin: Begin) -> Outcome:
    """Arrays that cannot be written to, in another order of memory."""
    rows, y = subject.data()
    rows = np.asfortranarray(rows)
    rows.setflags(write=False)
    if y is not None:
        y.setflags(write=False)
    begin()
    return attempt(subject, subject.make(), data=(rows, y))


KINDS = {
    "memory limit": Kind(little_memory),
    "no further thread": Kind(no_threads, with_parameter("n_jobs")),
    "fork after fit": Kind(forked),
    "8 threads predict during a fit": Kind(threads),
    "4 fits at once": Kind(fits_at_once),
    "warnings are errors": Kind(warnings_are_errors),
    "floating-point errors raise": Kind(floating_point_errors),
    "recursion limit": Kind(little_stack),
    "broken standard error": Kind(broken_output, with_parameter("verbose")),
    "read-only rows": Kind(read_only_rows),
}
