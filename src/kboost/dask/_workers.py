"""The threads of a cluster, for work that an estimator shares out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from kboost.dask._heap import in_roomy_heap
from kboost.estimators._local_choice import Hands


class Workers(Hands):
    """As threads of this process; values that are shared are sent once."""

    def __init__(self, client: Any) -> None:
        super().__init__(max(1, sum(client.nthreads().values())))
        self.client = client

    def map(self, work: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
        futures = self.client.map(partial(in_roomy_heap, work), *each, pure=False)
        try:
            found: list[Any] = self.client.gather(futures)
        except BaseException:
            self.client.cancel(futures)
            raise
        return found

    def share(self, value: Any, number: int = 0) -> Any:
        # a task of its own, and not scattered: the scheduler can make it again elsewhere
        workers = list(self.client.nthreads())
        there = [workers[number % len(workers)]] if workers else None
        return self.client.submit(_same, value, workers=there, allow_other_workers=True, pure=False)


def _same(value: Any) -> Any:
    return value
