"""Categories with many values: the mean target of each level, shrunk, and how frequent it is.

Level l has n_l rows (sum of weights) with mean m_l; the mean over all rows is m. In the model

    target = m + u_l + error,    var(u_l) = t,  var(error) = s

the moments of the analysis of variance give s and t, and the best guess of the mean of level l is

    m + (m_l - m) n_l t / (n_l t + s)

so rare levels, and all levels of a category without influence, have the mean m. So have levels that
fit did not see. They have one row less than the rarest level: they are rarer than all levels, but
near a known one.

A row must not see its own target: in fit_transform the means of each fifth of the rows are those of
the other four fifths; only m is that of all rows, so that it does not reveal the fifth. Rows are
divided by their content, so equal rows see the same means. Where most levels have rows of a single
content, this would leave nothing; if those rows are repeated, all rows are used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.preparation.fold_sums import FoldSums
from kboost.preparation.levels import codes_in
from kboost.preparation.merging import Hashes, folds_of
from kboost.preparation.target import Target
from kboost.preparation.typed_column import TypedColumn

N_FOLDS = 5


@dataclass(frozen=True)
class MeanEncoding:
    """The mean targets of levels, and log(1 + rows)."""

    levels: list[str]  # sorted
    labels: list[str]  # of the targets
    means: FloatArray  # (levels + 2, targets); then that of unseen levels, that of missing values
    log_count: FloatArray  # (levels + 2,)
    counted: bool = True  # whether log_count is in the output

    @property
    def reads(self) -> str:
        return "strings"

    def names(self, name: str) -> list[str]:
        means = [f"{name}:mean {label}".rstrip() for label in self.labels]
        return means + [f"{name}:log_count"] * self.counted

    @property
    def one_hot(self) -> list[bool]:
        return [False] * (len(self.labels) + self.counted)

    @property
    def table(self) -> FloatArray:
        """The output for each level, for unseen levels and for missing values."""
        return np.column_stack([self.means, self.log_count]) if self.counted else self.means

    def encode(self, column: TypedColumn) -> FloatArray:
        rows: FloatArray = self.table[codes_in(self.levels, column)]
        return rows


def fit_means(
    column: TypedColumn, target: Target | None, weight: FloatArray, *, counted: bool = True
) -> MeanEncoding:
    """The encoding; without a target it has only the frequencies."""
    n = len(column.levels)
    levels = np.where(column.values < 0, n + 1, column.values)
    targets = () if target is None else target.values.T
    labels = [] if target is None else target.labels
    sums = FoldSums(levels, n + 2, np.zeros_like(levels), 1, weight, targets)
    count = sums.of_levels().rows
    return MeanEncoding(list(column.levels), labels, level_means(sums), log_counts(count), counted)


def log_counts(count: FloatArray) -> FloatArray:
    """The log frequencies of levels, then of unseen levels and of missing values."""
    lowest = max(count[:-2].min() - 1.0, 0.0)
    logs: FloatArray = np.log1p(np.maximum(count, lowest))
    return logs


def crossfitted_means(
    column: TypedColumn, hashes: Hashes, order: IntArray, target: Target, weight: FloatArray
) -> FloatArray | None:
    """The means that each row given to fit sees, (n, targets); None if they are those of all rows.

    `target` and `weight` are those of the rows `order`, the ones of positive weight.
    """
    n = len(column.levels)
    levels = np.where(column.values < 0, n, column.values)
    if is_repeated(levels[order], weight, hashes[order]):
        return None
    folds = folds_of(hashes, N_FOLDS)
    sums = FoldSums(levels[order], n + 1, folds[order], N_FOLDS, weight, target.values.T)
    return np.stack([level_means(sums, fold) for fold in range(N_FOLDS)])[folds, levels]


def level_means(sums: FoldSums, without: int | None = None) -> FloatArray:
    """The guess of the mean of each level, (levels, targets); m for levels without rows.

    It is made from the rows of all folds, or of all but one.
    """
    count, all_sums, squares = sums.of_levels(without)
    n_levels, total = len(count), count.sum()
    out = np.empty(all_sums.shape)
    n_seen = int((count > 0).sum())
    size = np.maximum(count, np.finfo(float).tiny)
    for j, (deviation, square) in enumerate(zip(all_sums.T, squares, strict=True)):
        between = float((deviation**2 / size).sum())
        within = max(0.0, float(square) - between)
        error = within / (total - n_seen) if total > n_seen else np.inf
        spread = total - float((count**2).sum()) / total
        signal = (between - (n_seen - 1) * error) / spread if spread > 0 else 0.0
        estimable = (count > 0) & (signal > 0)  # others get the mean of all rows
        part = np.where(estimable, count * max(signal, 0.0), 0.0)
        shrink = np.divide(part, part + error, out=np.zeros(n_levels), where=estimable)
        out[:, j] = sums.mean[j] + shrink * deviation / size
    return out


def is_repeated(levels: IntArray, weight: FloatArray, hashes: Hashes) -> bool:
    """Whether most rows are repeated, and most levels have rows of one content only."""
    _, rows = np.unique(hashes, return_index=True)
    if weight.sum() < 2 * len(rows):
        return False
    contents = np.bincount(levels[rows], minlength=levels.max() + 1)
    return bool(weight[contents[levels] > 1].sum() < weight.sum() / 2)
