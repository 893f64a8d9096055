"""Which kernels: families with a learned metric, judged on rows left out.

Few rows     every row is left out once, and the fits of the search are those of the final model:
             kernel ridge regression on all other rows.
More rows    metrics are learned on a random sample first. Above the rows of one least-squares
             problem, width, ridge and metric are learned again inside cells of the final size,
             where rows are as dense as in the final model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import descend
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.metric.compare import Judged, compare_families, judge
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.folds import LearningRows, fold_of, folds_of
from kboost.metric.rounds import ROUNDS, Fold, learn_rounds

ONE_CELL = 6000  # rows up to which one least-squares problem holds all of them
CELL = 4000  # rows per cell above that
_FEWEST = 10  # rows that can be left out in turn
_FEW, _SOME = 800, 2400  # rows up to which there are five folds, three folds
_SAMPLE, _LEFT = 2000, 2000  # training rows and rows left out of a fold, with more rows
_CELLS, _CELL_ROWS, _CELL_LEFT = 2, 2500, 0.2  # folds in cells: their rows, the part left out
_FINALISTS = 3  # families that are learned again in cells
_REFERENCE = 5000  # rows for transforms and the unit of lengths, in cells
_WIDE = 150  # features above which city-block distances cost too much


@dataclass(frozen=True)
class SearchResult:
    """The families in the order of their errors, and the folds in which they were judged."""

    judged: tuple[Judged, ...]
    folds: tuple[Fold, ...]

    @property
    def left(self) -> IntArray:
        """Numbers of the rows left out."""
        return np.concatenate([fold.left for fold in self.folds])

    @property
    def fold_numbers(self) -> IntArray:
        """The fold of each row left out."""
        return np.repeat(np.arange(len(self.folds)), [len(fold.left) for fold in self.folds])

    def values(self, each: Judged) -> FloatArray:
        """The values of a family at the rows left out."""
        pairs = zip(each.left_out, self.folds, strict=False)
        return np.concatenate([values + fold.mean for values, fold in pairs])


def families_for(
    n_features: int, families: Sequence[MetricFamily] = FAMILIES
) -> list[MetricFamily]:
    """The families that can be searched with so many features."""
    return [f for f in families if n_features <= _WIDE or f.kind.kind != "cityblock"]


def search(
    rows: LearningRows,
    families: Sequence[MetricFamily] = FAMILIES,
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
) -> SearchResult:
    """Judge the families on rows left out."""
    many = len(rows) > ONE_CELL
    folds = global_folds(rows)
    until = deadline.share(2) if many else deadline
    judged = compare_families(folds, families, rounds, until)
    folds = folds[: len(judged[0].errors)]
    if many and deadline.remaining:
        folds = local_folds(rows, judged[0])
        finalists = [each for each in judged if each.family.learned][:_FINALISTS]
        again = min(rounds, 1)
        judged = [_judged_again(each, folds, again, deadline) for each in finalists]
        judged.sort(key=lambda each: each.error)
    return SearchResult(tuple(judged), tuple(folds))


def global_folds(rows: LearningRows) -> list[Fold]:
    """Folds of all rows, or of a sample."""
    n = len(rows)
    if n < _FEWEST:
        everything = np.arange(n)
        return [fold_of(rows, everything, everything)]
    if n <= _SOME:
        count = 5 if n <= _FEW else 3
        return folds_of(rows, count, count, n)
    sample = rows.take(np.arange(min(n, 2 * (_SAMPLE + _LEFT))))
    half = len(sample) // 2
    size = min(_SAMPLE, n * 2 // 3)
    numbers = np.arange(len(sample))
    first, second = numbers[:half], numbers[half:]
    return [
        fold_of(sample, training[:size], np.concatenate([training[size:], left])[:_LEFT])
        for training, left in ((first, second), (second, first))
    ]


def local_folds(rows: LearningRows, judged: Judged) -> list[Fold]:
    """Folds inside cells of the metric found so far."""
    reference = rows.X[:_REFERENCE], rows.weight[:_REFERENCE]
    kernel = judged.kernel(*reference)
    anchors = np.arange(_CELLS)
    cells = descend(rows.X, np.arange(len(rows)), _CELL_ROWS, kernel.pairing.view, anchors)
    folds = []
    for cell in cells:
        n_left = int(_CELL_LEFT * len(cell))
        folds.append(fold_of(rows, cell[n_left:], cell[:n_left], reference))
    return folds


def _judged_again(each: Judged, folds: Sequence[Fold], rounds: int, deadline: Deadline) -> Judged:
    start = each.length, each.ridge
    fits = [learn_rounds(each.family, fold, rounds, deadline, each.scale, start) for fold in folds]
    return judge(each.family, fits, each.seconds)
