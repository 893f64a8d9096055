"""The design matrix F of a joint fit, distributed by partitions of the rows.

`F z` and `F' r` are sums over partitions; only z, r and the products are sent. Blocks are extended
column by column; each is a task on the previous block, so a lost block is recomputed. F is stored
in float64 if that fits the memory of all workers, in float32 if only that fits, and otherwise
computed for each product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.dask._candidates import DistributedCandidates, Groups, kernel_columns


class DistributedDesignMatrix:
    """`F`, (n, size), as in columns/design_matrix.py; `budget` is in bytes per worker.

    Products are always exact: communication with the workers dominates the time.
    """

    is_float32 = False  # there are no rough products

    def __init__(self, candidates: DistributedCandidates, capacity: int, budget: int) -> None:
        self._candidates, self._client = candidates, candidates.table.client
        self.size = 0
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        self._parts = list(
            candidates.table.spread(candidates.order)
        )  # partition, all_positions, numbers inside
        room = budget * max(1, len(self._client.nthreads()))
        n_entries = candidates.n_rows * capacity
        self._dtype = np.float64 if 8 * n_entries <= room else np.float32
        self._stored = self._dtype == np.float64 or 4 * n_entries <= room
        self._blocks: list[Any] = [None] * len(self._parts)
        self._first: FloatArray = np.zeros((0, 0))  # F at the first rows

    def make(self, ids: IntArray) -> None:
        """Append columns of the candidates."""
        self._ids = np.concatenate([self._ids, ids])
        self.size = len(self._ids)
        if self._stored:
            groups = self._candidates.groups(ids)
            self._blocks = self._each(_wider, self._blocks, groups, self._dtype)

    def append(self, values: FloatArray, ids: IntArray) -> None:
        """Append columns of the candidates; the values on the client are not used."""
        self.make(ids)

    def times(self, coef: FloatArray) -> FloatArray:
        """`F coef`, (n, q)."""
        out = np.zeros((self._candidates.n_rows, coef.shape[1]))
        if self.size:
            images = self._client.gather(self._each(_times, self._blocks, self._made(), coef))
            for (_, positions, _), image in zip(self._parts, images, strict=True):
                out[positions] = image
        return out

    def transposed_times(
        self, right: FloatArray, *, after: int = 0, rough: bool = False
    ) -> FloatArray:
        """`F' right` of all but the first `after` columns, (size - after, q)."""
        out = np.zeros((self.size - after, right.shape[1]))
        if not len(out):
            return out
        made = self._made(after)
        pieces = [right[positions] for _, positions, _ in self._parts]
        futures = [
            self._client.submit(_transposed, part, inside, block, made, piece, after, pure=False)
            for (part, _, inside), block, piece in zip(
                self._parts, self._blocks, pieces, strict=True
            )
        ]
        for image in self._client.gather(futures):
            out += image
        return out

    def normal_product(
        self,
        coef: FloatArray,
        change: Callable[[slice, FloatArray], FloatArray],
        *,
        rough: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """`u = F coef` and `F' change(u)`."""
        product = self.times(coef)
        if not self.size:
            return product, np.zeros((0, coef.shape[1]))
        return product, self.transposed_times(change(slice(0, len(product)), product))

    def at(self, rows: IntArray, columns: slice = slice(None)) -> FloatArray:
        """`F` at some rows, or some of its columns."""
        return self._candidates.values(self._ids[columns], rows)

    def first_rows(self, count: int, dtype: Any = np.float64) -> Iterator[tuple[slice, FloatArray]]:
        """The first rows, which are cached on the client."""
        n_cached = self._first.shape[1] if len(self._first) == count else 0
        if n_cached < self.size:
            new = self._candidates.values(self._ids[n_cached:], slice(0, count))
            self._first = np.hstack([self._first, new]) if n_cached else new
        yield slice(0, count), self._first[:, : self.size].astype(dtype, copy=False)

    def _made(self, after: int = 0) -> Groups | None:
        """What the workers need to compute blocks that are not stored."""
        return None if self._stored else self._candidates.groups(self._ids[after:])

    def _each(self, work: Callable[..., Any], blocks: list[Any], *more: Any) -> list[Any]:
        return [
            self._client.submit(work, part, inside, block, *more, pure=False)
            for (part, _, inside), block in zip(self._parts, blocks, strict=True)
        ]


# On a worker ---------------------------------------------------------------------------------


def _wider(
    part: FloatArray, inside: IntArray, block: FloatArray | None, groups: Groups, dtype: Any
) -> FloatArray:
    new = kernel_columns(part, inside, groups).astype(dtype)
    return new if block is None else np.hstack([block, new])


def _here(
    part: FloatArray, inside: IntArray, block: FloatArray | None, made: Groups | None
) -> FloatArray:
    if made is not None:
        return kernel_columns(part, inside, made)
    assert block is not None
    return block.astype(np.float64, copy=False)


def _times(
    part: FloatArray,
    inside: IntArray,
    block: FloatArray | None,
    made: Groups | None,
    coef: FloatArray,
) -> FloatArray:
    image: FloatArray = _here(part, inside, block, made) @ coef
    return image


def _transposed(
    part: FloatArray,
    inside: IntArray,
    block: FloatArray | None,
    made: Groups | None,
    right: FloatArray,
    after: int,
) -> FloatArray:
    new = None if block is None else block[:, after:]
    image: FloatArray = _here(part, inside, new, made).T @ right
    return image
