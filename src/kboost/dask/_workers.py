"""An executor on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any

from kboost.dask._malloc import with_tuned_malloc
from kboost.local.executor import Again, Executor


class Workers(Executor):
    """An executor on the threads of a cluster; shared values are sent once."""

    def __init__(self, client: Any) -> None:
        super().__init__(max(1, sum(client.nthreads().values())))
        self.client = client

    def map(self, work: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
        futures = self.client.map(partial(with_tuned_malloc, work), *each, pure=False)
        try:
            results: list[Any] = self.client.gather(futures)
        except BaseException:
            self.client.cancel(futures)
            raise
        return results

    def share(self, value: Any) -> Any:
        # a task and not scattered, so that the scheduler can recompute it elsewhere
        return self.client.submit(_same, value, pure=False)

    def keep(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> Again:
        """Use actors, which are called directly: a task has more overhead than a short call.

        Actors are lost with their workers; then tasks are used, as they are from the start if
        workers have several threads, because the actors of a worker share one thread.
        """
        actors = self._actors(work, values)
        plain = super().keep

        @cache
        def tasks() -> Again:
            return plain(work, [self.share(value) for value in values])

        def again(more: Any) -> list[Any]:
            if actors:
                try:
                    return [answer.result() for answer in [actor.ask(more) for actor in actors]]
                except Exception:  # an error of the work itself is raised again by the task
                    actors.clear()
            return tasks()(more)

        return again

    def _actors(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> list[Any]:
        """One actor per value; none if they fail or would share a thread."""
        threads = self.client.nthreads()
        if set(threads.values()) != {1}:
            return []
        made = [
            self.client.submit(
                _Keeper, work, value, workers=[worker], allow_other_workers=True, actor=True,
                pure=False,
            )
            for value, worker in zip(values, cycle(threads), strict=False)
        ]  # fmt: skip
        try:
            return [future.result() for future in made]
        except Exception:
            return []


class _Keeper:
    """On a worker: a value and the function to apply to it."""

    def __init__(self, work: Callable[[Any, Any], Any], value: Any) -> None:
        self._work, self._value = work, value

    def ask(self, more: Any) -> Any:
        return with_tuned_malloc(self._work, self._value, more)


def _same(value: Any) -> Any:
    return value
