"""Rows that lie in partitions on workers, asked for by number.

`table[rows]` and `table[rows, feature]` bring just these to the client: samples, centres and
single features are all that the algorithms ask for in this way (a feature that many rows were asked
for is kept for a while, a few at a time; so are the first rows, by which cuts are chosen). Work on
many rows goes to where they are (`each`, `sent`). A partition is a future that depends on the graph
it came from, so what is lost with a worker is made again by the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import (
    SAMPLE,
    CellTree,
    Known,
    SplitRNG,
    cells_around,
    descend,
    split_into_cells,
)
from kboost.dask._malloc import in_roomy_heap
from kboost.data.indexed_rows import row_hashes
from kboost.kernels.rows import narrow
from kboost.kernels.views import View

_BRANCHES = 16  # a thread of the cluster, so that none waits long for the last
_KEPT = 16  # features that are at hand at a time, at most
_HELD = 1 << 26  # bytes of rows that are at hand
_MANY = 64  # a feature is brought whole where one in so many rows are asked for


class PartitionedTable:
    """Rows of all partitions, one after the other, as if they were an array."""

    ndim = 2

    def __init__(self, client: Any, parts: Sequence[Any], owner: str) -> None:
        """`parts` are futures of arrays or data frames; `owner` is who refuses bad values."""
        self.client = client
        self._parts = [client.submit(_as_rows, part, owner, pure=False) for part in parts]
        facts = client.gather(
            [client.submit(in_roomy_heap, _facts, part, pure=False) for part in self._parts]
        )
        # said with short tasks: the scheduler would rather send a partition to an idle worker
        self._where = client.who_has(self._parts)
        self._starts = np.cumsum([0, *(n for n, _, _, _ in facts)])
        filled = [fact for fact in facts if fact[0]] or facts
        self.shape = (int(self._starts[-1]), int(filled[0][1]))
        self.dtype = np.result_type(*(fact[2] for fact in filled))
        self._hashes = np.concatenate([hashes for *_, hashes in facts], axis=1)
        self._features: dict[int, FloatArray] = {}  # the last ones, oldest first
        self._held: Any = None  # rows, their places in `_rows` (-1 for all others)
        self._rows: FloatArray = np.empty((0, self.shape[1]))
        self._known_splits: list[tuple[IntArray, View, Known]] = []
        self._lock = Lock()

    def row_hashes(self, rows: IntArray) -> Any:
        """As of an array; they were made where the rows are."""
        return self._hashes[:, rows]

    def __getitem__(self, key: Any) -> Any:
        rows, feature = key if isinstance(key, tuple) else (key, None)
        if isinstance(rows, slice):
            rows = np.arange(self.shape[0])[rows]
        rows = np.asarray(rows)
        if feature is None:
            return self._known(rows)
        whole = self._whole(feature, len(rows))
        return self._bring(rows, feature) if whole is None else whole[rows]

    def _known(self, rows: IntArray) -> FloatArray:
        """Rows, of which only those come that are not at hand."""
        if self._held is None:
            return self._bring(rows, None)
        at = self._held[1][rows]
        out: FloatArray = self._rows[at]
        if len(missing := np.flatnonzero(at < 0)):
            out[missing] = self._bring(rows[missing], None)
        return out

    def _hold(self, rows: IntArray) -> None:
        """Have the first of some rows at hand."""
        with self._lock:
            if self._held is not None and self._held[0] is rows:
                return
            room = max(1, _HELD // (self.shape[1] * self.dtype.itemsize))
            first = rows[: min(room, 2 * _BRANCHES * SAMPLE)]
            place = np.full(self.shape[0], -1, dtype=np.int32)
            place[first] = np.arange(len(first))
            self._rows, self._held = self._bring(first, None), (rows, place)

    def _whole(self, feature: int, n_asked: int) -> FloatArray | None:
        """All of a feature, if it is at hand or worth it."""
        with self._lock:
            kept = self._features.pop(feature, None)
        if kept is None and _MANY * n_asked >= self.shape[0]:
            asked = [self._submit(take, part, slice(None), feature) for part in self._parts]
            kept = np.concatenate(self.client.gather(asked), dtype=self.dtype)
        if kept is not None:
            with self._lock:
                self._features[feature] = kept
                for oldest in list(self._features)[: -min(_KEPT, max(8, self.shape[1] // 3))]:
                    self._features.pop(oldest)
        return kept

    def _bring(self, rows: IntArray, feature: int | None) -> FloatArray:
        width = () if feature is not None else (self.shape[1],)
        out = np.empty((len(rows), *width), dtype=self.dtype)
        for place, values in self.each(rows, take, feature):
            out[place] = values
        return out

    def each(
        self, rows: IntArray, work: Callable[..., Any], *more: Any
    ) -> Iterator[tuple[IntArray, Any]]:
        """`work(partition, its rows, *more)` where the rows are: places in `rows`, results."""
        places, futures = self.sent(rows, work, *more)
        yield from zip(places, self.client.gather(futures), strict=True)

    def sent(
        self, rows: IntArray, work: Callable[..., Any], *more: Any
    ) -> tuple[list[IntArray], list[Any]]:
        """The same as futures, which are not waited for."""
        places, futures = [], []
        for part, place, inside in self.spread(rows):
            places.append(place)
            futures.append(self._submit(work, part, inside, *more))
        return places, futures

    def _submit(self, work: Callable[..., Any], part: Any, *more: Any) -> Any:
        """A future of `work(partition, *more)`; pieces are taken where the partition is.

        They come before what is made of them: another worker may wait for this one.
        """
        how: dict[str, Any] = {}
        if work is take and self._where.get(part.key):
            how = {"workers": self._where[part.key], "allow_other_workers": True, "priority": 1}
        return self.client.submit(work, part, *more, pure=False, **how)

    def cells_around(
        self, rows: IntArray, size: int, view: View, anchors: IntArray
    ) -> list[IntArray]:
        """As of an array (columns/cells.py): large branches from here, cells on the workers."""
        self._hold(rows)
        known = self._splits(rows, view)
        large = descend(self, rows, self._large(rows, size), view, anchors, known)
        cells: dict[int, IntArray] = {}
        insides, futures = [], []
        for inside in {id(found): found for found in large}.values():
            own = np.array([a for a, b in zip(anchors, large, strict=True) if b is inside])
            if len(inside) <= size:
                cells |= dict.fromkeys(own.tolist(), inside)
                continue
            places, pieces = self.sent(inside, take, None)
            here = np.flatnonzero(np.isin(inside, own))
            insides.append(inside)
            futures.append(
                self.client.submit(
                    in_roomy_heap, _around, places, pieces, self.dtype, size, view, here, pure=False
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
        tell: Callable[[IntArray, SplitRNG], None],
    ) -> CellTree:
        """The tree down to branches that workers cut further; `tell` hears of each at once."""
        self._hold(rows)
        known = self._splits(rows, view)
        return split_into_cells(self, rows, self._large(rows, size), view, stream, known, tell)[0]

    def _large(self, rows: IntArray, size: int) -> int:
        """Rows of a branch that goes to one worker, at most."""
        n_threads: int = max(1, sum(self.client.nthreads().values()))
        return max(size, -(-len(rows) // (_BRANCHES * n_threads)))

    def _splits(self, rows: IntArray, view: View) -> Known:
        """What is known of the tree of a view: the choice and the fit share it."""
        with self._lock:
            for known_rows, known_view, known in self._known_splits:
                if known_rows is rows and known_view == view:
                    return known
            self._known_splits.append((rows, view, {}))
            return self._known_splits[-1][2]

    def spread(self, rows: IntArray) -> Iterator[tuple[Any, IntArray, IntArray]]:
        """Partitions that hold some of the rows: places in `rows`, and numbers inside."""
        owner = np.searchsorted(self._starts, rows, side="right") - 1
        owner = owner.astype(np.min_scalar_type(len(self._parts)))  # short numbers sort fast
        order = np.argsort(owner, kind="stable").astype(_short(len(rows)))
        ends = np.cumsum(np.bincount(owner, minlength=len(self._parts)))
        for p, place in enumerate(np.split(order, ends[:-1])):
            if len(place):
                inside = rows[place] - self._starts[p]
                yield self._parts[p], place, inside.astype(_short(self.shape[0]))


def _short(n: int) -> Any:
    """What numbers below n are sent in."""
    return np.int32 if n < 2**31 else np.int64


def _as_rows(part: Any, owner: str) -> FloatArray:
    """A partition as rows that were checked; it may be empty."""
    checked: FloatArray = check_array(
        part,
        dtype=[np.float64, np.float32],
        ensure_min_samples=0,
        estimator=owner,
        input_name="X",
    )
    return checked


def _facts(rows: FloatArray) -> tuple[int, int, Any, Any]:
    return (*rows.shape, rows.dtype, row_hashes(rows, np.arange(len(rows))))


def assemble(
    places: Sequence[IntArray], pieces: Sequence[FloatArray], dtype: Any = np.float64
) -> FloatArray:
    """Rows that came in pieces, in their order."""
    rows = np.empty((sum(map(len, places)), pieces[0].shape[1]), dtype=dtype)
    for place, piece in zip(places, pieces, strict=True):
        rows[place] = piece
    return rows


def _around(
    places: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    size: int,
    view: View,
    here: IntArray,
) -> list[tuple[int, IntArray]]:
    rows = assemble(places, pieces, dtype)
    cells = cells_around(rows, np.arange(len(rows)), size, view, here)
    return list(zip(here.tolist(), cells, strict=True))


def take(rows: FloatArray, inside: Any, feature: int | None) -> Any:
    """Some rows of a partition, or one feature of them, to be sent."""
    found = rows[inside] if feature is None else np.ascontiguousarray(rows[inside, feature])
    return narrow(found, np.int16, np.float32)
