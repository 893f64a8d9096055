"""The driver of every method: advance, record, log, ask the stop rules, until one gives a reason.

A method is a subclass of `Method`. It makes one step per call of `advance` and returns a record of
it; everything else happens here, once for all methods: the trace and the log, listeners (progress,
callbacks), stop rules, the time limit, the choice of the step to keep, Ctrl-C, and checkpoints
(core/checkpoint.py).

    while True:
        record = method.advance()          # or the reason why there is no further step
        trace.append(record); log; method.keep() if it is the best so far
        if reason := stop(trace) or listeners or deadline: break
    method.finish(); method.certify()

A fit always ends with a model and a reason. A time limit that is reached inside a step
(`OutOfTimeError`) and Ctrl-C end the loop; what was kept last stands.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from kboost.core.checkpoint import SavedRun, run_of
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason, StopRule, out_of_time
from kboost.exceptions import OutOfTimeError

Record = TypeVar("Record")
logger = logging.getLogger("kboost")


class Method(ABC, Generic[Record]):
    """An iterative method; only `advance` must be given."""

    trace: Any  # a list of the records; the driver appends

    @abstractmethod
    def advance(self) -> Record | StopReason:
        """Make the next step; return its record, or the reason why there is no further step."""

    def keep(self) -> None:
        """The step just made is the best so far: by held-out error, or else the last one."""

    def finish(self) -> None:
        """Bring the last step into its final form, once no more steps follow."""

    def certify(self) -> None:
        """Complete the certificate, unless Ctrl-C ended the steps."""

    def abort(self) -> None:
        """Ctrl-C was pressed: stop what still runs elsewhere."""


class Listener(Protocol):
    """Called with every step; may request the end."""

    def on_step(self, trace: Sequence[Any]) -> StopReason | None:
        """A step was made; a reason ends the steps."""

    def on_end(self) -> None:
        """No more steps follow."""


class FirstModel(Listener):
    """Ends the steps as Ctrl-C would, as soon as there is a model with columns."""

    def on_step(self, trace: Sequence[Any]) -> StopReason | None:
        return INTERRUPTED if getattr(trace[-1], "n_columns", 1) else None

    def on_end(self) -> None:
        pass


def iterate(
    method: Method[Any],
    stop: StopRule | None = None,
    *,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
    level: int = logging.INFO,
) -> StopReason:
    """Let a method advance until there is a reason to stop; its trace holds the records."""
    with run_of(method) as saved:
        return _iterate(method, stop, saved, deadline, listeners, level)


def _iterate(
    method: Method[Any],
    stop: StopRule | None,
    saved: SavedRun,
    deadline: Deadline,
    listeners: Sequence[Listener],
    level: int,
) -> StopReason:
    reason: StopReason | None = None
    try:
        try:
            if saved.restore():
                reason = _asked(stop, method.trace)
            while reason is None:
                record = method.advance()
                if isinstance(record, StopReason):
                    reason = record
                    break
                best = _is_best(method.trace, record)
                method.trace.append(record)
                logger.log(level, "%s", record)
                if best:
                    method.keep()
                requests = [listener.on_step(method.trace) for listener in listeners]
                reason = _asked(stop, method.trace) or next(filter(None, requests), None)
                if reason is None and deadline.remaining == 0.0:
                    reason = out_of_time(deadline, record)
                if reason is None:
                    saved.step()
            saved.end(reason)
            method.finish()
        except OutOfTimeError:
            reason = reason or OUT_OF_TIME
        with suppress(OutOfTimeError):
            method.certify()
    except KeyboardInterrupt:
        reason = INTERRUPTED
        method.abort()
    logger.log(level, "%s", reason)
    for listener in listeners:
        listener.on_end()
    assert reason is not None
    return reason


def _asked(stop: StopRule | None, trace: Sequence[Any]) -> StopReason | None:
    """The answer of the stop rule to a trace."""
    given: Any = stop(trace) if stop is not None and trace else None
    if not isinstance(given, StopReason | None):
        raise TypeError(f"stop must return a StopReason or None; got a {type(given).__name__}.")
    return given


def _is_best(trace: Sequence[Any], record: Any) -> bool:
    """Whether the held-out error of a record is below all before it; without one, always."""
    error = getattr(record, "validation_error", None)
    return error is None or all(error < earlier.validation_error for earlier in trace)
