"""A heap that keeps what it was given back, while a task runs.

Workers are started with `MALLOC_TRIM_THRESHOLD_`, so that what is freed goes back to the system at
once. It has a side effect: every array above 128 KiB is then mapped afresh, and the system clears
its pages before they can be used. A fit in cells makes and drops thousands of arrays of a few MiB;
on COVTYPE a fifth of the workers' time went into that. So while a task runs, arrays come from the
heap; at its end, malloc is told what the worker wants, and memory goes back. Elsewhere (no such
setting, another C library) nothing is done: malloc finds out by itself.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
_USUAL = 128 << 10  # above it, arrays are mapped
_MOST = 32 << 20  # the largest that malloc takes; arrays above it are few
_KEPT = 256 << 20
_lock, _tasks = Lock(), 0


@contextmanager
def roomy_heap() -> Iterator[None]:
    """Within: arrays that come and go do so without the system."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def in_roomy_heap(work: Callable[..., Any], *each: Any) -> Any:
    """`work(*each)` within."""
    with roomy_heap():
        return work(*each)


def _count(change: int) -> None:
    """Threads may be within at the same time: the first sets, the last sets back."""
    global _tasks
    with _lock:
        before, _tasks = _tasks, _tasks + change
        if not before:
            _tell(roomy=True)
        elif not _tasks:
            _tell(roomy=False)


def _tell(*, roomy: bool) -> None:
    """Say to malloc what it may keep; nothing where the worker has no wish of its own."""
    try:
        wish = int(os.environ["MALLOC_TRIM_THRESHOLD_"])
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_TRIM, _KEPT if roomy else wish)
        libc.mallopt(_MAP, _MOST if roomy else _USUAL)
        if not roomy:
            libc.malloc_trim(0)
    except (KeyError, ValueError, OSError, AttributeError):  # or another C library
        return
