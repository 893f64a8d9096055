"""Blocks of kernel values: all training rows against some of the centres.

All kernels asked for at once are made from shared pairwise blocks (one distance block serves all
Gaussian widths), on features that each view transformed once. The byte budget, whatever the number
of rows: an eighth of it for the blocks at work, `n_jobs` of them at a time however many scans ask;
half of it for blocks that stay, chosen before the first one is made; the rest for the solvers of
the columns handed out. A solver holds a column several times over (HiGHS: by rows and by columns,
scaled and not, in vectors with room to grow); when that outgrows its share, blocks that stayed
make room for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BoundedSemaphore, Lock
from typing import Any, TypeAlias

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cache import BlockCache
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing

_WIDEST = 1024  # centres a block; wide enough for BLAS
COPIES = 32  # of a column in a master and its solver, at most, as measured with HiGHS
_SPARSE = 8  # numbers in a cache line: fewer than one of so many columns are picked, not passed by

Centers: TypeAlias = slice | IntArray
Visit: TypeAlias = Callable[[int, Centers, FloatArray], None]  # (kernel, centres, values (n, m))


class BlockSource:
    """Kernel values in blocks, under a byte budget; blocks of the kernels `keep` may stay."""

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
    ) -> None:
        self._kernels = kernels
        self._X = X
        self._centers = centers
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        self._views = {  # rows and centres as each view shows them
            view: (view.apply(X), view.apply(centers)) for view in {p.view for p in pairings}
        }
        self._n_jobs = n_jobs
        self._slots = BoundedSemaphore(n_jobs)
        at_work = 8 * X.shape[0] * (len(pairings) + len(kernels) + 1) * n_jobs
        self.width = int(np.clip(budget // 8 // max(1, at_work), 1, _WIDEST))
        self._budget = budget
        self._copies = copies
        self._n_handed_out = 0
        self._handing_out = Lock()
        self._cache = BlockCache(budget // 2)
        self._stays = self._choose(keep, budget // 2)

    def visit(self, kernels: Iterable[int], task: Visit) -> None:
        """Call `task` with every block of the kernels, from several threads if there are jobs."""
        kernels = list(kernels)
        if kernels:
            self._run([partial(self._visit, kernels, block, task) for block in self._blocks()])

    def visit_at(self, kernel: int, centers: IntArray, task: Visit) -> None:
        """Call `task` with values of one kernel at some centres; of kept blocks more may come."""
        owners = centers // self.width
        work, rest = [], [centers[:0]]
        for owner in np.unique(owners):
            inside, start = centers[owners == owner], int(owner) * self.width
            values = self._cache.get((kernel, start))
            if values is None:
                rest.append(inside)
            else:
                work.append(partial(_pick, kernel, start, values, inside, task))
        missing = np.concatenate(rest)
        for start in range(0, len(missing), self.width):
            some = missing[start : start + self.width]
            work.append(partial(self._visit_some, kernel, some, task))
        self._run(work)

    def evaluate(self, kernels: Sequence[int], centers: Centers) -> dict[int, FloatArray]:
        """Values of some kernels at some centres, (n, m) each."""
        needed = {pairing for p in kernels for pairing in self._kernels[p].pairings}
        blocks = {pairing: self._pair(pairing, centers) for pairing in needed}
        return {p: self._kernels[p].from_blocks(blocks) for p in kernels}

    def columns(self, kernel: int, centers: IntArray) -> FloatArray:
        """Columns of one kernel, (n, m), Fortran order."""
        out = np.empty((self._X.shape[0], len(centers)), order="F")
        for start in range(0, len(centers), self.width):
            piece = slice(start, start + self.width)
            out[:, piece] = self.evaluate([kernel], centers[piece])[kernel]
        return out

    def hand_out(self, kernel: int, centers: IntArray) -> FloatArray:
        """Columns of one kernel for good; kept blocks give way to what they will take."""
        out = self.columns(kernel, centers)
        with self._handing_out:
            self._n_handed_out += len(centers)
            taken = 8 * self._copies * self._n_handed_out * self._X.shape[0]
            while self._stays and self._cache.bytes_used > 7 * self._budget // 8 - taken:
                self._cache.drop(self._stays.popitem()[0])
        return out

    def _visit(self, kernels: Sequence[int], block: slice, task: Visit) -> None:
        kept = {p: self._cache.get((p, block.start)) for p in kernels}
        made = self.evaluate([p for p in kernels if kept[p] is None], block)
        for p in kernels:
            values = kept[p]
            if values is None:
                values = made.pop(p)
                if (p, block.start) in self._stays:
                    self._cache.offer((p, block.start), values)
            task(p, block, values)

    def _visit_some(self, kernel: int, centers: IntArray, task: Visit) -> None:
        task(kernel, centers, self.evaluate([kernel], centers)[kernel])

    def _run(self, work: Sequence[Callable[[], None]]) -> None:
        """Do all of it, `n_jobs` pieces at a time; what is not begun is dropped on an error."""
        if self._n_jobs == 1 or len(work) <= 1:
            for piece in work:
                self._in_slot(piece)
            return
        pool = ThreadPoolExecutor(min(self._n_jobs, len(work)))
        try:
            for done in [pool.submit(self._in_slot, piece) for piece in work]:
                done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _in_slot(self, piece: Callable[[], None]) -> None:
        with self._slots:
            piece()

    def _blocks(self) -> list[slice]:
        n = self._centers.shape[0]
        return [slice(s, min(s + self.width, n)) for s in range(0, n, self.width)]

    def _choose(self, kernels: Collection[int], budget: int) -> dict[tuple[int, int], None]:
        """The blocks that stay: the first that fit, whichever thread comes first."""
        room = budget // max(1, self._X.shape[0] * self._X.dtype.itemsize)  # columns
        chosen: dict[tuple[int, int], None] = {}
        for block in self._blocks():
            size = block.stop - block.start
            for p in kernels:
                if size <= room:
                    chosen[p, block.start] = None
                    room -= size
        return chosen

    def _pair(self, pairing: Pairing, centers: Centers) -> FloatArray:
        rows, points = self._views[pairing.view]
        return pairing.compute_viewed(rows, points[centers])


def _pick(kernel: int, start: int, values: FloatArray, centers: IntArray, task: Visit) -> None:
    """Some columns of a kept block; all of it where picking them would read as much."""
    width = values.shape[1]
    if _SPARSE * len(centers) < width:
        task(kernel, centers, values[:, centers - start])
    else:
        task(kernel, slice(start, start + width), values)
