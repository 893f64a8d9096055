"""Time limits that several steps, solvers and threads share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from kboost.exceptions import OutOfTimeError


def now() -> float:
    """The moment of this call, to count a limit from."""
    return time.monotonic()


@dataclass(frozen=True)
class Deadline:
    """A moment after which no new work starts; it can be called off early."""

    moment: float
    limit: float | None = None  # seconds the user gave
    _called_off: Event = field(default_factory=Event, compare=False, repr=False)
    _whole: Deadline | None = field(default=None, compare=False, repr=False)  # of a share

    @classmethod
    def after(cls, seconds: float | None, *, since: float | None = None) -> Deadline:
        """The deadline so many seconds from now, or since a moment; None is no limit."""
        start = now() if since is None else since
        return cls(float("inf") if seconds is None else start + seconds, seconds)

    @property
    def remaining(self) -> float:
        """Seconds left."""
        return 0.0 if self._is_off else max(0.0, self.moment - time.monotonic())

    @property
    def _is_off(self) -> bool:
        return self._called_off.is_set() or (self._whole is not None and self._whole._is_off)

    @property
    def seconds(self) -> float | None:
        """Seconds left; None without a limit."""
        remaining = self.remaining
        return None if remaining == float("inf") else remaining

    def share(self, count: float) -> Deadline:
        """The deadline of the first of `count` equal shares of the time left.

        It is off with the whole one; called off itself, it leaves the whole one on.
        """
        if count == 1:
            return self
        return Deadline(time.monotonic() + self.remaining / count, self.limit, _whole=self)

    def call_off(self) -> None:
        """Stop everything that checks this deadline."""
        self._called_off.set()

    def check(self) -> None:
        """Raise if no time is left."""
        if self.remaining == 0.0:
            raise OutOfTimeError("the time limit is reached.")

    def __reduce__(self) -> Any:
        """Other processes get the time of day: monotonic clocks differ between processes."""
        seconds = self.seconds
        return _until, (None if seconds is None else time.time() + seconds,)


def _until(time_of_day: float | None) -> Deadline:
    return Deadline.after(None if time_of_day is None else max(0.0, time_of_day - time.time()))


NO_LIMIT = Deadline(float("inf"))
