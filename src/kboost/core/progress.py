"""Estimates of the time that a fit still takes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.trace import Step


@dataclass(frozen=True)
class TimeEstimate:
    """The progress of a fit towards the limit that will end it, and the seconds left."""

    done: int
    limit: int
    unit: str  # what is counted
    seconds: float

    def __str__(self) -> str:
        return f"{self.done} of {self.limit} {self.unit}, about {self.seconds:.0f} s left"

    def log(self) -> None:
        """Write the estimate to the log."""
        logging.getLogger("kboost").info("%s", self)


@dataclass(frozen=True)
class TimeRemaining:
    """A listener that logs after each step how long the rest of the fit will take.

    The time of a fit grows with the square of the columns, or in proportion to them; in a series
    that holds for each of its ensembles, and `columns`, `steps` and `seconds` are those of the
    ensembles before the current one. `max_columns` or `max_iter`, whichever is reached first,
    ends the fit, unless the deadline does.
    """

    max_columns: int
    max_iter: int
    deadline: Deadline = NO_LIMIT
    quadratic: bool = True
    ensemble: int | None = None  # columns per ensemble of a series; None: no series
    columns: int = 0
    steps: int = 0
    seconds: float = 0.0

    def on_step(self, trace: Sequence[Step]) -> None:
        """Log the estimate, until a limit is reached."""
        estimate = self.after(trace)
        if estimate is not None and estimate.seconds > 0.0:
            estimate.log()

    def on_end(self) -> None:
        """Nothing more to log."""

    def after(self, trace: Sequence[Step]) -> TimeEstimate | None:
        """The estimate; None before the first column."""
        last = trace[-1]
        columns, steps = self.columns + last.n_columns, self.steps + last.iteration
        done = self._work(columns)
        if not done:
            return None
        reached = TimeEstimate(columns, self.max_columns, "columns", 0.0)
        if columns >= self.max_columns or steps >= self.max_iter:
            return reached
        goal = float(self.max_columns)
        per_step = max(columns / steps, last.n_columns - trace[-2].n_columns if trace[1:] else 0)
        if (by_steps := columns + (self.max_iter - steps) * per_step) < goal:
            goal, reached = by_steps, TimeEstimate(steps, self.max_iter, "steps", 0.0)
        rest = (self.seconds + last.seconds) * (self._work(goal) / done - 1.0)
        return replace(reached, seconds=min(rest, self.deadline.remaining))

    def _work(self, columns: float) -> float:
        """The cost of a number of columns, up to a factor."""
        size = self.ensemble or self.max_columns
        whole, part = divmod(columns, size)
        power = 2 if self.quadratic else 1
        return float(whole * size**power + part**power)
