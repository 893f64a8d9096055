"""The design matrix F: the columns of a model at all training rows, extended column by column.

F is stored in float64 if that fits the byte budget, in float32 if only that fits (or if F is large
and `single` is requested), and otherwise computed from the candidates for each product. A large F
that does not fit as float32 either is stored as far as it does: its first rows, while the others
are computed in float32 for each product, from centres that are prepared once. Products are sums
over blocks of rows in float64 in every case: only the entries of F are rounded to float32, and the
normal equations of the rounded F are as accurate as those of any matrix. `rounding` measures its
effect on the model, and `promote` recomputes F in float64.

F is stored row by row, and `normal_product` uses each block for F and F' while it is in the
processor's cache. A `rough` product of a float32 F is computed in float32; it takes half the time,
and is for iterations that are restarted from exact products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.solvers.threads import one_blas_thread, threads_for

_CACHED = 1 << 17  # numbers in a block that stays in the processor's cache: 1 MiB
_MIN_ROWS = 512  # per block, to amortise the overhead per block of BLAS and of float64 sums
_COMPUTED = 1 << 21  # numbers in a block that is computed: 16 MiB
_LARGE = 1 << 24  # numbers in F above which float32 is faster
SAMPLE_ROWS = 512  # rows on which rounding is measured
_RANGE = 1e-12, 1e12  # of kernel values whose products fit float32

Maker = Callable[[slice, FloatArray], None]


class DesignMatrix:
    """`F`, (n, size), with room for `capacity` columns in `budget` bytes.

    With `made=False` columns cannot be recomputed from the candidates, and F is always stored.
    """

    def __init__(
        self,
        candidates: CandidateColumns,
        capacity: int,
        budget: int,
        *,
        made: bool = True,
        single: bool = False,
    ) -> None:
        self._candidates, self._capacity, self._budget = candidates, capacity, budget
        self._n_jobs = threads_for(candidates.n_rows)
        self._workers = ThreadPool(self._n_jobs)
        self.size = 0
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        n_entries = candidates.n_rows * capacity
        self._buffer: FloatArray | None = None
        prefers_float32 = single and n_entries >= _LARGE and _fits_float32(candidates)
        if (8 * n_entries <= budget and not prefers_float32) or not made:
            self._buffer = np.empty((candidates.n_rows, capacity))
        elif 4 * n_entries <= budget and _fits_float32(candidates):
            self._buffer = np.empty((candidates.n_rows, capacity), dtype=np.float32)
        elif prefers_float32 and 4 * SAMPLE_ROWS * capacity <= budget:
            self._buffer = np.empty((budget // (4 * capacity), capacity), dtype=np.float32)
        self._makers: list[tuple[slice, Maker]] = []  # of columns at rows that are not stored

    def append(self, values: FloatArray, ids: IntArray) -> None:
        """Append columns, given by their values at all rows and their ids in the candidates."""
        new = self._reserve(values.shape[1])
        if self._buffer is not None:
            self._buffer[:, new] = values[: len(self._buffer)]
        self._take(ids, new)

    def make(self, ids: IntArray) -> None:
        """Append columns of the candidates, computed in place."""
        new = self._reserve(len(ids))
        if self._buffer is not None:
            stored = slice(0, len(self._buffer))
            self._candidates.values(ids, stored, out=self._buffer[:, new])
        self._take(ids, new)

    def _take(self, ids: IntArray, new: slice) -> None:
        """Number the columns, and prepare them for the rows that are not stored."""
        self._ids = np.concatenate([self._ids, ids])
        self.size = new.stop
        if self._buffer is not None and len(self._buffer) < self._candidates.n_rows:
            self._makers.append((new, self._candidates.float32_maker(ids)))

    def stored(self, values: FloatArray) -> FloatArray:
        """The columns as F stores them, rounded to float32 if F is."""
        if self._buffer is None or self._buffer.dtype == np.float64:
            return values
        return values.astype(np.float32).astype(np.float64)

    def _reserve(self, count: int) -> slice:
        """Reserve space for `count` further columns."""
        new = self.size + count
        if self._buffer is not None and new > self._buffer.shape[1]:
            wider = np.empty((len(self._buffer), 2 * new), dtype=self._buffer.dtype)
            wider[:, : self.size] = self._buffer[:, : self.size]
            self._buffer = wider
        return slice(self.size, new)

    def times(self, coef: FloatArray) -> FloatArray:
        """`F coef`, (n, q)."""
        out = np.empty((self._candidates.n_rows, coef.shape[1]))
        for rows, block in self._blocks(self._shares(1)[0]):
            out[rows] = block @ coef
        return out

    def transposed_times(
        self, right: FloatArray, *, after: int = 0, rough: bool = False
    ) -> FloatArray:
        """`F' right` of all but the first `after` columns, (size - after, q)."""
        return self._summed(
            right.shape[1],
            lambda rows, block: _transposed_product(block, right[rows]),
            after=after,
            rough=rough,
        )

    def normal_product(
        self,
        coef: FloatArray,
        change: Callable[[slice, FloatArray], FloatArray],
        *,
        rough: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """`u = F coef` and `F' change(u)`; `change` takes rows and the values of u there."""
        product = np.empty((self._candidates.n_rows, coef.shape[1]))
        rough = rough and self.is_float32
        rounded, unit = _rounded(coef) if rough else (coef, 1.0)

        def work(rows: slice, block: FloatArray) -> FloatArray:
            product[rows] = block @ rounded
            product[rows] *= unit
            return _transposed_product(block, change(rows, product[rows]))

        return product, self._summed(coef.shape[1], work, rough=rough)

    def _summed(
        self,
        q: int,
        work: Callable[[slice, FloatArray], FloatArray],
        *,
        after: int = 0,
        rough: bool,
    ) -> FloatArray:
        """The sum of `work` over all blocks, (size - after, q), in float64."""

        def sum_share(share: Sequence[slice]) -> FloatArray:
            total = np.zeros((self.size - after, q))
            for rows, block in self._blocks(share, after=after, cached=True, rough=rough):
                total += work(rows, block)
            return total

        if self._n_jobs == 1 or self._buffer is None:  # candidates use several threads themselves
            return sum_share(self._shares(1)[0])
        shares = self._shares(self._n_jobs)
        with one_blas_thread():  # blocks are too small for several BLAS threads
            total: FloatArray = np.sum(list(self._workers.map(sum_share, shares)), axis=0)
        return total

    def _shares(self, jobs: int) -> list[list[slice]]:
        """The rows for each thread: a part of those that are stored, and of the others."""
        n, stored = self._candidates.n_rows, self._n_stored
        return [
            [
                slice(first + count * i // jobs, first + count * (i + 1) // jobs)
                for first, count in ((0, stored), (stored, n - stored))
            ]
            for i in range(jobs)
        ]

    @property
    def _n_stored(self) -> int:
        return 0 if self._buffer is None else len(self._buffer)

    @property
    def is_float32(self) -> bool:
        """Whether F is stored in float32."""
        return self._buffer is not None and self._buffer.dtype == np.float32

    def rounding(self, coef: FloatArray) -> FloatArray:
        """Root mean square error of `F coef` due to rounding, (q,)."""
        if not self.is_float32 or not self.size:
            return np.zeros(coef.shape[1])
        rows = slice(0, min(SAMPLE_ROWS, self._candidates.n_rows))
        error = (self._candidates.values(self._ids, rows) - self._stored(rows)) @ coef
        return root_mean_square(error)

    def promote(self, *, made: bool = False) -> bool:
        """Recompute F in float64 if that fits; with `made`, else compute it for each product.

        Returns whether anything changed.
        """
        fits = 8 * self._candidates.n_rows * self._capacity <= self._budget
        if not self.is_float32 or not (fits or made):
            return False
        self._buffer, self._makers = None, []
        if fits:
            whole = np.empty((self._candidates.n_rows, max(self._capacity, self.size)))
            self._candidates.values(self._ids, out=whole[:, : self.size])
            self._buffer = whole
        return True

    def at(self, rows: IntArray, columns: slice = slice(None)) -> FloatArray:
        """`F` at some rows, (len(rows), size), or some of its columns."""
        if self._buffer is None:
            return self._candidates.values(self._ids[columns], rows)
        ids, stored = self._ids[columns], rows < self._n_stored
        out = np.empty((len(rows), len(ids)), dtype=self._buffer.dtype)
        out[stored] = self._buffer[:, : self.size][rows[stored], columns]
        if not stored.all():
            computed = np.empty((len(rows) - int(stored.sum()), len(ids)), dtype=out.dtype)
            out[~stored] = self._candidates.values(ids, rows[~stored], out=computed)
        return out.astype(np.float64)

    def first_rows(self, count: int, dtype: Any = np.float64) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of the first rows, in a dtype."""
        # small blocks: sums of squares in float32 over 1,024 rows lose pivots, over 256 they do not
        step = max(256, _COMPUTED // max(1, self.size))
        for start in range(0, count, step):
            yield from self._pieces(slice(start, min(start + step, count)), dtype)

    def _pieces(self, rows: slice, dtype: Any) -> Iterator[tuple[slice, FloatArray]]:
        """The rows that are stored, then the others."""
        end = min(max(rows.start, self._n_stored), rows.stop)
        for piece in (slice(rows.start, end), slice(end, rows.stop)):
            if piece.start < piece.stop:
                yield piece, self._block(piece).astype(dtype, copy=False)

    def _block(self, rows: slice, after: int = 0) -> FloatArray:
        """Rows that are all stored, or all not."""
        if self._buffer is None:
            return self._candidates.values(self._ids[after:], rows)
        return self._stored(rows, after) if rows.stop <= self._n_stored else self._made(rows, after)

    def _made(self, rows: slice, after: int) -> FloatArray:
        """Rows that are not stored, in float32."""
        out = np.empty((rows.stop - rows.start, self.size), dtype=np.float32)
        for columns, write in self._makers:
            if columns.stop > after:
                write(rows, out[:, columns])
        return out[:, after:]

    def _stored(self, rows: slice, after: int = 0) -> FloatArray:
        assert self._buffer is not None
        return self._buffer[rows, after : self.size]

    def _blocks(
        self,
        share: Sequence[slice],
        *,
        after: int = 0,
        cached: bool = False,
        rough: bool = False,
    ) -> Iterator[tuple[slice, FloatArray]]:
        width = max(1, self.size - after)
        for part in share:
            stored = part.stop <= self._n_stored
            step = max(256, _COMPUTED // width)
            if stored and self._buffer is not None and cached:
                step = max(_MIN_ROWS, _CACHED * 8 // self._buffer.itemsize // width)
            elif stored and not self.is_float32:
                step = max(1, part.stop - part.start)
            for start in range(part.start, part.stop, step):
                rows = slice(start, min(start + step, part.stop))
                block = self._block(rows, after)
                yield rows, block if rough else block.astype(np.float64, copy=False)


def root_mean_square(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """The root mean square of each column, without overflow."""
    unit = _unit(values)
    rms: FloatArray = unit * np.sqrt(np.average((values / unit) ** 2, axis=0, weights=weight))
    return rms


def _transposed_product(block: FloatArray, right: FloatArray) -> FloatArray:
    """`block' right` in the precision of the block."""
    if block.dtype != np.float32:
        return block.T @ right
    rounded, unit = _rounded(right)
    return unit * (block.T @ rounded)


def _rounded(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values in float32, each column divided by its largest value to avoid overflow."""
    unit = _unit(values)
    return (values / unit).astype(np.float32), unit


def _unit(values: FloatArray) -> FloatArray:
    unit: FloatArray = np.abs(values).max(axis=0, initial=0.0)
    unit[unit < np.finfo(float).tiny] = 1.0
    return unit


def _fits_float32(candidates: CandidateColumns) -> bool:
    """Whether kernel values, which the diagonal bounds, fit the range of float32."""
    for start in range(0, candidates.n_columns, _CACHED):
        diagonal = candidates.diagonal(np.arange(start, min(start + _CACHED, candidates.n_columns)))
        if not np.all((diagonal == 0.0) | ((diagonal > _RANGE[0]) & (diagonal < _RANGE[1]))):
            return False
    return True


def design_matrix_for(candidates: CandidateColumns, capacity: int, budget: int) -> Any:
    """The design matrix of candidates; distributed candidates make their own."""
    make = getattr(candidates, "design", None)
    if make is not None:
        return make(capacity, budget)
    return DesignMatrix(candidates, capacity, budget, single=True)
