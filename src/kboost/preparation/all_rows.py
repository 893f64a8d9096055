"""Means and frequencies of levels over all rows, where a preparation was fitted to a sample.

A sample has few rows of a rare level, or none. Its mean and frequency (level_means.py) need only
sums, so they can be those of all rows, wherever the rows are: each partition names the level and a
hash of each of its rows. At most 100,000 levels of a category are distinguished, the most frequent
ones; others are taken for unseen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation import reading
from kboost.preparation.categories import means_of
from kboost.preparation.fitting import values_note
from kboost.preparation.fold_sums import FoldSums
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.level_means import (
    N_FOLDS,
    MeanEncoding,
    is_repeated,
    level_means,
    log_counts,
)
from kboost.preparation.levels import codes_in, counts
from kboost.preparation.merging import Hashes, as_repetitions, distinct_rows, folds_of, row_hashes
from kboost.preparation.readable import readable
from kboost.preparation.table_preparation import TablePreparation
from kboost.preparation.target import Target
from kboost.preparation.typed_column import TypedColumn

_LEVELS = 100_000


class RowLevels(NamedTuple):
    """The levels of rows in the categories that are encoded by means or frequencies."""

    columns: Sequence[TypedColumn]
    hashes: Hashes


@dataclass(frozen=True)
class TrainingEncoder:
    """A preparation for the rows that it learned from: a row does not see its own target."""

    preparation: TablePreparation
    means: Mapping[int, FloatArray]  # of some columns: (folds, levels + 2, targets)

    def transform(self, X: Any) -> FloatArray:
        """Encode rows of the table."""
        columns = _read(self.preparation, X)
        out = self.preparation._encode(list(columns.values()))
        folds = folds_of(row_hashes(list(columns.values()), len(out)), N_FOLDS)
        for j, means in self.means.items():
            encoding = self.preparation._encodings[j]
            start, (first, end) = self.preparation.columns_[j].output.start, means_of(encoding)
            codes = codes_in(_means_in(encoding).levels, columns[j])
            out[:, start + first : start + end] = means[folds, codes]
        return out


def counted_columns(preparation: TablePreparation) -> list[int]:
    """The columns that are encoded by means or frequencies of levels."""
    encodings = enumerate(preparation._encodings)
    return [j for j, each in encodings if isinstance(each, MeanEncoding | JoinedEncoding)]


def levels_of(preparation: TablePreparation, X: Any) -> RowLevels:
    """The levels of some rows, with 32 bits each."""
    columns = _read(preparation, X)
    hashes = row_hashes(list(columns.values()), reading.len_of(X)[0])
    counted = [columns[j] for j in counted_columns(preparation)]
    return RowLevels([replace(c, values=c.values.astype(np.int32)) for c in counted], hashes)


def joined_rows(parts: Sequence[RowLevels]) -> RowLevels:
    """The rows of all parts, one after another."""
    columns = [_joined(column) for column in zip(*(part.columns for part in parts), strict=True)]
    return RowLevels(columns, np.concatenate([part.hashes for part in parts]))


def with_all_rows(
    preparation: TablePreparation, rows: RowLevels, y: Any, weight: FloatArray, target: Target
) -> TrainingEncoder:
    """The preparation with the means and frequencies of all rows.

    `target` is that of the sample, whose columns are taken from `y`.
    """
    order = np.flatnonzero(weight > 0)
    hashes, y = rows.hashes[order], np.asarray(y)[order]
    weight = as_repetitions(weight[order], len(distinct_rows(hashes)))
    fitted, encodings, tables = copy(preparation), list(preparation._encodings), {}
    fitted.columns_ = list(preparation.columns_)
    folds = folds_of(hashes, N_FOLDS)
    for j, given in zip(counted_columns(preparation), rows.columns, strict=True):
        column = given.take(order)
        fitted.columns_[j] = replace(fitted.columns_[j], note=values_note(column, weight))
        column = _frequent(column, weight)
        old = _means_in(encodings[j])
        n, told_apart = len(column.levels), column.values < len(column.levels)
        levels = np.where(column.values < 0, n + 1, column.values)
        targets = target.of_rows(y) if old.labels else ()
        sums = FoldSums(np.where(told_apart, levels, -1), n + 2, folds, N_FOLDS, weight, targets)
        count = sums.of_levels().rows
        new = replace(
            old, levels=list(column.levels), means=level_means(sums), log_count=log_counts(count)
        )
        encodings[j] = replace(encodings[j], means=new) if encodings[j] is not old else new
        if new.labels and not is_repeated(levels, weight, hashes):
            tables[j] = np.stack([level_means(sums, fold) for fold in range(N_FOLDS)])
    fitted._encodings = encodings
    return TrainingEncoder(fitted, tables)


def _read(preparation: TablePreparation, X: Any) -> dict[int, TypedColumn]:
    """The columns that are used, as they are encoded."""
    used = [(j, e) for j, e in enumerate(preparation._encodings) if e is not None]
    columns = reading.typed_columns(X, preparation._places(X))
    return {j: readable(c, e) for c, (j, e) in zip(columns, used, strict=True)}


def _means_in(encoding: Any) -> MeanEncoding:
    means: MeanEncoding = encoding.means if isinstance(encoding, JoinedEncoding) else encoding
    return means


def _joined(pieces: Sequence[TypedColumn]) -> TypedColumn:
    levels: list[str] = sorted(set().union(*(piece.levels for piece in pieces)))
    index = {level: i for i, level in enumerate(levels)}
    codes = [
        np.array([*(index[level] for level in piece.levels), -1], dtype=np.int32)[piece.values]
        for piece in pieces
    ]
    return replace(pieces[0], values=np.concatenate(codes), levels=levels)


def _frequent(column: TypedColumn, weight: FloatArray) -> TypedColumn:
    """The column with the most frequent levels only; others have the number after the last."""
    n = len(column.levels)
    if n <= _LEVELS:
        return column
    kept = np.sort(np.argsort(-counts(column, weight)[:n], kind="stable")[:_LEVELS])
    codes = np.full(n + 1, _LEVELS)
    codes[kept], codes[-1] = np.arange(_LEVELS), -1
    return replace(column, values=codes[column.values], levels=[column.levels[i] for i in kept])
