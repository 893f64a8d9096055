"""Sums over the rows of each level in each fold, from which the means of levels are guessed.

Over the rows i of level l in fold f, with weights w and the mean m of the target over all rows,

    sum w_i,    sum w_i (y_i - m),    sum w_i (y_i - m)^2

are added up in the order of the rows. The sums over all folds give the means for new rows, and
those over all folds but f the means by which the rows of fold f are encoded for training. They are
added anew for each f: a difference would leave rounding errors where a level has no other rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.preparation.level_means import N_FOLDS, LevelSums, shrunken_means
from kboost.preparation.target import Target
from kboost.preparation.typed_column import TypedColumn


class FoldSums:
    """The sums over the rows of each level in each fold."""

    def __init__(
        self,
        column: TypedColumn,
        folds: IntArray,
        weight: FloatArray,
        target: Target | None,
        y: Any,
    ) -> None:
        n = len(column.levels)
        self.places = np.append(np.arange(n + 1), n + 1)[column.values]  # n: not told apart
        self._known = self.places != n
        self._cells = (self.places * N_FOLDS + folds)[self._known]
        self._size = (n + 2, N_FOLDS)
        self._counts = self._by_cell(weight)
        self.count: FloatArray = self._counts.sum(axis=1)
        sums, squares, means = [], [], []
        for values in () if target is None else target.of_rows(y):
            means.append(float(weight @ values / weight.sum()))
            centred = values - means[-1]
            sums.append(self._by_cell(weight * centred))
            squares.append(self._by_cell(weight * centred**2).sum(axis=0))
        self._mean = np.array(means)
        self._sums = np.array(sums).reshape(-1, *self._size)
        self._squares = np.array(squares).reshape(-1, N_FOLDS)

    def means(self, without: int | None = None) -> FloatArray:
        """The guess of the mean of each level, from the rows of all folds or of all but one."""
        used = [fold for fold in range(N_FOLDS) if fold != without]
        if not self._counts[:, used].any():  # all rows are in one fold
            used = list(range(N_FOLDS))
        given = LevelSums(
            self._counts[:, used].sum(axis=1),
            self._sums[:, :, used].sum(axis=2).T,
            self._squares[:, used].sum(axis=1),
        )
        return shrunken_means(given, self._mean)

    def _by_cell(self, values: FloatArray) -> FloatArray:
        n_levels, n_folds = self._size
        sums = np.bincount(self._cells, values[self._known], minlength=n_levels * n_folds)
        return sums.reshape(self._size).astype(np.float64)
