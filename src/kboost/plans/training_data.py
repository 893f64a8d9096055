"""What there is to learn, once the input is checked: merged rows, and a task for each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kboost._typing import FloatArray
from kboost.data.merged_rows import MergedRows
from kboost.formulations import MarginRows

HIGHEST_PRICE = 1e12


@dataclass(frozen=True)
class Task:
    """One problem to solve: what it makes of the rows, and its error on rows held out."""

    formulate: Callable[[MergedRows, float], MarginRows]  # at some C
    error: Callable[[MergedRows], Callable[[FloatArray], float]]


@dataclass(frozen=True)
class TrainingData:
    """The rows to learn from, the tasks, and the user's own rows to judge by, if there are any."""

    rows: MergedRows
    tasks: Sequence[Task]
    n_input_rows: int
    held: MergedRows | None = None

    def problems(self, rows: MergedRows, C: float) -> list[MarginRows]:
        """What the tasks make of these rows."""
        return [task.formulate(rows, C) for task in self.tasks]


def check_prices(problems: Sequence[MarginRows], factor: float = 1.0) -> None:
    """Refuse prices of errors, times a factor, that leave the solvers no digits."""
    highest = factor * max(float(rows.slack_costs.max()) for rows in problems)
    if not highest < HIGHEST_PRICE:
        raise ValueError(
            f"C times the largest sample weight must be below {HIGHEST_PRICE:g}; got {highest:g}."
        )
