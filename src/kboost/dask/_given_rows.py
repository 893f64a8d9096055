"""The partitions of a collection, unchanged: frames or arrays with columns of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from dask.dataframe.dispatch import concat

from kboost._typing import FloatArray, IntArray
from kboost.dask._input import partitions
from kboost.dask._workers import Workers
from kboost.preparation import TablePreparation
from kboost.preparation.all_rows import RowLevels, TrainingEncoder, joined_rows, levels_of


class GivenRows:
    """Rows by number; a partition is a future that the scheduler can compute again."""

    def __init__(self, client: Any, X: Any) -> None:
        self._client, self._parts = client, partitions(client, X)
        sizes = [client.submit(len, part, pure=False) for part in self._parts]
        self._starts = np.cumsum([0, *client.gather(sizes)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    def take(self, rows: IntArray) -> Any:
        """Some rows on the client, by their numbers in ascending order."""
        pieces = [
            self._client.submit(_rows_of, part, inside, pure=False)
            for part, inside in zip(self._parts, self._inside(rows), strict=True)
            if len(inside)
        ]
        return _joined(self._client.gather(pieces))

    def levels(self, preparation: TablePreparation) -> RowLevels:
        """The levels of all rows in the categories that are encoded by means or frequencies."""
        shared = Workers(self._client).scatter(preparation)
        pieces = [
            self._client.submit(levels_of, shared, part, pure=False)
            for part, size in zip(self._parts, np.diff(self._starts), strict=True)
            if size
        ]
        return joined_rows(self._client.gather(pieces))

    def encoded(self, encoder: TrainingEncoder) -> list[Any]:
        """Futures of the partitions as numbers, all rows encoded without their own targets."""
        shared = Workers(self._client).scatter(encoder)
        return [self._client.submit(_encode, part, shared, pure=False) for part in self._parts]

    def prepared(
        self, preparation: TablePreparation, rows: IntArray, columns: IntArray, values: FloatArray
    ) -> list[Any]:
        """Futures of the partitions as numbers, with these values in some rows and columns."""
        shared = Workers(self._client).scatter(preparation)
        ends = np.searchsorted(rows, self._starts)
        pieces = [values[first:last] for first, last in pairwise(ends)]
        return [
            self._client.submit(_prepare, part, shared, inside, columns, piece, pure=False)
            for part, inside, piece in zip(self._parts, self._inside(rows), pieces, strict=True)
        ]

    def _inside(self, rows: IntArray) -> Iterator[IntArray]:
        """The numbers that the rows have in each partition."""
        ends = np.searchsorted(rows, self._starts)
        for first, last, start in zip(ends[:-1], ends[1:], self._starts, strict=False):
            yield rows[first:last] - start


def _joined(pieces: Sequence[Any]) -> Any:
    if hasattr(pieces[0], "iloc"):
        return concat(list(pieces))  # categories are united
    return np.concatenate(pieces)


# On a worker -------------------------------------------------------------------------------------


def _rows_of(part: Any, inside: IntArray) -> Any:
    return part.iloc[inside] if hasattr(part, "iloc") else part[inside]


def _encode(part: Any, encoder: TrainingEncoder) -> FloatArray:
    """A partition as numbers; it may be empty."""
    if not len(part):
        return np.zeros((0, len(encoder.preparation.one_hot_)))
    return encoder.transform(part)


def _prepare(
    part: Any,
    preparation: TablePreparation,
    inside: IntArray,
    columns: IntArray,
    values: FloatArray,
) -> FloatArray:
    """A partition as numbers; it may be empty."""
    if not len(part):
        return np.zeros((0, len(preparation.one_hot_)))
    rows: FloatArray = preparation.transform(part)
    if len(columns):
        rows[np.ix_(inside, columns)] = values
    return rows
