"""How long a fit will still take."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.trace import Step


@dataclass(frozen=True)
class Left:
    """How far a fit is on its way to the limit that will end it, and how long the rest may take."""

    done: int
    limit: int
    what: str  # is counted
    seconds: float

    def __str__(self) -> str:
        return f"{self.done} of {self.limit} {self.what}, about {self.seconds:.0f} s left"

    def tell(self) -> None:
        """To the log."""
        logging.getLogger("kboost").info("%s", self)


@dataclass(frozen=True)
class TimeRemaining:
    """A listener that logs after each step how long the rest of the fit will take.

    The time of a fit grows with the square of the columns, or in proportion to them; in a series
    that holds for each of its ensembles, and `columns`, `steps` and `seconds` are those of the
    ensembles before the one that runs. `max_columns` or `max_iter`, whichever is reached first,
    ends the fit, unless the deadline does.
    """

    max_columns: int
    max_iter: int
    deadline: Deadline = NO_LIMIT
    quadratic: bool = True
    ensemble: int | None = None  # columns of each in a series; None: there is only one
    columns: int = 0
    steps: int = 0
    seconds: float = 0.0

    def on_step(self, trace: Sequence[Step]) -> None:
        """Log the estimate, until a limit is reached."""
        left = self.after(trace)
        if left is not None and left.seconds > 0.0:
            left.tell()

    def on_end(self) -> None:
        """Nothing is left to log."""

    def after(self, trace: Sequence[Step]) -> Left | None:
        """The estimate; None before the first column."""
        last = trace[-1]
        columns, steps = self.columns + last.n_columns, self.steps + last.iteration
        done = self._work(columns)
        if not done:
            return None
        reached = Left(columns, self.max_columns, "columns", 0.0)
        if columns >= self.max_columns or steps >= self.max_iter:
            return reached
        goal = float(self.max_columns)
        a_step = max(columns / steps, last.n_columns - trace[-2].n_columns if trace[1:] else 0)
        if (by_steps := columns + (self.max_iter - steps) * a_step) < goal:
            goal, reached = by_steps, Left(steps, self.max_iter, "steps", 0.0)
        rest = (self.seconds + last.seconds) * (self._work(goal) / done - 1.0)
        return replace(reached, seconds=min(rest, self.deadline.remaining))

    def _work(self, columns: float) -> float:
        """In a unit of its own."""
        size = self.ensemble or self.max_columns
        whole, part = divmod(columns, size)
        power = 2 if self.quadratic else 1
        return float(whole * size**power + part**power)
