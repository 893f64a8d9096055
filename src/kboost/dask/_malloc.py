"""Settings of malloc that keep freed memory in the process while a task runs.

Workers are started with `MALLOC_TRIM_THRESHOLD_`, so that freed memory is returned to the system at
once. A side effect is that every array above 128 KiB is a new memory map, whose pages the system
clears first. A fit in cells allocates and frees thousands of arrays of a few MiB; on COVTYPE this
took a fifth of the time. So arrays are allocated on the heap while a task runs; at its end, the
settings of the worker are restored and memory is returned. Without that setting, or with another C
library, nothing is done.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD of malloc.h
_DEFAULT = 128 << 10  # bytes above which arrays are memory maps
_LARGEST = 32 << 20  # the largest threshold malloc accepts
_KEPT = 256 << 20  # freed bytes that stay in the process
_lock, _tasks = Lock(), 0


@contextmanager
def tuned_malloc() -> Iterator[None]:
    """Keep the memory of freed arrays in the process."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def with_tuned_malloc(work: Callable[..., Any], *each: Any) -> Any:
    """`work(*each)` with the settings of `tuned_malloc`."""
    with tuned_malloc():
        return work(*each)


def _count(change: int) -> None:
    """Count running tasks: the first changes the settings, the last restores them."""
    global _tasks
    with _lock:
        before, _tasks = _tasks, _tasks + change
        if not before:
            _configure(keep=True)
        elif not _tasks:
            _configure(keep=False)


def _configure(*, keep: bool) -> None:
    """Set the thresholds of malloc, if the worker was started with a trim threshold."""
    try:
        threshold = int(os.environ["MALLOC_TRIM_THRESHOLD_"])
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(_TRIM, _KEPT if keep else threshold)
        libc.mallopt(_MAP, _LARGEST if keep else _DEFAULT)
        if not keep:
            libc.malloc_trim(0)
    except (KeyError, ValueError, OSError, AttributeError):  # or another C library
        return
