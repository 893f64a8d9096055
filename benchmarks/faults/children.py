"""One try in a process of its own: a copy of this one, which has imported everything and fitted
nothing, so that it has no thread of a solver.

The copy says when it begins; signals are sent at their moments after that. It is killed when it has
used up its time: seconds of the processor, since others may use the machine. A copy that hangs uses
none: it is killed when it has stood still for many more on the clock.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.faults.outcome import LOSS, Outcome

Begin = Callable[[], None]
STILL = 5  # times the limit of the processor, on the clock


def in_child(
    work: Callable[[Begin], Outcome],
    seconds: float,
    signals: Sequence[tuple[float, int]] = (),
) -> dict[str, Any]:
    """The outcome of the work, with the seconds it took and the wait after the last signal."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    watched = _Watched(child, reading)
    try:
        return watched.follow(seconds, sorted(signals))
    finally:
        watched.end()


def _work(work: Callable[[Begin], Outcome], writing: int) -> None:
    """In the copy: work, write what came of it, and leave without cleaning up."""
    started = [time.monotonic()]

    def begin() -> None:
        started[0] = time.monotonic()
        os.write(writing, b"begin\n")

    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        outcome = work(begin)
    except BaseException as error:  # a fault that reached the try itself
        outcome = Outcome(LOSS, f"outside of fit: {error!r}"[:400])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = time.monotonic()
    row = {**outcome.as_json(), "seconds": ended - started[0], "ended": ended}
    os.write(writing, json.dumps(row).encode() + b"\n")
    os._exit(0)


class _Watched:
    """A copy that works."""

    def __init__(self, child: int, reading: int) -> None:
        self._child, self._reading, self._heard = child, reading, b""
        self._status: int | None = None
        self._sent: float | None = None  # when the last signal was
        self._used, self._moved = 0.0, time.monotonic()  # the processor, and when it was used last

    def follow(self, seconds: float, signals: Sequence[tuple[float, int]]) -> dict[str, Any]:
        begun, waiting = None, list(signals)
        while not self._has_used_up(seconds):
            due = begun + waiting[0][0] if waiting and begun is not None else np.inf
            pause = min(due - time.monotonic(), 1.0)
            readable, _, _ = select.select([self._reading], [], [], max(0.0, pause))
            if readable:
                read = os.read(self._reading, 1 << 16)
                if not read:
                    return self._ended()
                self._heard += read
                if begun is None and b"begin\n" in self._heard:
                    begun = time.monotonic()
                continue
            if time.monotonic() >= due:
                self._sent = time.monotonic()
                os.kill(self._child, waiting.pop(0)[1])
        if self._answer() is None:
            used = self._processor_seconds()
            words = f"no answer in {used:.1f} s of the processor"
            return {"verdict": LOSS, "words": words, "seconds": seconds}
        return self._judged()

    def _has_used_up(self, seconds: float) -> bool:
        used, now = self._processor_seconds(), time.monotonic()
        if used > self._used:
            self._used, self._moved = used, now
        return used >= seconds or now - self._moved >= STILL * seconds

    def _processor_seconds(self) -> float:
        """What the copy has used, without processes of its own."""
        fields = Path(f"/proc/{self._child}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _ended(self) -> dict[str, Any]:
        _, self._status = os.waitpid(self._child, 0)
        return self._judged()

    def _judged(self) -> dict[str, Any]:
        answer = self._answer()
        if answer is None:
            code = os.waitstatus_to_exitcode(self._status or 0)
            return {"verdict": LOSS, "words": f"ended with code {code}", "seconds": 0.0}
        return answer

    def _answer(self) -> dict[str, Any] | None:
        lines = [line for line in self._heard.split(b"\n") if line.startswith(b"{")]
        if not lines:
            return None
        answer: dict[str, Any] = json.loads(lines[-1])
        ended = answer.pop("ended")
        if self._sent is not None and self._sent < ended:
            answer["wait"] = ended - self._sent
        return answer

    def end(self) -> None:
        os.close(self._reading)
        if self._status is None:
            try:
                os.kill(self._child, signal.SIGKILL)
            finally:
                os.waitpid(self._child, 0)
