"""The columns in a model at all training rows, as a matrix F that grows to the right.

Kept whole in float64 where that fits its bytes, in float32 where only that does, and else made
again from the pool, block by block of rows, whenever it is needed. Products are sums over blocks
of rows in float64 in every case: what is rounded to float32 are the entries of F alone, and the
normal equations of the rounded F are as accurate as those of any other matrix.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.pool import Pool

_BLOCK = 1 << 22  # numbers converted or made at a time: 32 MiB


class Design:
    """`F`, (n, size), with room for `capacity` columns in `budget` bytes."""

    def __init__(self, pool: Pool, capacity: int, budget: int, *, made: bool = True) -> None:
        self._pool = pool
        self.size = 0
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        cells = pool.n_rows * capacity
        self._buffer: FloatArray | None = None
        if 8 * cells <= budget or not made:  # columns that are no kernel columns cannot be made
            self._buffer = np.empty((pool.n_rows, capacity), order="F")
        elif 4 * cells <= budget:
            self._buffer = np.empty((pool.n_rows, capacity), dtype=np.float32, order="F")

    def append(self, values: FloatArray, ids: IntArray) -> None:
        """Columns at all rows; `ids` are theirs in the pool."""
        new = self.size + values.shape[1]
        if self._buffer is not None:
            if new > self._buffer.shape[1]:
                wider = np.empty((len(values), 2 * new), dtype=self._buffer.dtype, order="F")
                wider[:, : self.size] = self._buffer[:, : self.size]
                self._buffer = wider
            self._buffer[:, self.size : new] = values
        self._ids = np.concatenate([self._ids, ids])
        self.size = new

    def stored(self, values: FloatArray) -> FloatArray:
        """The columns as F holds them: rounded, where it rounds."""
        if self._buffer is None or self._buffer.dtype == np.float64:
            return values
        return values.astype(np.float32).astype(np.float64)

    def times(self, coef: FloatArray) -> FloatArray:
        """`F coef`, (n, q)."""
        out = np.empty((self._pool.n_rows, coef.shape[1]))
        for rows, block in self._blocks():
            out[rows] = block @ coef
        return out

    def transposed_times(self, right: FloatArray) -> FloatArray:
        """`F' right`, (size, q)."""
        out = np.zeros((self.size, right.shape[1]))
        for rows, block in self._blocks():
            out += block.T @ right[rows]
        return out

    def at(self, rows: IntArray) -> FloatArray:
        """`F` at some rows, (len(rows), size)."""
        if self._buffer is None:
            return self._pool.values(self._ids, rows)
        return self._buffer[rows, : self.size].astype(np.float64)

    def _blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        n = self._pool.n_rows
        if self._buffer is not None and self._buffer.dtype == np.float64:
            yield slice(0, n), self._buffer[:, : self.size]
            return
        step = max(256, _BLOCK // max(1, self.size))
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            if self._buffer is None:
                yield rows, self._pool.values(self._ids, rows)
            else:
                yield rows, self._buffer[rows, : self.size].astype(np.float64)
