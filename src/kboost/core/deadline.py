"""A deadline that several parts of a fit, threads and processes share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from kboost._errors import OutOfTimeError

NO_MODEL_YET = "max_seconds was over before there was a model; raise it."


@dataclass(frozen=True)
class Deadline:
    """A moment after which no new work should start; it can be cancelled early."""

    moment: float  # of time.monotonic()
    _called_off: Event = field(default_factory=Event, compare=False, repr=False)

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """The deadline `seconds` from now; None for no limit."""
        return cls(float("inf") if seconds is None else time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds that remain, at least 0."""
        return 0.0 if self._called_off.is_set() else max(0.0, self.moment - time.monotonic())

    @property
    def seconds(self) -> float | None:
        """Seconds that remain; None without a limit."""
        remaining = self.remaining
        return None if remaining == float("inf") else remaining

    def share(self, count: int) -> Deadline:
        """The deadline of the first of `count` equal parts of the remaining time."""
        return self if count == 1 else Deadline.after(self.remaining / count)

    def call_off(self) -> None:
        """End the remaining time at once, for everything that shares this deadline."""
        self._called_off.set()

    def check(self) -> None:
        """Raise OutOfTimeError if no time remains."""
        if self.remaining == 0.0:
            raise OutOfTimeError(NO_MODEL_YET)

    def __reduce__(self) -> Any:
        """Pickle the time of day: monotonic clocks of processes differ."""
        remaining = self.seconds
        return _until, (None if remaining is None else time.time() + remaining,)


def _until(time_of_day: float | None) -> Deadline:
    return Deadline.after(None if time_of_day is None else max(0.0, time_of_day - time.time()))


NO_LIMIT = Deadline(float("inf"))
