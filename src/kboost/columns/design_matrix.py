"""The columns in a model at all training rows, as a matrix F that grows to the right.

Kept whole in float64 where that fits its bytes, in float32 where only that does (or where it is
large and a `single` F is asked for), and else made again from the candidates whenever it is needed.
Products are sums over blocks of rows in float64 in every case: what is rounded to float32 are the
entries of F alone, and the normal equations of the rounded F are as accurate as those of any other
matrix. `rounding` says what that does to the model, and `promote` undoes it.

Rows lie together, and `through` uses a block for F and F' while it is in the cache: one pass where
two would be needed. A `rough` product of a float32 F is
one in float32, block by block; that halves its time, and is for iterations that are restarted from
exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.solvers.threads import one_blas_thread, threads_for

_CACHED = 1 << 17  # numbers of a block that is to stay in the cache: 1 MiB
_ROWS = 512  # of a block at least: sums in float64 and what BLAS prepares are once a block
_MADE = 1 << 21  # numbers of a block that is made: 16 MiB
_LARGE = 1 << 24  # numbers of an F for which float32 pays
_LOOKED_AT = 512  # rows to measure rounding on
_RANGE = 1e-12, 1e12  # of kernel values whose products float32 can hold


class DesignMatrix:
    """`F`, (n, size), with room for `capacity` columns in `budget` bytes.

    Columns that are no kernel columns cannot be `made` again, and are kept.
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
        self._workers = ThreadPoolExecutor(self._n_jobs)
        self.size = 0
        self._ids: IntArray = np.zeros(0, dtype=np.intp)
        cells = candidates.n_rows * capacity
        self._buffer: FloatArray | None = None
        rather_single = single and cells >= _LARGE and _fits_float32(candidates)
        if (8 * cells <= budget and not rather_single) or not made:
            self._buffer = np.empty((candidates.n_rows, capacity))
        elif 4 * cells <= budget and _fits_float32(candidates):
            self._buffer = np.empty((candidates.n_rows, capacity), dtype=np.float32)

    def append(self, values: FloatArray, ids: IntArray) -> None:
        """Columns at all rows; `ids` are theirs in the candidates."""
        place = self._room(values.shape[1])
        if self._buffer is not None:
            self._buffer[:, place] = values
        self._ids = np.concatenate([self._ids, ids])
        self.size = place.stop

    def make(self, ids: IntArray) -> None:
        """Append columns of the candidates, computed where they are to stay."""
        place = self._room(len(ids))
        if self._buffer is not None:
            self._candidates.values(ids, out=self._buffer[:, place])
        self._ids = np.concatenate([self._ids, ids])
        self.size = place.stop

    def stored(self, values: FloatArray) -> FloatArray:
        """The columns as F holds them: rounded, where it rounds."""
        if self._buffer is None or self._buffer.dtype == np.float64:
            return values
        return values.astype(np.float32).astype(np.float64)

    def _room(self, count: int) -> slice:
        """Where so many further columns go."""
        new = self.size + count
        if self._buffer is not None and new > self._buffer.shape[1]:
            wider = np.empty((len(self._buffer), 2 * new), dtype=self._buffer.dtype)
            wider[:, : self.size] = self._buffer[:, : self.size]
            self._buffer = wider
        return slice(self.size, new)

    def times(self, coef: FloatArray) -> FloatArray:
        """`F coef`, (n, q)."""
        out = np.empty((self._candidates.n_rows, coef.shape[1]))
        for rows, block in self._blocks():
            out[rows] = block @ coef
        return out

    def transposed_times(
        self, right: FloatArray, *, after: int = 0, rough: bool = False
    ) -> FloatArray:
        """`F' right`, of the columns after the first few, (size - after, q)."""
        return self._summed(
            right.shape[1], lambda rows, block: _image(block, right[rows]), after=after, rough=rough
        )

    def normal_product(
        self,
        coef: FloatArray,
        change: Callable[[slice, FloatArray], FloatArray],
        *,
        rough: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """`u = F coef` and `F' change(u)`; `change` is given rows and the values of u there."""
        own = np.empty((self._candidates.n_rows, coef.shape[1]))
        rough = rough and self.is_float32
        rounded, unit = _rounded(coef) if rough else (coef, 1.0)

        def work(rows: slice, block: FloatArray) -> FloatArray:
            own[rows] = block @ rounded
            own[rows] *= unit
            return _image(block, change(rows, own[rows]))

        return own, self._summed(coef.shape[1], work, rough=rough)

    def _summed(
        self,
        q: int,
        work: Callable[[slice, FloatArray], FloatArray],
        *,
        after: int = 0,
        rough: bool,
    ) -> FloatArray:
        """The sum of what is made of each block, (size - after, q), in float64."""

        def some(part: slice) -> FloatArray:
            image = np.zeros((self.size - after, q))
            for rows, block in self._blocks(part, after=after, cached=True, rough=rough):
                image += work(rows, block)
            return image

        n, jobs = self._candidates.n_rows, self._n_jobs
        if jobs == 1 or self._buffer is None:  # a candidates has threads of its own
            return some(slice(0, n))
        parts = [slice(n * i // jobs, n * (i + 1) // jobs) for i in range(jobs)]
        with one_blas_thread():  # blocks are too small for BLAS to share
            image: FloatArray = np.sum(list(self._workers.map(some, parts)), axis=0)
        return image

    @property
    def is_float32(self) -> bool:
        """Whether F is kept in float32."""
        return self._buffer is not None and self._buffer.dtype == np.float32

    def rounding(self, coef: FloatArray) -> FloatArray:
        """How far `F coef` is from that of unrounded columns, (q,): root mean squares."""
        if not self.is_float32 or not self.size:
            return np.zeros(coef.shape[1])
        rows = slice(0, min(_LOOKED_AT, self._candidates.n_rows))
        away = (self._candidates.values(self._ids, rows) - self._kept(rows)) @ coef
        return root_mean_square(away)

    def promote(self, *, made: bool = False) -> bool:
        """Make F again in float64 if its bytes allow, or for every product; says whether it did."""
        fits = 8 * self._candidates.n_rows * self._capacity <= self._budget
        if not self.is_float32 or not (fits or made):
            return False
        self._buffer = None
        if fits:
            whole = np.empty((self._candidates.n_rows, max(self._capacity, self.size)))
            self._candidates.values(self._ids, out=whole[:, : self.size])
            self._buffer = whole
        return True

    def at(self, rows: IntArray, columns: slice = slice(None)) -> FloatArray:
        """`F` at some rows, (len(rows), size), or some of its columns there."""
        if self._buffer is None:
            return self._candidates.values(self._ids[columns], rows)
        return self._buffer[:, : self.size][rows, columns].astype(np.float64)

    def first_rows(self, count: int, dtype: Any = np.float64) -> Iterator[tuple[slice, FloatArray]]:
        """The first rows, block by block, in a precision."""
        # few rows: sums of squares in float32 over 1,024 round away pivots that are sound over 256
        step = max(256, _MADE // max(1, self.size))
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count))
            block = (
                self._candidates.values(self._ids, rows)
                if self._buffer is None
                else self._kept(rows)
            )
            yield rows, block.astype(dtype, copy=False)

    def _kept(self, rows: slice, after: int = 0) -> FloatArray:
        assert self._buffer is not None
        return self._buffer[rows, after : self.size]

    def _blocks(
        self,
        part: slice | None = None,
        *,
        after: int = 0,
        cached: bool = False,
        rough: bool = False,
    ) -> Iterator[tuple[slice, FloatArray]]:
        part = slice(0, self._candidates.n_rows) if part is None else part
        n, width = self._candidates.n_rows, max(1, self.size - after)
        whole = self._buffer is not None and self._buffer.dtype == np.float64
        step = n if whole else max(256, _MADE // width)
        if cached and self._buffer is not None:
            step = max(_ROWS, _CACHED * 8 // self._buffer.itemsize // width)
        for start in range(part.start, part.stop, step):
            rows = slice(start, min(start + step, part.stop))
            if self._buffer is None:
                yield rows, self._candidates.values(self._ids[after:], rows)
            elif rough:
                yield rows, self._kept(rows, after)
            else:
                yield rows, self._kept(rows, after).astype(np.float64, copy=False)


def root_mean_square(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """The root mean square of each column; of any finite values."""
    unit = _unit(values)
    found: FloatArray = unit * np.sqrt(np.average((values / unit) ** 2, axis=0, weights=weight))
    return found


def _image(block: FloatArray, right: FloatArray) -> FloatArray:
    """`block' right` in the precision of the block."""
    if block.dtype != np.float32:
        return block.T @ right
    rounded, unit = _rounded(right)
    return unit * (block.T @ rounded)


def _rounded(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """In float32, each column in a unit of its own size: its range is far less than float64's."""
    unit = _unit(values)
    return (values / unit).astype(np.float32), unit


def _unit(values: FloatArray) -> FloatArray:
    unit: FloatArray = np.abs(values).max(axis=0, initial=0.0)
    unit[unit < np.finfo(float).tiny] = 1.0
    return unit


def _fits_float32(candidates: CandidateColumns) -> bool:
    """Whether kernel values, none of which is above the largest diagonal, have room in float32."""
    for start in range(0, candidates.n_columns, _CACHED):
        diagonal = candidates.diagonal(np.arange(start, min(start + _CACHED, candidates.n_columns)))
        if not np.all((diagonal == 0.0) | ((diagonal > _RANGE[0]) & (diagonal < _RANGE[1]))):
            return False
    return True


def design_matrix_for(candidates: CandidateColumns, capacity: int, budget: int) -> Any:
    """The design of a candidates's columns; a candidates whose rows are elsewhere has one of its own."""
    own = getattr(candidates, "design", None)
    return (
        DesignMatrix(candidates, capacity, budget, single=True)
        if own is None
        else own(capacity, budget)
    )
