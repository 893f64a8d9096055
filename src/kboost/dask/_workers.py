"""The threads of a cluster as an executor (local/executor.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any

from kboost.dask._malloc import with_tuned_malloc
from kboost.local.executor import BoundMap, Executor


class Workers(Executor):
    """Threads of the workers."""

    def __init__(self, client: Any) -> None:
        super().__init__(max(1, sum(client.nthreads().values())))
        self.client = client

    def map(self, work: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        futures = self.client.map(partial(with_tuned_malloc, work), *arguments, pure=False)
        try:
            results: list[Any] = self.client.gather(futures)
        except BaseException:
            self.client.cancel(futures)
            raise
        return results

    def scatter(self, value: Any) -> Any:
        # a task, not `client.scatter`: the scheduler can run it again if its worker is lost
        return self.client.submit(_identity, value, pure=False)

    def bind(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> BoundMap:
        """One actor per value: a task costs more than a short call.

        Actors are lost with their workers; from then on calls are tasks. They are tasks from the
        start where workers have several threads, since the actors of a worker share one.
        """
        actors = self._actors(work, values)
        plain = super().bind

        @cache
        def tasks() -> BoundMap:
            return plain(work, [self.scatter(value) for value in values])

        def call(argument: Any) -> list[Any]:
            if actors:
                try:
                    answers = [actor.call(argument) for actor in actors]
                    return [answer.result() for answer in answers]
                except Exception:  # an error of the work itself is raised again by the task
                    actors.clear()
            return tasks()(argument)

        return call

    def _actors(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> list[Any]:
        """One per value, in parallel; none if there are no workers, or if they share a thread."""
        threads = self.client.nthreads()
        if set(threads.values()) != {1}:
            return []
        futures = [
            self.client.submit(
                _BoundWork, work, value, workers=[address], allow_other_workers=True, actor=True,
                pure=False,
            )
            for value, address in zip(values, cycle(threads), strict=False)
        ]  # fmt: skip
        try:
            return [future.result() for future in futures]
        except Exception:
            return []


class _BoundWork:
    """On a worker: a function with its first argument."""

    def __init__(self, work: Callable[[Any, Any], Any], value: Any) -> None:
        self._work, self._value = work, value

    def call(self, argument: Any) -> Any:
        return with_tuned_malloc(self._work, self._value, argument)


def _identity(value: Any) -> Any:
    return value
