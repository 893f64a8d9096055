"""Sums over the rows of each level in each fold, from which the means of levels are guessed.

Over the rows i of level l in fold f, with weights w and the mean m of the target over all rows,

    sum w_i,    sum w_i (y_i - m),    sum w_i (y_i - m)^2

are added up in the order of the rows. The sums over all folds give the means for new rows, and
those over all folds but f the means by which the rows of fold f are encoded for training. They are
added anew for each f: a difference would leave rounding errors where a level has no other rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kboost._typing import FloatArray, IntArray


class LevelSums(NamedTuple):
    """Sums over the rows of each level: what its mean is guessed from."""

    rows: FloatArray  # (levels,), of the weights
    sums: FloatArray  # (levels, targets), of the deviations from the mean of all rows
    squares: FloatArray  # (targets,), of their squares over all levels


class FoldSums:
    """The sums over the rows of each level in each fold.

    `levels` are numbers below `n_levels`, and those of rows that count in the mean of all rows only
    are negative. `targets` has one array per target.
    """

    def __init__(
        self,
        levels: IntArray,
        n_levels: int,
        folds: IntArray,
        n_folds: int,
        weight: FloatArray,
        targets: Iterable[FloatArray],
    ) -> None:
        self._known = levels >= 0
        self._cells = (levels * n_folds + folds)[self._known]
        self._size = (n_levels, n_folds)
        self._counts = self._by_cell(weight)
        sums, squares, means = [], [], []
        for values in targets:
            means.append(float(weight @ values / weight.sum()))
            centred = values - means[-1]
            sums.append(self._by_cell(weight * centred))
            squares.append(self._by_cell(weight * centred**2).sum(axis=0))
        self.mean: FloatArray = np.array(means)  # of each target, over all rows
        self._sums = np.array(sums).reshape(-1, *self._size)
        self._squares = np.array(squares).reshape(-1, n_folds)

    def of_levels(self, without: int | None = None) -> LevelSums:
        """The sums over the rows of all folds, or of all but one."""
        n_folds = self._size[1]
        used = [fold for fold in range(n_folds) if fold != without]
        if not self._counts[:, used].any():  # all rows are in one fold
            used = list(range(n_folds))
        return LevelSums(
            self._counts[:, used].sum(axis=1),
            self._sums[:, :, used].sum(axis=2).T,
            self._squares[:, used].sum(axis=1),
        )

    def _by_cell(self, values: FloatArray) -> FloatArray:
        n_levels, n_folds = self._size
        sums = np.bincount(self._cells, values[self._known], minlength=n_levels * n_folds)
        return sums.reshape(self._size).astype(np.float64)
