"""Threads that call BLAS.

OpenBLAS takes 32 MiB at the first call of each thread, and once more where its number of threads is
changed. Where memory is limited and there is none, one version waits for ever and another ends the
process. So the memory is looked for first, which raises MemoryError; then both libraries, NumPy's
and SciPy's, take theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from mmap import mmap
from threading import local
from typing import Any, TypeVar

import numpy as np
import scipy.linalg

_BUFFERS = 2 * (33 << 20)  # bytes of both libraries

Result = TypeVar("Result")


class _Thread(local):
    """What a thread has taken."""

    has_buffers = False


_thread = _Thread()


class ThreadPool(ThreadPoolExecutor):
    """A pool whose threads have the buffers of BLAS before they work."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        return super().submit(_with_buffers, fn, *args, **kwargs)


def _with_buffers(work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    if not _thread.has_buffers:
        take_buffers()
        _thread.has_buffers = True
    return work(*args, **kwargs)


def take_buffers() -> None:
    """Let BLAS take its buffers for this thread, or raise MemoryError."""
    try:
        mmap(-1, _BUFFERS).close()
    except OSError:
        raise MemoryError(
            f"fit requires {_BUFFERS >> 20} MiB of memory for BLAS in each thread; "
            "raise the limit of the process."
        ) from None
    np.linalg.cholesky(np.eye(2))
    scipy.linalg.cholesky(np.eye(2))
