"""Parallel work of the metric search: threads of this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kboost._threads import ThreadPool

BoundMap = Callable[[Any], list[Any]]


class Executor:
    """Threads of this process."""

    def __init__(self, n_workers: int = 1) -> None:
        self.n_workers = n_workers

    def map(self, work: Callable[..., Any], *arguments: Iterable[Any]) -> list[Any]:
        """As the built-in `map`, in parallel."""
        with ThreadPool(self.n_workers) as pool:
            return list(pool.map(work, *arguments))

    def scatter(self, value: Any) -> Any:
        """A value that several calls take as an argument, sent to the workers once."""
        return value

    def bind(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> BoundMap:
        """The function `argument -> [work(value, argument) for value in values]`, for many calls.

        The values are sent to the workers once.
        """
        return lambda argument: self.map(work, values, [argument] * len(values))
