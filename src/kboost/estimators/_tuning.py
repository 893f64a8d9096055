"""`C="auto"`: the price of errors by a path on held-out rows.

The path starts where the first columns become worth their price and rises in equal factors; the
search and the solver stay warm from one C to the next. Each C is judged on rows held out (several
parts in turn where rows are few), and the path is given up when the error has not fallen for a
few steps: a C that overfits shows early. Parts are whole groups of equal x, drawn from the
canonical order, and weights count in the error, so a row given twice equals a row of weight two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kboost._errors import OutOfTimeError
from kboost._typing import FloatArray
from kboost.core.grow import logger
from kboost.core.path import Follower
from kboost.core.watch import Watch
from kboost.estimators._rows import MergedRows, hold_out

RATIO = 10 ** (1 / 3)
MOST = 16  # values of C
PATIENCE = 2  # values of C without a lower error
PARTS = ((500, 5), (2_000, 3))  # so many parts up to so many rows; else one
HELD = 0.2


@dataclass(frozen=True)
class Tuning:
    """The values of C tried, the mean error held out at each, and the place of the best."""

    C: FloatArray
    error: FloatArray
    n_columns: FloatArray
    best: int


@dataclass(frozen=True)
class Part:
    """Models that follow C on most rows, judged on the others."""

    followers: Sequence[Follower]  # one an output
    watches: Sequence[Watch]
    error: Callable[[FloatArray], float]  # of decisions (n_held, n_outputs)

    def at(self, C: float) -> tuple[float, int]:
        """Error held out and columns in use at this C."""
        decisions, columns = [], 0
        for follower, watch in zip(self.followers, self.watches, strict=True):
            fit = follower.to(C, polish=False)
            share = np.abs(fit.coef)
            columns += int(np.count_nonzero(share > 1e-3 * share.max(initial=0.0)))
            decisions.append(watch.decision(follower.hypotheses, fit))
        return self.error(np.column_stack(decisions)), columns


def split_parts(
    rows: MergedRows, rng: np.random.RandomState, *, by_code: bool
) -> Iterable[tuple[MergedRows, MergedRows]]:
    """Rows to learn from and rows to judge by, as often as their number asks for."""
    n_parts = next((parts for limit, parts in PARTS if len(rows.weight) <= limit), 1)
    for _ in range(n_parts):
        learn, judge = hold_out(rows, HELD, rng, by_code=by_code)
        if len(judge.weight) and len(np.unique(learn.codes)) > 1:
            yield learn, judge


def follow_path(parts: Sequence[Part], first: float) -> Tuning | None:
    """Raise C from `first` on until the mean error has stopped falling; None without a part."""
    tried: list[float] = []
    errors: list[float] = []
    columns: list[float] = []
    for step in range(MOST if parts else 0):
        C = first * RATIO**step
        try:
            found = [part.at(C) for part in parts]
        except OutOfTimeError:
            break
        tried.append(C)
        errors.append(float(np.mean([error for error, _ in found])))
        columns.append(float(np.mean([count for _, count in found])))
        logger.info("C %.3g  error %.4f  columns %.0f", C, errors[-1], columns[-1])
        if step - int(np.argmin(errors)) >= PATIENCE:
            break
    if not tried:
        return None
    return Tuning(np.array(tried), np.array(errors), np.array(columns), _last_best(errors))


def _last_best(errors: Sequence[float]) -> int:
    """The last of the lowest errors: on a plateau the margins still grow with C."""
    return len(errors) - 1 - int(np.argmin(errors[::-1]))
