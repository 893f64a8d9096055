"""One BLAS thread for small matrices.

On a few hundred columns a second BLAS thread saves little, and its busy waiting costs ten times as
much when other work uses the cores.

The number of BLAS threads belongs to the process. If fits in several threads each saved and
restored it, the second would save the 1 of the first, and restore it at the end. So there is one
limit for all of them: the first that asks for it sets it, and the last that ends restores it.
threadpoolctl 3.8 lets only the thread that was first set it, and ignores others, so its claim is
cleared before and after.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from threading import Lock, get_ident
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

from kboost._threads import take_buffers

SMALL = 20_000  # rows


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()


def release_claims() -> None:
    """Let every thread set the number of threads."""
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


class _SharedLimit:
    """A context with one BLAS thread, which any number of threads may be in at the same time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._entered: Counter[int] = Counter()  # how often each thread is inside
        self._limit: Any = None  # restores the number of before

    def __enter__(self) -> None:
        with self._lock:
            if self._limit is None:
                release_claims()
                self._limit = _controller().limit(limits=1, user_api="blas")
                release_claims()
            self._entered[get_ident()] += 1
        try:
            take_buffers()
        except MemoryError:
            self.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._leave(get_ident(), 1)

    def _leave(self, thread: int, times: int) -> None:
        self._entered[thread] -= times
        self._entered += Counter()  # without zeros
        if not self._entered and self._limit is not None:
            release_claims()
            self._limit.restore_original_limits()
            release_claims()
            self._limit = None

    def after_fork(self) -> None:
        """In a forked process only the thread that forked is left."""
        self._lock = Lock()
        for thread, times in list(self._entered.items()):
            if thread != get_ident():
                self._leave(thread, times)


_ONE_THREAD = _SharedLimit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD.after_fork)


def blas_threads_for(n_rows: int) -> AbstractContextManager[Any]:
    """A context with one BLAS thread, or all of them for many rows."""
    return nullcontext() if n_rows > SMALL else one_blas_thread()


def threads_for(n_rows: int) -> int:
    """The number of threads for work outside BLAS: that of BLAS for many rows, else 1."""
    if n_rows <= SMALL:
        return 1
    return max((pool["num_threads"] for pool in _controller().info()), default=1)


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one BLAS thread, for work in several threads."""
    return _ONE_THREAD
