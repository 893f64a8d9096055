"""Blocks of kernel values: all training rows against some of the centres, in bounded memory.

Kernels requested together share pairwise blocks (one distance block for all Gaussian widths), on
features that each view transforms once; they are computed a few rows at a time, so that what is
between rows and values stays in the cache. The byte budget is divided as follows: an eighth for the
blocks being computed, `n_jobs` at a time, however many scans run; half for cached blocks, which are
chosen in advance; the rest for the solvers of the columns that were kept. A solver holds several
copies of a column (HiGHS: by rows and by columns, scaled and unscaled, in vectors with spare
capacity); when these exceed their share, cached blocks are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, TypeAlias

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray, Matrix
from kboost.columns.cache import BlockCache
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.views import View

MAX_WIDTH = 1024  # centres per block; wide enough for BLAS
COPIES = 32  # of a column in a master and its solver, an upper bound measured with HiGHS
AT_ONCE = 1 << 17  # values that are computed together, a megabyte: they stay in the cache
_CACHE_LINE = 8  # numbers; less than this share of a cached block is copied out of it: 1 / 8

Centers: TypeAlias = slice | IntArray
Visit: TypeAlias = Callable[[int, Centers, FloatArray], None]  # (kernel, centres, values (n, m))


class BlockSource:
    """Kernel values in blocks, within a byte budget; blocks of the kernels `keep` may be cached."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        centers: Any,
        budget: int,
        *,
        keep: Collection[int],
        n_jobs: int = 1,
        copies: int = COPIES,
        most: int = MAX_WIDTH,
    ) -> None:
        """Prepare the blocks, with at most `most` centres each."""
        self._kernels = kernels
        self.before_block: Callable[[], None] = lambda: None  # called before each; may raise
        self._X = X
        self._centers = centers
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        self._views = {  # transformed rows and centres of each view
            view: (view.apply(X), view.apply(centers)) for view in {p.view for p in pairings}
        }
        self._n_jobs = n_jobs
        self._slots = BoundedSemaphore(n_jobs)
        per_center = 8 * X.shape[0] * (len(pairings) + len(kernels) + 1) * n_jobs  # bytes
        self.width = int(np.clip(budget // 8 // max(1, per_center), 1, most))
        self._budget = budget
        self._copies = copies
        self._n_kept = 0
        self._keeping = Lock()
        self._cache = BlockCache(budget // 2)
        self._cacheable = self._choose(keep, budget // 2)

    def viewed_rows(self, view: View) -> Matrix:
        """The training rows under a view of one of the kernels."""
        return self._views[view][0]

    def viewed_centers(self, view: View) -> Matrix:
        """The centres under a view of one of the kernels."""
        return self._views[view][1]

    def visit(
        self, kernels: Iterable[int], task: Visit, enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Call `task` with every block of the kernels until `enough`, in `n_jobs` threads."""
        kernels = list(kernels)

        def visit(block: slice) -> None:
            if not enough():
                self._visit(kernels, block, task)

        if kernels:
            self._run([partial(visit, block) for block in self._blocks()])

    def keep_first(self, count: int) -> None:
        """Leave out all centres but the first, `count` of them: whole blocks."""
        self._centers = self._centers[:count]
        self._views = {v: (rows, points[:count]) for v, (rows, points) in self._views.items()}

    def visit_at(self, kernel: int, centers: IntArray, task: Visit) -> None:
        """Call `task` with values of one kernel at some centres, or with whole cached blocks."""
        block_of = centers // self.width
        work, rest = [], [centers[:0]]
        for block in np.unique(block_of):
            inside, start = centers[block_of == block], int(block) * self.width
            values = self._cache.get((kernel, start))
            if values is None:
                rest.append(inside)
            else:
                work.append(partial(_pick, kernel, start, values, inside, task))
        missing = np.concatenate(rest)
        for start in range(0, len(missing), self.width):
            chunk = missing[start : start + self.width]
            work.append(partial(self._visit_uncached, kernel, chunk, task))
        self._run(work)

    def evaluate(self, kernels: Sequence[int], centers: Centers) -> dict[int, FloatArray]:
        """Values of some kernels at some centres, (n, m) each."""
        needed = {pairing for p in kernels for pairing in self._kernels[p].pairings}
        count, n = self._rows_at_once(needed), self._X.shape[0]
        out: dict[int, FloatArray] = {}
        for start in range(0, max(1, n), count):
            rows = slice(start, start + count)
            blocks = {pairing: self._pair(pairing, rows, centers) for pairing in needed}
            for p in kernels:
                values = self._kernels[p].from_blocks(blocks)
                if count >= n:
                    out[p] = values
                    continue
                if start == 0:
                    out[p] = np.empty((n, values.shape[1]), values.dtype)
                out[p][rows] = values
        return out

    def columns(self, kernel: int, centers: IntArray) -> FloatArray:
        """Columns of one kernel, (n, m), Fortran order."""
        out = np.empty((self._X.shape[0], len(centers)), order="F")
        for start in range(0, len(centers), self.width):
            piece = slice(start, start + self.width)
            out[:, piece] = self.evaluate([kernel], centers[piece])[kernel]
        return out

    def kept_columns(self, kernel: int, centers: IntArray) -> FloatArray:
        """Columns that a solver keeps; cached blocks are dropped to make room for its copies."""
        out = self.columns(kernel, centers)
        with self._keeping:
            self._n_kept += len(centers)
            used = 8 * self._copies * self._n_kept * self._X.shape[0]
            while self._cacheable and self._cache.bytes_used > 7 * self._budget // 8 - used:
                self._cache.drop(self._cacheable.popitem()[0])
        return out

    def release(self, count: int) -> None:
        """Count columns as released by a solver that kept them."""
        with self._keeping:
            self._n_kept = max(0, self._n_kept - count)

    def _visit(self, kernels: Sequence[int], block: slice, task: Visit) -> None:
        cached = {p: self._cache.get((p, block.start)) for p in kernels}
        computed = self.evaluate([p for p in kernels if cached[p] is None], block)
        for p in kernels:
            values = cached[p]
            if values is None:
                values = computed.pop(p)
                if (p, block.start) in self._cacheable:
                    self._cache.offer((p, block.start), values)
            task(p, block, values)

    def _visit_uncached(self, kernel: int, centers: IntArray, task: Visit) -> None:
        task(kernel, centers, self.evaluate([kernel], centers)[kernel])

    def _run(self, work: Sequence[Callable[[], None]]) -> None:
        """Run all tasks, `n_jobs` at a time; after an error, pending tasks are cancelled."""
        if self._n_jobs == 1 or len(work) <= 1:
            for piece in work:
                self._in_slot(piece)
            return
        pool = ThreadPool(min(self._n_jobs, len(work)))
        try:
            for future in [pool.submit(self._in_slot, piece) for piece in work]:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _in_slot(self, piece: Callable[[], None]) -> None:
        with self._slots:
            self.before_block()
            piece()

    def _blocks(self) -> list[slice]:
        n = self._centers.shape[0]
        return [slice(s, min(s + self.width, n)) for s in range(0, n, self.width)]

    def _choose(self, kernels: Collection[int], budget: int) -> dict[tuple[int, int], None]:
        """The blocks to cache: the first that fit, independent of the order of threads."""
        room = budget // max(1, self._X.shape[0] * self._X.dtype.itemsize)  # columns
        chosen: dict[tuple[int, int], None] = {}
        for block in self._blocks():
            size = block.stop - block.start
            for p in kernels:
                if size <= room:
                    chosen[p, block.start] = None
                    room -= size
        return chosen

    def _rows_at_once(self, pairings: Collection[Pairing]) -> int:
        """Rows whose values are computed together: all of them for sparse rows and functions."""
        known = all(isinstance(pairing.kind, str) for pairing in pairings)
        if known and isinstance(self._X, np.ndarray) and isinstance(self._centers, np.ndarray):
            return max(1, AT_ONCE // self.width)
        return max(1, int(self._X.shape[0]))

    def _pair(self, pairing: Pairing, rows: slice, centers: Centers) -> FloatArray:
        viewed, points = self._views[pairing.view]
        return pairing.compute_viewed(viewed[rows], points[centers])


def _pick(kernel: int, start: int, values: FloatArray, centers: IntArray, task: Visit) -> None:
    """Some columns of a cached block, or all of it if selecting them would read as much memory."""
    width = values.shape[1]
    if _CACHE_LINE * len(centers) < width:
        task(kernel, centers, values[:, centers - start])
    else:
        task(kernel, slice(start, start + width), values)
