"""The features of a model as players: rows with some features taken from other rows.

A player is a feature, or the features that one column of a table became. Rows are dense, or CSR
where each feature is a player.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kboost._typing import BoolArray, FloatArray, IntArray

_NUMBERS = 1 << 22  # of rows at a time
_WORK = 1 << 32  # multiplications for all pairs of all players


class Players:
    """The player of each of `n_features` features; `columns` has the features of each player."""

    def __init__(self, n_features: int, columns: Sequence[slice] | None = None) -> None:
        self.count = n_features if columns is None else len(columns)
        self.of_feature = np.arange(n_features)
        for player, features in enumerate(columns or ()):
            self.of_feature[features] = player

    def affordable(self, rows: Any, n_terms: int, bounds: tuple[int, int], part: int = 1) -> int:
        """The number of rows per player for a model of `n_terms` terms, within the bounds."""
        width = rows.nnz / max(1, rows.shape[0]) if sparse.issparse(rows) else rows.shape[1]
        work = max(1, n_terms) * max(1.0, width) ** 2
        return int(np.clip(_WORK / part / work, *bounds))

    def exchanged(self, rows: Any, others: Any) -> Iterator[tuple[IntArray, IntArray, Any]]:
        """Batches of (row, player, the row with the player's features of the other row).

        Only players in which the two rows differ.
        """
        row, player = self._differences(rows, others)
        step = max(1, _NUMBERS // rows.shape[1])
        for start in range(0, len(row), step):
            i, j = row[start : start + step], player[start : start + step]
            if sparse.issparse(rows):
                change = _entries(others - rows, i, j)
                yield i, j, sparse.csr_matrix(rows[i] + change)
            else:
                yield i, j, np.where(self.of_feature == j[:, None], others[i], rows[i])

    def differing(self, row: Any, other: Any) -> IntArray:
        """The players in which two rows (1, d) differ."""
        return self._differences(row, other)[1]

    def between(self, row: Any, walks: Sequence[tuple[Any, IntArray]]) -> Iterator[Any]:
        """Rows on the ways from other rows to `row`, in batches.

        A way is another row (1, d) and an order of players: the first one changes, then the second
        one too, and so on. The ends are not among the rows.
        """
        if sparse.issparse(row):
            yield from (_sparse_walk(row, other, order) for other, order in walks)
            return
        position = np.full((len(walks), self.count), self.count)
        for w, (_, order) in enumerate(walks):
            position[w, order] = np.arange(len(order))
        others = np.concatenate([other for other, _ in walks])
        walk = np.repeat(np.arange(len(walks)), [max(0, len(order) - 1) for _, order in walks])
        steps = np.concatenate([np.arange(1, len(order)) for _, order in walks])
        size = max(1, _NUMBERS // row.shape[1])
        for start in range(0, len(walk), size):
            at = slice(start, start + size)
            changed = position[walk[at]][:, self.of_feature] < steps[at, None]
            yield np.where(changed, row, others[walk[at]])

    def _differences(self, rows: Any, others: Any) -> tuple[IntArray, IntArray]:
        """Row and player of each difference, each once."""
        if sparse.issparse(rows):
            difference = sparse.coo_matrix(rows - others)
            nonzero = difference.data != 0
            return difference.row[nonzero].astype(np.intp), difference.col[nonzero].astype(np.intp)
        differ: BoolArray = np.zeros((rows.shape[0], self.count), dtype=bool)
        row, feature = np.nonzero(rows != others)
        differ[row, self.of_feature[feature]] = True
        at, player = np.nonzero(differ)
        return at, player


def _sparse_walk(row: Any, other: Any, order: IntArray) -> Any:
    steps = np.arange(1, len(order))
    at = np.repeat(steps - 1, steps)
    players = order[np.concatenate([steps[:0], *map(np.arange, steps)])]
    delta = (row - other).toarray()[0]
    change = sparse.csr_matrix((delta[players], (at, players)), shape=(len(steps), row.shape[1]))
    return sparse.csr_matrix(other[np.zeros(len(steps), dtype=np.intp)] + change)


def _entries(matrix: Any, rows: IntArray, columns: IntArray) -> Any:
    """One entry of a CSR matrix in each row."""
    data: FloatArray = np.asarray(matrix[rows, columns]).ravel()
    at = np.arange(len(rows))
    return sparse.csr_matrix((data, (at, columns)), shape=(len(rows), matrix.shape[1]))
