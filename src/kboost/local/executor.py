"""Who does the work of a choice: threads of this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Again = Callable[[Any], list[Any]]


class Executor:
    """Who does the work: so many threads of this process, here."""

    def __init__(self, width: int = 1) -> None:
        self.width = width

    def map(self, work: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
        """As the built-in."""
        with ThreadPoolExecutor(self.width) as pool:
            return list(pool.map(work, *each))

    def share(self, value: Any) -> Any:
        """A value that several pieces of work are given."""
        return value

    def keep(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> Again:
        """What does `work` on each of the values, again and again."""
        return lambda more: self.map(work, values, [more] * len(values))
