"""The candidates: kernels times centres as candidate columns `j = p * n_centers + c`, made on demand.

A library looks at every column before it starts; with many rows that is what nobody can pay. A candidates
knows nothing ahead: it computes the columns that are asked for, at the rows that are asked for, in
chunks of rows small enough to stay in the processor's cache. Centres are training rows, so

    <k_p(., c), f_p> = f_p(c)

is a value the model already has at that row: inner products in the RKHS cost nothing more.

X may be a memory map: a `lazy` candidates reads and transforms rows chunk by chunk, never all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.float32 import AugmentedRows, PreparedCenters, fits_float32, gaussian_gamma
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.views import View
from kboost.solvers.threads import one_blas_thread

_CHUNK = 1 << 17  # numbers computed at a time: 1 MiB
_ROWS = 512  # in float32, at least: BLAS prepares the centres once a chunk


class CandidateColumns:
    """Candidate columns over training rows; see the head of this file.

    `order` says which rows of X are the training rows, in the order that counts (all of them as
    they stand by default); `center_rows` which of these the centres are; `points` are the centres
    where these are no rows of X (the numbers of precomputed columns); `numbers` are what they are
    called in the model. `nugget` is what a penalty adds to squared norms, kernel by kernel: that of
    a matrix which rounding has left with negative ones.
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
        nugget: Sequence[float] = (),
        lazy: bool = False,
        n_jobs: int = 1,
    ) -> None:
        self.kernels = tuple(kernels)
        self.n_rows = int(X.shape[0] if order is None else len(order))
        self.center_rows = np.arange(self.n_rows) if center_rows is None else center_rows
        self.n_centers = len(self.center_rows)
        self._numbers = np.arange(self.n_centers) if numbers is None else numbers
        self._X, self._order, self._points, self._n_jobs = X, order, points, n_jobs
        self._nugget = np.array(nugget or np.zeros(len(self.kernels)))
        self._families = [KernelFamily(kernel) for kernel in self.kernels]
        pairings = {pairing for kernel in self.kernels for pairing in kernel.pairings}
        self._lazy = lazy
        views = {}
        if not lazy:
            rows = X if order is None else X[order]
            rows = rows.astype(np.float64, copy=False)
            views = {view: view.apply(rows) for view in {p.view for p in pairings}}
        self._seen = _Rows(self.rows, views)

    @property
    def n_columns(self) -> int:
        return len(self.kernels) * self.n_centers

    def kernel_of(self, ids: IntArray) -> IntArray:
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
        """The columns `ids` at some training rows (all by default), (n, len(ids)), into `out`.

        An `out` of float32 is computed in it.
        """
        rows = slice(0, self.n_rows) if rows is None else rows
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        out = np.empty((n_rows, len(ids))) if out is None else out
        for p, chosen in self._by_kernel(ids):
            place: Any = slice(None) if len(chosen) == len(ids) else chosen
            self._fill(out, place, _Columns(self.kernels[p], self.points(ids[chosen])), rows)
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

    @property
    def is_single_rkhs(self) -> bool:
        """Whether inner products of columns are just their values: one kernel, nothing added."""
        return len(self.kernels) == 1 and not self._nugget.any()

    def nugget(self, ids: IntArray) -> FloatArray:
        """What a penalty adds to the squared norm of each column."""
        added: FloatArray = self._nugget[self.kernel_of(ids)]
        return added

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

    def subset(self, rows: IntArray) -> CandidateColumns:
        """The candidates of some rows, in their order; its centres are those among them."""
        if len(rows) == self.n_rows:
            return self
        owner = np.searchsorted(self.center_rows, rows, side="right") - 1
        centers, first = np.unique(owner, return_index=True)
        return CandidateColumns(
            self.kernels,
            self._X,
            order=rows if self._order is None else self._order[rows],
            center_rows=first,
            points=None if self._points is None else self._points[centers],
            numbers=self._numbers[centers],
            nugget=tuple(self._nugget),
            lazy=self._lazy,
            n_jobs=self._n_jobs,
        )

    def _by_kernel(self, ids: IntArray) -> Iterator[tuple[int, IntArray]]:
        owners = self.kernel_of(ids)
        for p in np.unique(owners):
            yield int(p), np.flatnonzero(owners == p)

    def _fill(self, out: FloatArray, place: Any, columns: _Columns, rows: IntArray | slice) -> None:
        """Write one kernel's columns, chunk by chunk of rows."""
        single = out.dtype == np.float32
        size = max(64, _CHUNK // max(1, out.shape[1], columns.width))
        if single:  # rows lie ready
            size = max(size, 2 * _CHUNK // max(1, out.shape[1]), _ROWS)
        make = columns.single(self._seen) if single else columns.double

        def one(start: int) -> None:
            piece = slice(start, min(start + size, len(out)))
            if isinstance(rows, slice):
                chosen: Any = slice(rows.start + piece.start, rows.start + piece.stop)
            else:
                chosen = rows[piece]
            out[piece, place] = make(self._seen, chosen)

        starts = range(0, len(out), size)
        if len(starts) == 1:
            one(0)
            return
        # chunks are too small for BLAS to share
        with one_blas_thread(), ThreadPoolExecutor(self._n_jobs) as workers:
            for done in [workers.submit(one, start) for start in starts]:
                done.result()


class _Columns:
    """Columns of one kernel."""

    def __init__(self, kernel: Kernel, centers: Any) -> None:
        self.kernel, self._raw = kernel, centers
        self._gamma = gaussian_gamma(kernel)

    @property
    def width(self) -> int:
        """Features of a row, at most."""
        return max(int(centers.shape[1]) for centers in self._centers.values())

    def double(self, rows: _Rows, chosen: Any) -> FloatArray:
        blocks = {
            p: p.compute_viewed(rows.seen(p, chosen), centers)
            for p, centers in self._centers.items()
        }
        return self.kernel.from_blocks(blocks)

    def single(self, rows: _Rows) -> Callable[[_Rows, Any], FloatArray]:
        """The same in float32 throughout, where that does not overflow.

        What chunks share is made here, before threads ask for it: one shift for rows and centres.
        """
        if not fits_float32(self.kernel):
            return self.double
        longs = {p: None if self._gamma is None else rows.long(p) for p in self.kernel.pairings}
        sides = {
            pairing: PreparedCenters(pairing, self._raw)
            if long is None
            else PreparedCenters(pairing, self._raw, shift=long.shift, features=long.features)
            for pairing, long in longs.items()
        }

        def make(rows: _Rows, chosen: Any) -> FloatArray:
            try:
                blocks = {
                    pairing: self._near(sides[pairing], long, rows, chosen)
                    for pairing, long in longs.items()
                }
                return self.kernel.from_blocks(blocks)
            except ValueError:
                return self.double(rows, chosen)

        return make

    def _near(
        self, side: PreparedCenters, long: AugmentedRows | None, rows: _Rows, chosen: Any
    ) -> FloatArray:
        if long is not None and self._gamma is not None:
            rough = side.near_long(long, self._gamma, chosen)
            if rough is not None:
                return rough
        return side.near_viewed(rows.seen(side.pairing, chosen), self._gamma)

    @cached_property
    def _centers(self) -> dict[Pairing, Any]:
        return {pairing: pairing.view.apply(self._raw) for pairing in self.kernel.pairings}


class _Rows:
    """The training rows as pairings see them, all at hand unless they are read as needed."""

    def __init__(self, read: Callable[[Any], Any], views: dict[View, Any]) -> None:
        self._read, self._views = read, views
        self._long: dict[Pairing, AugmentedRows | None] = {}

    def seen(self, pairing: Pairing, chosen: Any) -> Any:
        if self._views:
            return self._views[pairing.view][chosen]
        return pairing.view.apply(self._read(chosen))

    def long(self, pairing: Pairing) -> AugmentedRows | None:
        """In float32, ready for products, once for all columns."""
        if pairing not in self._long:
            viewed = self._views.get(pairing.view)
            long = None
            if pairing.kind == "sqeuclidean" and isinstance(viewed, np.ndarray):
                long = AugmentedRows(viewed, np.float32, None)
            self._long[pairing] = long
        return self._long[pairing]
