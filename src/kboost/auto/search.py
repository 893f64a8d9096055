"""Which kernels: families with a learned metric, judged on rows left out.

Few rows     every row is left out once, and the fits of the search are those of the final model:
             kernel ridge regression on all other rows.
More rows    metrics are learned and judged on a random sample.

Above the rows of one least-squares problem, width, ridge and metric can be learned again inside
cells of the final size. Rows are as dense there as in the final model, but two cells are not the
table: auto/finalists.py judges the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import descend
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.stopping import StopReason
from kboost.metric.compare import COMPARED, Judged, compare_families
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.folds import LearningRows, fold_of, folds_of
from kboost.metric.rounds import ROUNDS, Fold

_FEWEST = 10  # rows that can be left out in turn
_FEW, _SOME = 800, 2400  # rows up to which there are five folds, three folds
_SAMPLE, _LEFT = 2000, 2000  # training rows and rows left out of a fold, with more rows
_HURRIED = 500  # rows of a search without time
_CELLS, _CELL_ROWS, _CELL_LEFT = 2, 2500, 0.2  # folds in cells: their rows, the part left out
_ANCHORS = 4  # rows among which two are in different cells
_FINALISTS = 3  # families that are learned again in cells
_REFERENCE = 5000  # rows for transforms and the unit of lengths, in cells


@dataclass(frozen=True)
class SearchResult:
    """The families in the order of their errors, and the folds in which they were judged."""

    judged: tuple[Judged, ...]
    folds: tuple[Fold, ...]
    reason: StopReason  # why no more were judged

    @property
    def left_out(self) -> IntArray:
        """Numbers of the rows left out."""
        return np.concatenate([fold.left_out for fold in self.folds])

    @property
    def fold_numbers(self) -> IntArray:
        """The fold of each row left out."""
        return np.repeat(np.arange(len(self.folds)), [len(fold.left_out) for fold in self.folds])

    def values(self, each: Judged) -> FloatArray:
        """The values of a family at the rows left out."""
        pairs = zip(each.left_out, self.folds, strict=False)
        return np.concatenate([values + fold.mean for values, fold in pairs])


def search(
    rows: LearningRows,
    families: Sequence[MetricFamily] = FAMILIES,
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> SearchResult:
    """Judge the families on rows left out; Ctrl-C keeps those judged so far, perhaps none."""
    folds = global_folds(rows if deadline.remaining else rows.take(np.arange(len(rows))[:_HURRIED]))
    judged, reason = compare_families(folds, families, rounds, deadline, listeners=listeners)
    return _result(judged, folds, reason)


def search_in_cells(
    rows: LearningRows,
    before: Sequence[Judged],
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> SearchResult:
    """Learn the best of these families again, inside cells; none of them without a width."""
    finalists = [each for each in before if each.family.learned][:_FINALISTS]
    if not finalists:
        return SearchResult((), (), COMPARED)
    folds = local_folds(rows, finalists[0])
    judged, reason = compare_families(
        folds, [each.family for each in finalists], min(rounds, 1), deadline,
        {each.family.name: each for each in finalists}, listeners,
    )  # fmt: skip
    return _result(judged, folds, reason)


def _result(judged: Sequence[Judged], folds: Sequence[Fold], reason: StopReason) -> SearchResult:
    n_folds = len(judged[0].errors) if judged else 0
    return SearchResult(tuple(judged), tuple(folds[:n_folds]), reason)


def global_folds(rows: LearningRows) -> list[Fold]:
    """Folds of all rows, or of a sample."""
    n = len(rows)
    if n < 3:  # nothing can be left out
        everything = np.arange(n)
        return [fold_of(rows, everything, everything)]
    if n < _FEWEST:
        return folds_of(rows, n, n, n)
    if n <= _SOME:
        count = 5 if n <= _FEW else 3
        return folds_of(rows, count, count, n)
    sample = rows.take(np.arange(min(n, 2 * (_SAMPLE + _LEFT))))
    half = len(sample) // 2
    size = min(_SAMPLE, n * 2 // 3)
    numbers = np.arange(len(sample))
    first, second = numbers[:half], numbers[half:]
    return [
        fold_of(sample, training[:size], np.concatenate([training[size:], left_out])[:_LEFT])
        for training, left_out in ((first, second), (second, first))
    ]


def local_folds(rows: LearningRows, judged: Judged) -> list[Fold]:
    """Folds inside cells of the metric found so far; equal rows may fill more than a cell."""
    reference = rows.X[:_REFERENCE], rows.weight[:_REFERENCE]
    kernel = judged.kernel(*reference)
    anchors = np.arange(min(_ANCHORS, len(rows)))
    branches = descend(rows.X, np.arange(len(rows)), _CELL_ROWS, kernel.pairing.view, anchors)
    cells = list({int(cell[0]): cell[:_CELL_ROWS] for cell in branches}.values())
    folds = []
    for cell in cells[:_CELLS]:
        n_left = int(_CELL_LEFT * len(cell))
        folds.append(fold_of(rows, cell[n_left:], cell[:n_left], reference))
    return folds
