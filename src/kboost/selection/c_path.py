"""`C="auto"`: the price of errors by a path on held-out rows.

The path starts where the first columns become worth their price and rises in equal factors; the
search and the solver stay warm from one C to the next. Each C is judged on rows held out (several
parts in turn where rows are few), and the path is given up when the error has not fallen for a
few steps: a C that overfits shows early. Parts are whole groups of equal x, drawn from the
canonical order, and weights count in the error, so a row given twice equals a row of weight two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.iterate import logger
from kboost.data.merged_rows import MergedRows, hold_out
from kboost.exceptions import OutOfTimeError
from kboost.plans.training_data import TrainingData
from kboost.selection.path_fit import PathFit, PathPoint

RATIO = 10 ** (1 / 3)
MOST = 16  # values of C
FEW = 500  # rows: up to there errors held out are noisy, and fits cheap
PATIENCE, PATIENCE_OF_FEW = 2, 4  # values of C without a lower error
PARTS = ((FEW, 5), (2_000, 3))  # so many parts up to so many rows; else one
HELD = 0.2


@dataclass(frozen=True)
class Tried:
    """One value of C, the mean error held out, and the mean number of columns."""

    C: float
    error: float
    n_columns: float

    def __str__(self) -> str:
        return f"C {self.C:.3g}  error {self.error:.4f}  columns {self.n_columns:.0f}"


@dataclass(frozen=True)
class Tuning:
    """The values of C tried, the mean error held out at each, and the place of the best."""

    C: FloatArray
    error: FloatArray
    n_columns: FloatArray
    best: int


def split_parts(
    data: TrainingData, rng: np.random.RandomState, *, by_code: bool
) -> list[tuple[MergedRows, MergedRows]]:
    """Rows to learn from and to judge by: the user's, or drawn, more often from few rows."""
    rows = data.rows
    if data.held is not None:
        return [(rows, data.held)]
    n_parts = next((parts for limit, parts in PARTS if len(rows.weight) <= limit), 1)
    drawn = [hold_out(rows, HELD, rng, by_code=by_code) for _ in range(n_parts)]
    return [
        (learn, judge)
        for learn, judge in drawn
        if len(judge.weight) and len(np.unique(learn.codes)) > 1
    ]


def tune(parts: Sequence[PathFit], n_rows: int) -> Tuning | None:
    """Raise C from the first that matters until the mean error has stopped falling.

    None without a part, or without the time for one value.
    """
    patience = PATIENCE_OF_FEW if n_rows <= FEW else PATIENCE
    tried: list[Tried] = []
    errors: list[float] = []
    for step in range(MOST if parts else 0):
        C = min(part.first for part in parts) * RATIO**step
        try:
            found = [part.to(C) for part in parts]
        except OutOfTimeError:
            break
        errors.append(float(np.mean([point.held_error for point in found])))
        tried.append(Tried(C, errors[-1], float(np.mean([_in_use(point) for point in found]))))
        logger.info("%s", tried[-1])
        if step - int(np.argmin(errors)) >= patience:
            break
    if not tried:
        return None
    columns = [one.n_columns for one in tried]
    Cs = [one.C for one in tried]
    return Tuning(np.array(Cs), np.array(errors), np.array(columns), last_best(errors))


def last_best(errors: Sequence[float]) -> int:
    """The last of the lowest errors: on a plateau the margins still grow with C."""
    return len(errors) - 1 - int(np.argmin(errors[::-1]))


def _in_use(point: PathPoint) -> int:
    """Columns with a share in the outputs; an interior solution has traces of others."""
    shares = [np.abs(grown.fit.coef) for grown in point.grown]
    return sum(int(np.count_nonzero(share > 1e-3 * share.max(initial=0.0))) for share in shares)
