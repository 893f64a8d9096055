"""Rows in partitions on workers, indexed from the client.

`table[rows]` and `table[rows, feature]` send only these values to the client; the algorithms use
this for samples, centres and single features (recently used features and the first rows, on which
splits are chosen, are cached). Work on many rows is done on the workers that hold them (`each`,
`sent`). A partition is a future that depends on its task graph, so the scheduler recomputes what is
lost with a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import (
    SAMPLE,
    CellTree,
    SplitCache,
    SplitRNG,
    cells_around,
    descend,
    split_into_cells,
)
from kboost.dask._malloc import with_tuned_malloc
from kboost.data.indexed_rows import row_hashes
from kboost.kernels.rows import narrow
from kboost.kernels.views import View

_BRANCHES = 16  # per thread of the cluster, to balance the load
_KEPT = 16  # features cached at a time, at most
_HELD = 1 << 26  # bytes of cached rows
_MANY = 64  # a feature is fetched completely if one in so many rows is requested


class PartitionedTable:
    """The concatenated rows of all partitions, indexed like an array."""

    ndim = 2

    def __init__(self, client: Any, parts: Sequence[Any], owner: str) -> None:
        """`parts` are futures of arrays or data frames; `owner` is named in error messages."""
        self.client = client
        self._parts = [client.submit(_as_rows, part, owner, pure=False) for part in parts]
        facts = client.gather(
            [client.submit(with_tuned_malloc, _facts, part, pure=False) for part in self._parts]
        )
        # given to short tasks, because the scheduler would send the partition to an idle worker
        self._where = client.who_has(self._parts)
        self._starts = np.cumsum([0, *(n for n, _, _, _ in facts)])
        filled = [fact for fact in facts if fact[0]] or facts
        self.shape = (int(self._starts[-1]), int(filled[0][1]))
        self.dtype = np.result_type(*(fact[2] for fact in filled))
        self._hashes = np.concatenate([hashes for *_, hashes in facts], axis=1)
        self._features: dict[int, FloatArray] = {}  # the last ones, oldest first
        self._held: Any = None  # rows, their positions in `_rows` (-1 for all others)
        self._rows: FloatArray = np.empty((0, self.shape[1]))
        self._known_splits: list[tuple[IntArray, View, SplitCache]] = []
        self._lock = Lock()

    def row_hashes(self, rows: IntArray) -> Any:
        """The hashes of rows, computed on the workers."""
        return self._hashes[:, rows]

    def __getitem__(self, key: Any) -> Any:
        rows, feature = key if isinstance(key, tuple) else (key, None)
        if isinstance(rows, slice):
            rows = np.arange(self.shape[0])[rows]
        rows = np.asarray(rows)
        if feature is None:
            return self._fetch_rows(rows)
        whole = self._whole(feature, len(rows))
        return self._fetch(rows, feature) if whole is None else whole[rows]

    def _fetch_rows(self, rows: IntArray) -> FloatArray:
        """Rows from the cache; only those that are not cached are fetched."""
        if self._held is None:
            return self._fetch(rows, None)
        position = self._held[1][rows]
        out: FloatArray = self._rows[position]
        if len(missing := np.flatnonzero(position < 0)):
            out[missing] = self._fetch(rows[missing], None)
        return out

    def _hold(self, rows: IntArray) -> None:
        """Cache the first of some rows."""
        with self._lock:
            if self._held is not None and self._held[0] is rows:
                return
            room = max(1, _HELD // (self.shape[1] * self.dtype.itemsize))
            first = rows[: min(room, 2 * _BRANCHES * SAMPLE)]
            position = np.full(self.shape[0], -1, dtype=np.int32)
            position[first] = np.arange(len(first))
            self._rows, self._held = self._fetch(first, None), (rows, position)

    def _whole(self, feature: int, n_asked: int) -> FloatArray | None:
        """All values of a feature, if they are cached or many of them are requested."""
        with self._lock:
            values = self._features.pop(feature, None)
        if values is None and _MANY * n_asked >= self.shape[0]:
            futures = [self._submit(take, part, slice(None), feature) for part in self._parts]
            values = np.concatenate(self.client.gather(futures), dtype=self.dtype)
        if values is not None:
            with self._lock:
                self._features[feature] = values
                for oldest in list(self._features)[: -min(_KEPT, max(8, self.shape[1] // 3))]:
                    self._features.pop(oldest)
        return values

    def _fetch(self, rows: IntArray, feature: int | None) -> FloatArray:
        width = () if feature is not None else (self.shape[1],)
        out = np.empty((len(rows), *width), dtype=self.dtype)
        for positions, values in self.each(rows, take, feature):
            out[positions] = values
        return out

    def each(
        self, rows: IntArray, work: Callable[..., Any], *more: Any
    ) -> Iterator[tuple[IntArray, Any]]:
        """`work(partition, its rows, *more)` on the workers: positions in `rows`, and results."""
        all_positions, futures = self.sent(rows, work, *more)
        yield from zip(all_positions, self.client.gather(futures), strict=True)

    def sent(
        self, rows: IntArray, work: Callable[..., Any], *more: Any
    ) -> tuple[list[IntArray], list[Any]]:
        """The same with futures instead of results."""
        all_positions, futures = [], []
        for part, positions, inside in self.spread(rows):
            all_positions.append(positions)
            futures.append(self._submit(work, part, inside, *more))
        return all_positions, futures

    def _submit(self, work: Callable[..., Any], part: Any, *more: Any) -> Any:
        """A future of `work(partition, *more)`; rows are taken on the worker of the partition.

        Taking rows has priority, because another worker may wait for them.
        """
        how: dict[str, Any] = {}
        if work is take and self._where.get(part.key):
            how = {"workers": self._where[part.key], "allow_other_workers": True, "priority": 1}
        return self.client.submit(work, part, *more, pure=False, **how)

    def cells_around(
        self, rows: IntArray, size: int, view: View, anchors: IntArray
    ) -> list[IntArray]:
        """As in columns/cell_tree.py: large branches are split here, their cells on the workers."""
        self._hold(rows)
        splits = self._splits(rows, view)
        large = descend(self, rows, self._large(rows, size), view, anchors, splits)
        cells: dict[int, IntArray] = {}
        insides, futures = [], []
        for inside in {id(branch): branch for branch in large}.values():
            members = np.array([a for a, b in zip(anchors, large, strict=True) if b is inside])
            if len(inside) <= size:
                cells |= dict.fromkeys(members.tolist(), inside)
                continue
            all_positions, pieces = self.sent(inside, take, None)
            members_at = np.flatnonzero(np.isin(inside, members))
            insides.append(inside)
            futures.append(
                self.client.submit(
                    with_tuned_malloc,
                    _around,
                    all_positions,
                    pieces,
                    self.dtype,
                    size,
                    view,
                    members_at,
                    pure=False,
                )
            )
        for inside, below in zip(insides, self.client.gather(futures), strict=True):
            cells |= {int(inside[at]): inside[cell] for at, cell in below}
        return [cells[anchor] for anchor in anchors.tolist()]

    def top(
        self,
        rows: IntArray,
        size: int,
        view: View,
        stream: SplitRNG,
        shared: float,
        on_branch: Callable[[IntArray, SplitRNG], None],
    ) -> CellTree:
        """The tree down to branches that workers split further; `on_branch` is called for each."""
        self._hold(rows)
        splits = None if shared else self._splits(rows, view)  # without an overlap
        large = self._large(rows, size)
        return split_into_cells(self, rows, large, view, stream, splits, on_branch, shared)[0]

    def _large(self, rows: IntArray, size: int) -> int:
        """The largest number of rows of a branch that is sent to one worker."""
        n_threads: int = max(1, sum(self.client.nthreads().values()))
        return max(size, -(-len(rows) // (_BRANCHES * n_threads)))

    def _splits(self, rows: IntArray, view: View) -> SplitCache:
        """The cached splits of a view, which selection and fit share."""
        with self._lock:
            for cached_rows, cached_view, splits in self._known_splits:
                if cached_rows is rows and cached_view == view:
                    return splits
            self._known_splits.append((rows, view, {}))
            return self._known_splits[-1][2]

    def spread(self, rows: IntArray) -> Iterator[tuple[Any, IntArray, IntArray]]:
        """Partitions with some of the rows, their positions in `rows` and in the partition."""
        owner = np.searchsorted(self._starts, rows, side="right") - 1
        owner = owner.astype(np.min_scalar_type(len(self._parts)))  # short numbers sort fast
        order = np.argsort(owner, kind="stable").astype(_short(len(rows)))
        ends = np.cumsum(np.bincount(owner, minlength=len(self._parts)))
        for p, positions in enumerate(np.split(order, ends[:-1])):
            if len(positions):
                inside = rows[positions] - self._starts[p]
                yield self._parts[p], positions, inside.astype(_short(self.shape[0]))


def _short(n: int) -> Any:
    """The integer type in which indices below n are sent."""
    return np.int32 if n < 2**31 else np.int64


def _as_rows(part: Any, owner: str) -> FloatArray:
    """A partition as checked rows; it may be empty."""
    rows: FloatArray = check_array(
        part,
        dtype=[np.float64, np.float32],
        ensure_min_samples=0,
        estimator=owner,
        input_name="X",
    )
    return rows


def _facts(rows: FloatArray) -> tuple[int, int, Any, Any]:
    return (*rows.shape, rows.dtype, row_hashes(rows, np.arange(len(rows))))


def assemble(
    all_positions: Sequence[IntArray], pieces: Sequence[FloatArray], dtype: Any = np.float64
) -> FloatArray:
    """Concatenate pieces of rows in the order of their positions."""
    rows = np.empty((sum(map(len, all_positions)), pieces[0].shape[1]), dtype=dtype)
    for positions, piece in zip(all_positions, pieces, strict=True):
        rows[positions] = piece
    return rows


def _around(
    all_positions: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    size: int,
    view: View,
    here: IntArray,
) -> list[tuple[int, IntArray]]:
    rows = assemble(all_positions, pieces, dtype)
    cells = cells_around(rows, np.arange(len(rows)), size, view, here)
    return list(zip(here.tolist(), cells, strict=True))


def take(rows: FloatArray, inside: Any, feature: int | None) -> Any:
    """Some rows of a partition, or one feature of them, in the smallest exact dtype."""
    values = rows[inside] if feature is None else np.ascontiguousarray(rows[inside, feature])
    return narrow(values, np.int16, np.float32)
