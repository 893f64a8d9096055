"""One BLAS thread where matrices are small.

On a few hundred columns a second BLAS thread saves little, and when other work wants the cores its
busy waiting costs ten times what it saves.
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
    """A context with one BLAS thread, or as many as there are for many rows."""
    return nullcontext() if n_rows > SMALL else one_blas_thread()


def threads_for(n_rows: int) -> int:
    """As many threads of our own as BLAS has, for work on many rows that it does not share."""
    if n_rows <= SMALL:
        return 1
    return max((pool["num_threads"] for pool in _controller().info()), default=1)


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context with one BLAS thread: for work that threads of its own share."""
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited
