"""The pool: kernels times centres as candidate columns `j = p * n_centers + c`, made on demand.

A bank looks at every column before it starts; with many rows that is what nobody can pay. A pool
knows nothing ahead: it computes the columns that are asked for, at the rows that are asked for, in
chunks of rows small enough to stay in the processor's cache. Centres are training rows, so

    <k_p(., c), f_p> = f_p(c)

is a value the model already has at that row: inner products in the RKHS cost nothing more.

X may be a memory map: a `lazy` pool reads and transforms rows chunk by chunk, never all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.solvers.threads import one_blas_thread

_CHUNK = 1 << 17  # numbers computed at a time: 1 MiB


class Pool:
    """Candidate columns over training rows; see the head of this file.

    `order` says which rows of X are the training rows, in the order that counts (all of them as
    they stand by default); `center_rows` which of these the centres are; `points` are the centres
    where these are no rows of X (the numbers of precomputed columns); `numbers` are what they are
    called in the model.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        *,
        order: IntArray | None = None,
        center_rows: IntArray | None = None,
        points: Any | None = None,
        numbers: IntArray | None = None,
        lazy: bool = False,
        n_jobs: int = 1,
    ) -> None:
        self.kernels = tuple(kernels)
        self.n_rows = int(X.shape[0] if order is None else len(order))
        self.center_rows = np.arange(self.n_rows) if center_rows is None else center_rows
        self.n_centers = len(self.center_rows)
        self._numbers = np.arange(self.n_centers) if numbers is None else numbers
        self._X, self._order, self._points, self._n_jobs = X, order, points, n_jobs
        self._families = [KernelFamily(kernel) for kernel in self.kernels]
        pairings = {pairing for kernel in self.kernels for pairing in kernel.pairings}
        self._lazy = lazy
        self._views = {}
        if not lazy:
            rows = X if order is None else X[order]
            rows = rows.astype(np.float64, copy=False)
            self._views = {view: view.apply(rows) for view in {p.view for p in pairings}}

    @property
    def n_columns(self) -> int:
        return len(self.kernels) * self.n_centers

    def kind(self, ids: IntArray) -> IntArray:
        """The kernel of each column."""
        return ids // self.n_centers

    def rows_of(self, ids: IntArray) -> IntArray:
        """The training row at which each column is centred."""
        return self.center_rows[ids % self.n_centers]

    def values(
        self,
        ids: IntArray,
        rows: IntArray | slice | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """The columns `ids` at some training rows (all by default), (n, len(ids)), into `out`."""
        rows = slice(0, self.n_rows) if rows is None else rows
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        out = np.empty((n_rows, len(ids))) if out is None else out
        for p, chosen in self._by_kernel(ids):
            kernel, centers = self.kernels[p], self.points(ids[chosen])
            viewed = {pairing: pairing.view.apply(centers) for pairing in kernel.pairings}
            place: Any = slice(None) if len(chosen) == len(ids) else chosen
            self._fill(out, place, kernel, viewed, rows)
        return out

    def points(self, ids: IntArray) -> Any:
        """The centres of columns, (len(ids), d)."""
        if self._points is not None:
            return self._points[ids % self.n_centers]
        return self.rows(self.rows_of(ids))

    def rows(self, rows: IntArray | slice) -> Any:
        """Training rows as they are."""
        chosen = self._X[rows if self._order is None else self._order[rows]]
        return chosen.astype(np.float64, copy=False)

    def diagonal(self, ids: IntArray) -> FloatArray:
        """`k(c, c)` of each column."""
        out = np.empty(len(ids))
        for p, chosen in self._by_kernel(ids):
            if self._points is None:
                out[chosen] = self.kernels[p].diag(self.points(ids[chosen]))
            else:
                at = self.rows_of(ids[chosen])
                out[chosen] = [self.values(ids[[j]], at[[i]])[0, 0] for i, j in enumerate(chosen)]
        return out

    def hypotheses(self, ids: IntArray) -> list[KernelColumn]:
        """Columns as functions of a row."""
        if not len(ids):
            return []
        points = self.points(ids)
        pairs = [divmod(int(j), self.n_centers) for j in ids]
        return [
            KernelColumn(self._families[p], points[[i]], int(self._numbers[c]))
            for i, (p, c) in enumerate(pairs)
        ]

    def part(self, rows: IntArray) -> Pool:
        """The pool of some rows, in their order; its centres are those among them."""
        if len(rows) == self.n_rows:
            return self
        owner = np.searchsorted(self.center_rows, rows, side="right") - 1
        centers, first = np.unique(owner, return_index=True)
        return Pool(
            self.kernels,
            self._X,
            order=rows if self._order is None else self._order[rows],
            center_rows=first,
            points=None if self._points is None else self._points[centers],
            numbers=self._numbers[centers],
            lazy=self._lazy,
            n_jobs=self._n_jobs,
        )

    def _by_kernel(self, ids: IntArray) -> Iterator[tuple[int, IntArray]]:
        owners = self.kind(ids)
        for p in np.unique(owners):
            yield int(p), np.flatnonzero(owners == p)

    def _fill(
        self,
        out: FloatArray,
        place: Any,
        kernel: Kernel,
        viewed: dict[Pairing, Any],
        rows: IntArray | slice,
    ) -> None:
        """Write one kernel's columns, chunk by chunk of rows."""
        width = max(1, out.shape[1], *(centers.shape[1] for centers in viewed.values()))
        size = max(64, _CHUNK // width)

        def one(start: int) -> None:
            piece = slice(start, min(start + size, len(out)))
            if isinstance(rows, slice):
                chosen: Any = slice(rows.start + piece.start, rows.start + piece.stop)
            else:
                chosen = rows[piece]
            blocks = {
                pairing: pairing.compute_viewed(self._seen(pairing, chosen), centers)
                for pairing, centers in viewed.items()
            }
            out[piece, place] = kernel.from_blocks(blocks)

        starts = range(0, len(out), size)
        if len(starts) == 1:
            one(0)
            return
        # chunks are too small for BLAS to share
        with one_blas_thread(), ThreadPoolExecutor(self._n_jobs) as workers:
            for done in [workers.submit(one, start) for start in starts]:
                done.result()

    def _seen(self, pairing: Pairing, rows: Any) -> Any:
        if self._views:
            return self._views[pairing.view][rows]
        return pairing.view.apply(self.rows(rows))
