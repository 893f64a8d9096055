"""One BLAS thread for small matrices.

On a few hundred columns a second BLAS thread saves little, and its busy waiting costs ten times as
much when other work uses the cores.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 20_000  # rows


@lru_cache(maxsize=1)
def _controller() -> Any:
    return ThreadpoolController()


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
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited
