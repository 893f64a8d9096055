"""Candidate columns, computed on demand: kernel p at centre c is column `j = p * n_centers + c`.

A `KernelLibrary` measures every column in advance, which is too expensive with many rows.
Candidates are computed only for the requested columns and rows, in chunks of rows small enough to
stay in the processor's cache. Centres are training rows, so

    <k_p(., c), f_p> = f_p(c)

is a value of the model at that row, and inner products in the RKHS cost nothing more.

X may be a memory map: with `lazy`, rows are read and transformed chunk by chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.columns.float32 import AugmentedRows, PreparedCenters, fits_float32, gaussian_gamma
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.views import View
from kboost.solvers.threads import one_blas_thread

_CHUNK = 1 << 17  # numbers computed at a time: 1 MiB
_MIN_ROWS = 512  # per chunk in float32, because BLAS packs the centres once per chunk


class CandidateColumns:
    """Candidate columns at training rows; see the module docstring.

    `order` are the indices of the training rows in X, in canonical order (by default all rows);
    `center_rows` are the positions of the centres in `order`; `points` are the centres if they are
    not rows of X (the indices of precomputed columns); `numbers` are the indices of the centres in
    the model. `nugget` is added to the squared norms of each kernel by a penalty, for matrices with
    slightly negative eigenvalues due to rounding.
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
        self._viewed = _Rows(self.rows, views)

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
        """The columns `ids` at some training rows (all by default), (n, len(ids)), in `out`.

        Values for a float32 `out` are computed in float32.
        """
        rows = slice(0, self.n_rows) if rows is None else rows
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
        out = np.empty((n_rows, len(ids))) if out is None else out
        for p, chosen in self._by_kernel(ids):
            target: Any = slice(None) if len(chosen) == len(ids) else chosen
            self._fill(out, target, _Columns(self.kernels[p], self.points(ids[chosen])), rows)
        return out

    def float32_maker(self, ids: IntArray) -> Callable[[slice, FloatArray], None]:
        """A function that writes the columns at a slice of rows to a float32 array, many times.

        Centres are prepared once, here; `values` would do it in every call.
        """
        makers = [
            (chosen, _Columns(self.kernels[p], self.points(ids[chosen])).single(self._viewed))
            for p, chosen in self._by_kernel(ids)
        ]
        whole = len(makers) == 1

        def write(rows: slice, out: FloatArray) -> None:
            for chosen, make in makers:
                out[:, slice(None) if whole else chosen] = make(self._viewed, rows)

        return write

    def points(self, ids: IntArray) -> Any:
        """The centres of columns, (len(ids), d)."""
        if self._points is not None:
            return self._points[ids % self.n_centers]
        return self.rows(self.rows_of(ids))

    def rows(self, rows: IntArray | slice) -> Any:
        """Raw training rows."""
        chosen = self._X[rows if self._order is None else self._order[rows]]
        return chosen.astype(np.float64, copy=False)

    def diagonal(self, ids: IntArray) -> FloatArray:
        """`k(c, c)` of each column."""
        out = np.empty(len(ids))
        for p, chosen in self._by_kernel(ids):
            if self._points is None:
                out[chosen] = self.kernels[p].diag(self.points(ids[chosen]))
            else:
                row = self.rows_of(ids[chosen])
                out[chosen] = [self.values(ids[[j]], row[[i]])[0, 0] for i, j in enumerate(chosen)]
        return out

    @property
    def is_single_rkhs(self) -> bool:
        """Whether inner products of columns are their values: one kernel and no nugget."""
        return len(self.kernels) == 1 and not self._nugget.any()

    def nugget(self, ids: IntArray) -> FloatArray:
        """What a penalty adds to the squared norm of each column, against rounding."""
        added: FloatArray = self._nugget[self.kernel_of(ids)]
        return added

    def hypotheses(self, ids: IntArray) -> list[KernelColumn]:
        """Columns as functions that can be evaluated at new rows."""
        if not len(ids):
            return []
        points = self.points(ids)
        pairs = [divmod(int(j), self.n_centers) for j in ids]
        return [
            KernelColumn(self._families[p], points[[i]], int(self._numbers[c]))
            for i, (p, c) in enumerate(pairs)
        ]

    def subset(self, rows: IntArray) -> CandidateColumns:
        """The candidates restricted to some rows, in their order, and to the centres among them."""
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
        kernel_of = self.kernel_of(ids)
        for p in np.unique(kernel_of):
            yield int(p), np.flatnonzero(kernel_of == p)

    def _fill(
        self, out: FloatArray, target: Any, columns: _Columns, rows: IntArray | slice
    ) -> None:
        """Write the columns of one kernel to `out[:, target]`, in chunks of rows."""
        single = out.dtype == np.float32
        size = max(64, _CHUNK // max(1, out.shape[1], columns.width))
        if single:  # rows are prepared once
            size = max(size, 2 * _CHUNK // max(1, out.shape[1]), _MIN_ROWS)
        make = columns.single(self._viewed) if single else columns.double

        def fill_chunk(start: int) -> None:
            piece = slice(start, min(start + size, len(out)))
            if isinstance(rows, slice):
                chosen: Any = slice(rows.start + piece.start, rows.start + piece.stop)
            else:
                chosen = rows[piece]
            out[piece, target] = make(self._viewed, chosen)

        starts = range(0, len(out), size)
        if len(starts) == 1:
            fill_chunk(0)
            return
        # chunks are too small for several BLAS threads
        with one_blas_thread(), ThreadPool(self._n_jobs) as workers:
            for future in [workers.submit(fill_chunk, start) for start in starts]:
                future.result()


class _Columns:
    """Columns of one kernel."""

    def __init__(self, kernel: Kernel, centers: Any) -> None:
        self.kernel, self._raw = kernel, centers
        self._gamma = gaussian_gamma(kernel)

    @property
    def width(self) -> int:
        """The largest number of features among the views."""
        return max(int(centers.shape[1]) for centers in self._centers.values())

    def double(self, rows: _Rows, chosen: Any) -> FloatArray:
        blocks = {
            p: p.compute_viewed(rows.viewed(p, chosen), centers)
            for p, centers in self._centers.items()
        }
        return self.kernel.from_blocks(blocks)

    def single(self, rows: _Rows) -> Callable[[_Rows, Any], FloatArray]:
        """The same in float32, unless that overflows.

        What chunks share (one shift for rows and centres) is computed here, before threads start.
        """
        if not fits_float32(self.kernel):
            return self.double
        augmented = {
            p: None if self._gamma is None else rows.augmented(p) for p in self.kernel.pairings
        }
        centers = {
            pairing: PreparedCenters(pairing, self._raw)
            if shifted is None
            else PreparedCenters(pairing, self._raw, shift=shifted.shift, features=shifted.features)
            for pairing, shifted in augmented.items()
        }

        def make(rows: _Rows, chosen: Any) -> FloatArray:
            try:
                blocks = {
                    pairing: self._approximate(centers[pairing], shifted, rows, chosen)
                    for pairing, shifted in augmented.items()
                }
                return self.kernel.from_blocks(blocks)
            except ValueError:
                return self.double(rows, chosen)

        return make

    def _approximate(
        self,
        centers: PreparedCenters,
        augmented: AugmentedRows | None,
        rows: _Rows,
        chosen: Any,
    ) -> FloatArray:
        if augmented is not None and self._gamma is not None:
            block = centers.augmented_product(augmented, self._gamma, chosen)
            if block is not None:
                return block
        return centers.approximate_viewed(rows.viewed(centers.pairing, chosen), self._gamma)

    @cached_property
    def _centers(self) -> dict[Pairing, Any]:
        return {pairing: pairing.view.apply(self._raw) for pairing in self.kernel.pairings}


class _Rows:
    """The training rows on each view, transformed in advance or when needed."""

    def __init__(self, read: Callable[[Any], Any], views: dict[View, Any]) -> None:
        self._read, self._views = read, views
        self._augmented: dict[Pairing, AugmentedRows | None] = {}

    def viewed(self, pairing: Pairing, chosen: Any) -> Any:
        if self._views:
            return self._views[pairing.view][chosen]
        return pairing.view.apply(self._read(chosen))

    def augmented(self, pairing: Pairing) -> AugmentedRows | None:
        """The rows in float32, augmented once for all columns; None if that does not apply."""
        if pairing not in self._augmented:
            viewed = self._views.get(pairing.view)
            rows = None
            if pairing.kind == "sqeuclidean" and isinstance(viewed, np.ndarray):
                rows = AugmentedRows(viewed, np.float32, None)
            self._augmented[pairing] = rows
        return self._augmented[pairing]
