"""The threads of a cluster, for work that an estimator shares out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import cycle
from typing import Any

from kboost.dask._malloc import in_roomy_heap
from kboost.local.executor import Again, Executor


class Workers(Executor):
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

    def share(self, value: Any) -> Any:
        # a task of its own, and not scattered: the scheduler can make it again elsewhere
        return self.client.submit(_same, value, pure=False)

    def keep(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> Again:
        """Actors, which are asked directly: a task costs more than a short piece of work.

        They are lost with their workers; from then on there are tasks, as there are from the start
        where workers have several threads: a worker's actors share one.
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
                except Exception:  # the work's own fails as a task too
                    actors.clear()
            return tasks()(more)

        return again

    def _actors(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> list[Any]:
        """One a value, side by side; none where they cannot be had, or would share a thread."""
        threads = self.client.nthreads()
        if set(threads.values()) != {1}:
            return []
        made = [
            self.client.submit(
                _Keeper, work, value, workers=[there], allow_other_workers=True, actor=True,
                pure=False,
            )
            for value, there in zip(values, cycle(threads), strict=False)
        ]  # fmt: skip
        try:
            return [future.result() for future in made]
        except Exception:
            return []


class _Keeper:
    """On a worker: a value, and what is done with it."""

    def __init__(self, work: Callable[[Any, Any], Any], value: Any) -> None:
        self._work, self._value = work, value

    def ask(self, more: Any) -> Any:
        return in_roomy_heap(self._work, self._value, more)


def _same(value: Any) -> Any:
    return value
