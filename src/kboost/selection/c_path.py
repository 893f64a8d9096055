"""`C="auto"`: the cost of errors chosen on a path, by the loss on held-out rows.

The path starts where the first columns become worth their price and rises in equal factors; the
search and the solver stay warm from one C to the next. Each C is evaluated on held-out rows (on
several splits where rows are few), and the path ends when the loss has not fallen for a few
values: larger values of C overfit. Models without columns do not count among them, and those with
the same loss count half: where one label is rare, the path of a hinge loss is flat at first. Those
whose loss is far above the lowest count twice: they are the largest models, and cost the most.
For a regressor the path also ends where the loss is level: beyond the C at which all residuals
vanish the models are the same.

The loss of a classifier is the log loss of the decisions of all splits after one logistic function
was fitted to them (selection/platt.py): unlike the share of wrong labels it falls as soon as the
model finds something, also where a class has few rows. Of values of almost the same loss the
smallest is taken. The loss of a regressor is the mean squared error; that of a quantile is the
pinball loss.

Splits keep rows of equal x together and are drawn from the canonical order, and weights count in
the loss, so a row given twice equals a row of weight two. Of many rows of more than two classes a
sample is enough: C counts per row, and serves all classes.

The path is a method of the driver: a time limit or Ctrl-C leaves the best C so far, and the models
at it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kboost._typing import FloatArray
from kboost.core.coefficients import in_use
from kboost.core.column_generation import GenerationResult
from kboost.core.iterate import Method, iterate
from kboost.core.stopping import StopReason, solver_failed
from kboost.data.merged_rows import MergedRows, hold_out
from kboost.exceptions import SolverError
from kboost.plans.training_data import HeldOut, TrainingData
from kboost.selection.path_fit import PathFit, PathPoint

UsedColumns: TypeAlias = list[Any]  # hypotheses with a coefficient

RATIO = 10 ** (1 / 3)
MAX_VALUES = 16
FEW_ROWS = 500  # up to here held-out errors are noisy, and fits cheap
PATIENCE, PATIENCE_OF_FEW_ROWS = 2, 4  # values of C without a lower error
SPLITS = ((FEW_ROWS, 5), (2_000, 3))  # so many splits up to so many rows; one beyond
HELD_OUT = 0.2
ENOUGH_ROWS = 2_000  # of a split, on either side, where classes are many
FEW_COLUMNS = 3  # patience begins with a model of so many
FAR_ABOVE = 0.1  # of the lowest loss


@dataclass(frozen=True)
class Tried:
    """One value of C, the held-out loss, and the mean number of columns."""

    C: float
    error: float
    n_columns: float

    def __str__(self) -> str:
        return f"C {self.C:.3g}  loss {self.error:.4f}  columns {self.n_columns:.0f}"


@dataclass(frozen=True)
class Tuning:
    """The values of C tried, the held-out loss and mean columns at each, and the best index."""

    C: FloatArray
    error: FloatArray
    n_columns: FloatArray
    best: int


def split_rows(
    data: TrainingData, rng: np.random.RandomState, *, stratify: bool, n_outputs: int = 1
) -> list[tuple[MergedRows, MergedRows]]:
    """Training and held-out rows: the user's, or random splits, more of them for few rows.

    A sample of them is taken where y has more than two classes.
    """
    rows = data.rows
    if data.held_out is not None:
        return [(rows, data.held_out)]
    n_splits = next((count for limit, count in SPLITS if len(rows.weight) <= limit), 1)
    splits = [hold_out(rows, HELD_OUT, rng, by_code=stratify) for _ in range(n_splits)]
    if stratify and n_outputs > 1:
        splits = [(_sample(inside, rng), _sample(out, rng)) for inside, out in splits]
    return [
        (training, held_out)
        for training, held_out in splits
        if len(held_out.weight) and len(np.unique(training.codes)) > 1
    ]


def _sample(rows: MergedRows, rng: np.random.RandomState) -> MergedRows:
    """At most about `ENOUGH_ROWS` rows, drawn class by class; every class keeps a row."""
    n = len(rows.weight)
    if n <= ENOUGH_ROWS:
        return rows
    return hold_out(rows, 1.0 - ENOUGH_ROWS / n, rng, by_code=True)[0]


class CostPath(Method[Tried]):
    """Rising values of C from the first that matters, solved on every split.

    Losses are the same up to the relative difference `alike`.
    """

    trace: list[Tried]

    def __init__(
        self,
        fits: Sequence[PathFit],
        n_rows: int,
        loss: Callable[[HeldOut], float],
        alike: float = 0.0,
        level: float | None = None,
    ) -> None:
        self._fits, self._loss, self._alike, self._level = fits, loss, alike, level
        self._patience = PATIENCE_OF_FEW_ROWS if n_rows <= FEW_ROWS else PATIENCE
        self._best: PathPoint | None = None
        self._used: list[list[list[UsedColumns]]] = []  # per value, split and output
        self._first = min(fit.first_cost for fit in fits)
        self.trace = []

    def advance(self) -> Tried | StopReason:
        try:
            points = [fit.solve(self._cost) for fit in self._fits]
        except SolverError as failure:
            if not self.trace:
                raise
            return solver_failed(failure)
        error = self._loss(_held_out(self._fits, points))
        if all(error <= value.error for value in self.trace):
            self._best = points[0]
        self._used.append([[_used(result) for result in point.results] for point in points])
        counts = [sum(map(len, split)) for split in self._used[-1]]
        return Tried(self._cost, error, float(np.mean(counts)))

    def limit(self, trace: Sequence[Tried]) -> StopReason | None:
        """The stop rule: the loss has not fallen for a few values, or there were enough."""
        if _steps_since_best(trace, self._alike) >= self._patience:
            count = self._patience
            return StopReason("path", f"the held-out loss has not fallen for {count} values of C.")
        if self._level is not None and _is_level(trace, self._level):
            return StopReason("path", "the held-out loss falls no more.")
        return StopReason("path", f"{MAX_VALUES} values.") if len(trace) == MAX_VALUES else None

    @property
    def _cost(self) -> float:
        """The value that comes next, or is being solved."""
        return self._first * float(RATIO ** len(self.trace))

    @property
    def tuning(self) -> Tuning | None:
        """What was tried; None without a value."""
        if not self.trace:
            return None
        C, errors, columns = np.array([(t.C, t.error, t.n_columns) for t in self.trace]).T
        return Tuning(C, errors, columns, first_best(errors, self._alike))

    def used_at_best(self, output: int) -> list[UsedColumns]:
        """The columns of this output in the model of each split at the chosen C."""
        best = 0 if self.tuning is None else self.tuning.best
        return [split[output] for split in self._used[best]] if self._used else []

    @property
    def so_far(self) -> PathPoint | None:
        """The models of the first split with columns: at the best C, or else as they stand."""
        if self._best is not None and any(_used(result) for result in self._best.results):
            return self._best
        return self._fits[0].as_it_stands(self._cost)


def tune(
    fits: Sequence[PathFit],
    n_rows: int,
    loss: Callable[[HeldOut], float],
    alike: float = 0.0,
    level: float | None = None,
) -> tuple[CostPath, StopReason]:
    """Raise C until the loss on held-out rows has stopped falling; `fits` has one or more."""
    path = CostPath(fits, n_rows, loss, alike, level)
    return path, iterate(path, path.limit)


def _held_out(fits: Sequence[PathFit], points: Sequence[PathPoint]) -> HeldOut:
    """The held-out rows of each split, with the decisions there."""
    pairs = zip(fits, points, strict=True)
    return [
        (fit.validator.rows, point.held_out)
        for fit, point in pairs
        if fit.validator is not None and point.held_out is not None
    ]


def _steps_since_best(tried: Sequence[Tried], alike: float) -> float:
    """Values of C since that of the lowest loss, with a few columns.

    A loss as low counts half, and one far above it twice.
    """
    losses = [value.error for value in tried]
    best = int(np.argmin(losses))
    as_low, far = losses[best] * (1.0 + alike), losses[best] * (1.0 + FAR_ABOVE)
    later = [value for value in tried[best + 1 :] if value.n_columns >= FEW_COLUMNS]
    return sum(0.5 if v.error <= as_low else 2.0 if v.error > far else 1.0 for v in later)


def _is_level(tried: Sequence[Tried], level: float) -> bool:
    """Whether the last two values of C lowered the loss of a model with columns by little."""
    if len(tried) < 3 or tried[-3].n_columns < FEW_COLUMNS:
        return False
    return tried[-3].error <= (1.0 + level) * min(value.error for value in tried)


def first_best(losses: FloatArray, alike: float) -> int:
    """The first that is hardly above the lowest: the smallest model."""
    return int(np.argmax(losses <= losses.min() * (1.0 + alike)))


def last_best(errors: Sequence[float]) -> int:
    """The last of the lowest errors: on a plateau the margins still grow with C."""
    return len(errors) - 1 - int(np.argmin(errors[::-1]))


def _used(result: GenerationResult) -> UsedColumns:
    """The columns with a coefficient that is not negligible."""
    return [result.hypotheses[j] for j in np.flatnonzero(in_use(result.fit.coef))]
