"""Which kernels: families with a learned metric, judged on rows left out.

Few rows     every row is left out once, and the fits of the search are those of the final model:
             kernel ridge regression on all other rows.
More rows    metrics are learned on a random sample first; then width, ridge and metric are learned
             again inside cells of the final size, where rows are as dense as in the final model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.blend import blend_weights
from kboost.columns.cells import descend
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.base import Kernel
from kboost.metric.compare import Judged, compare_families, judge
from kboost.metric.families import FAMILIES, Family
from kboost.metric.folds import LearningRows, fold_of, folds_of
from kboost.metric.rounds import Fold, learn_rounds

ONE_CELL = 6000  # rows up to which one least-squares problem holds all of them
CELL = 4000  # rows per cell above that
_FEW, _SOME = 800, 2400  # rows up to which there are five folds, three folds
_SAMPLE, _LEFT = 2000, 2000  # training rows and rows left out of a fold, with more rows
_CELLS, _CELL_LEFT = 2, 0.2  # folds in cells, and the part of their rows left out
_WIDE = 150  # features above which city-block distances cost too much


@dataclass(frozen=True)
class Member:
    """A kernel and a ridge with their weight in the model."""

    name: str
    kernel: Kernel
    ridge: float
    weight: float


@dataclass(frozen=True)
class SearchResult:
    """The members of the model, and everything that was judged."""

    members: tuple[Member, ...]
    judged: tuple[Judged, ...]
    values: FloatArray  # of the blend at the rows left out (m, q)
    targets: FloatArray
    weight: FloatArray
    rows: IntArray  # numbers of the rows left out


def search(rows: LearningRows, *, blend: bool = True, deadline: Deadline = NO_LIMIT) -> SearchResult:
    """The kernels of the best model."""
    families = [f for f in FAMILIES if rows.X.shape[1] <= _WIDE or f.kind.kind != "cityblock"]
    folds = global_folds(rows)
    judged = compare_families(folds, families, deadline=deadline.share(2))
    if len(rows) > ONE_CELL:
        folds = local_folds(rows, judged[0])
        judged = [_judged_again(each, folds, deadline) for each in judged[:3]]
        judged.sort(key=lambda each: each.error)
    targets = np.concatenate([fold.targets_left + fold.mean for fold in folds])
    weight = np.concatenate([fold.weight_left for fold in folds])
    values = [_values(each, folds) for each in judged]
    share = blend_weights(values, targets, weight) if blend else np.eye(len(judged))[0]
    members = tuple(
        Member(each.family.name, each.kernel(rows.X, rows.weight), each.ridge, float(part))
        for each, part in zip(judged, share, strict=True)
        if part > 0
    )
    mixed = np.sum([part * value for part, value in zip(share, values, strict=True)], axis=0)
    left = np.concatenate([fold.left for fold in folds])
    return SearchResult(members, tuple(judged), mixed, targets, weight, left)


def global_folds(rows: LearningRows) -> list[Fold]:
    """Folds of all rows, or of a sample."""
    n = len(rows)
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
    kernel = judged.kernel(rows.X, rows.weight)
    size = int(CELL / (1 - _CELL_LEFT))
    anchors = np.arange(_CELLS)
    cells = descend(rows.X, np.arange(len(rows)), size, kernel.pairing.view, anchors)
    folds = []
    for cell in cells:
        n_left = int(_CELL_LEFT * len(cell))
        folds.append(fold_of(rows, cell[n_left:], cell[:n_left]))
    return folds


def _judged_again(each: Judged, folds: Sequence[Fold], deadline: Deadline) -> Judged:
    start = each.length, each.ridge
    fits = [learn_rounds(each.family, fold, 1, deadline, each.scale, start) for fold in folds]
    return judge(each.family, fits, each.seconds)


def _values(each: Judged, folds: Sequence[Fold]) -> FloatArray:
    return np.concatenate([v + f.mean for v, f in zip(each.left_out, folds, strict=True)])
