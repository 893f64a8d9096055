"""The library of columns: kernel p at centre c is column `j = p * n_centers + c`.

Column j at row i is `k_p(x_i, c) / s_j` (see scaling.py). The matrix of all columns is never
stored: a scan iterates over blocks (see blocks.py), and edges of kernels that fold (linear,
quadratic) need no columns:

    edge_j = sum_i weights_i k(x_i, c_j)   is the expansion folded over the rows, at the centres.

Each kernel is a stratum, in the given order. Only requested columns are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.blocks import AT_ONCE, COPIES, MAX_WIDTH, BlockSource, Centers
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.columns.scaling import Scaling, column_scales
from kboost.kernels.base import Kernel
from kboost.kernels.folding import Folded, fold, fold_viewed
from kboost.kernels.rows import dense_if_small

DEFAULT_BUDGET = 1 << 30  # bytes
_SQUARABLE = 1e100  # and its inverse: squares of these stay in the range of the numbers


class KernelLibrary:
    """All columns for one set of training rows; see the module docstring.

    `center_of_row` is the centre of each training row, if centres are given; `measured_on` are the
    rows and weights on which columns are scaled, if not the training rows; `copies` is how many
    copies of a column that a master and its solver hold, which count against the memory budget.

    `before_block` is called before each block of a scan, and may raise. Columns are measured centre
    by centre until `enough`; the centres from there on are left out of the library. A block has at
    most `block_width` centres.
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        *,
        centers: Any | None = None,
        center_of_row: IntArray | None = None,
        measured_on: tuple[Any, FloatArray] | None = None,
        sample_weight: FloatArray | None = None,
        scaling: Scaling = None,
        memory_budget: int = DEFAULT_BUDGET,
        n_jobs: int = 1,
        copies: int = COPIES,
        before_block: Callable[[], None] = lambda: None,
        enough: Callable[[], bool] = lambda: False,
        block_width: int = MAX_WIDTH,
    ) -> None:
        self.kernels = tuple(kernels)
        self.centers = X if centers is None else centers
        self.n_rows, self.n_centers = int(X.shape[0]), int(self.centers.shape[0])
        self.sample_weight = np.ones(self.n_rows) if sample_weight is None else sample_weight
        self._X, self._points = self._evaluated(X), self._evaluated(self.centers)
        self._center_of_row = np.arange(self.n_rows) if centers is None else center_of_row
        self._single: dict[int, Any] = {}  # centres cut out so far
        self._families = [KernelFamily(kernel) for kernel in self.kernels]
        zeros = np.zeros(self.n_rows)
        self._unfolded = [
            p
            for p, kernel in enumerate(self.kernels)
            if fold(kernel, self._X, zeros, only_if_cheaper=True) is None
        ]
        self._foldable = [p for p in range(len(self.kernels)) if p not in self._unfolded]
        self._source = BlockSource(
            self.kernels,
            self._X,
            self._points,
            memory_budget,
            keep=self._unfolded,
            n_jobs=n_jobs,
            copies=copies,
            most=block_width,
        )
        self.is_nonnegative = True  # until a negative value is found
        if measured_on is None:
            rms, peak = self._sizes(self._source, self.sample_weight, enough)
        else:
            rows, weight = measured_on
            rows = self._evaluated(rows)
            source = BlockSource(
                self.kernels,
                rows,
                self._points,
                memory_budget,
                keep=(),
                n_jobs=n_jobs,
                most=block_width,
            )
            rms, peak = self._sizes(source, weight, enough)
        self._source.before_block = before_block
        self.peak = peak  # largest absolute value of each unscaled column
        self.scales = column_scales(scaling, rms, peak)  # divisor of each column
        self.rms = rms / self.scales  # of each scaled column; 0 for a zero column

    @property
    def n_columns(self) -> int:
        return len(self.kernels) * self.n_centers

    @property
    def strata(self) -> list[slice]:
        """The columns of each kernel, in order of priority."""
        n = self.n_centers
        return [slice(p * n, (p + 1) * n) for p in range(len(self.kernels))]

    def centered_at(self, rows: BoolArray) -> BoolArray | None:
        """Whether each column is centred at one of the rows, (n_columns,); None if unknown."""
        if self._center_of_row is None:
            return None
        chosen = np.zeros(self.n_centers, dtype=bool)
        at = self._center_of_row[rows]
        chosen[at[at >= 0]] = True
        return np.tile(chosen, len(self.kernels))

    def by_kernel(self, ids: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Yield each kernel in `ids` and its positions there."""
        kernel_of = ids // self.n_centers
        for p in np.unique(kernel_of):
            yield int(p), np.flatnonzero(kernel_of == p)

    def edges(self, weights: FloatArray, ids: IntArray | None = None) -> FloatArray:
        """`h_j' weights` of every column, (n_columns,), or of the columns `ids`, (len(ids),)."""
        if ids is None:
            return self._all_edges(weights) / self.scales
        out = np.empty(len(ids))
        for p, chosen in self.by_kernel(ids):
            out[chosen] = self._edges_at(p, ids[chosen] % self.n_centers, weights)
        return out / self.scales[ids]

    def _all_edges(self, weights: FloatArray) -> FloatArray:
        out = np.empty((len(self.kernels), self.n_centers))
        for p in self._foldable:
            out[p] = self._folded(p, weights).at(self._source.viewed_centers)

        def correlate(p: int, block: Centers, values: FloatArray) -> None:
            out[p, block] = values.T @ weights

        self._source.visit(self._unfolded, correlate)
        return out.ravel()

    def _edges_at(self, p: int, centers: IntArray, weights: FloatArray) -> FloatArray:
        """Unscaled edges of one kernel at the given centres."""
        if p in self._foldable:
            return self._folded(p, weights)(self._points[centers])
        edges = np.empty(self.n_centers)

        def correlate(_: int, block: Centers, values: FloatArray) -> None:
            edges[block] = values.T @ weights

        self._source.visit_at(p, centers, correlate)
        return edges[centers]

    def _evaluated(self, X: Any) -> Any:
        """Rows in the form that is fastest to evaluate; a user's function gets them unchanged."""
        kinds = {pairing.kind for kernel in self.kernels for pairing in kernel.pairings}
        return dense_if_small(X) if all(isinstance(kind, str) for kind in kinds) else X

    def _folded(self, p: int, weights: FloatArray) -> Folded:
        """The expansion of a kernel that can be folded."""
        viewed = self._source.viewed_rows
        folded = fold_viewed(self.kernels[p], self._X.shape[1], viewed, weights)
        assert folded is not None
        return folded

    def values(self, ids: IntArray, *, keep: bool = True) -> FloatArray:
        """Columns at the training rows, (n, len(ids)), Fortran order.

        With `keep` the caller keeps them, which counts against the memory budget.
        """
        out = np.empty((self.n_rows, len(ids)), order="F")
        make = self._source.kept_columns if keep else self._source.columns
        for p, chosen in self.by_kernel(ids):
            out[:, chosen] = make(p, ids[chosen] % self.n_centers)
        out /= self.scales[ids]
        return out

    def release(self, count: int) -> None:
        """Count columns as released that were kept."""
        self._source.release(count)

    def hypotheses(self, ids: IntArray) -> list[KernelColumn]:
        """Columns as functions that can be evaluated at new rows."""
        pairs = [divmod(int(j), self.n_centers) for j in ids]
        return [
            KernelColumn(self._families[p], self._center(c), c, float(scale))
            for (p, c), scale in zip(pairs, self.scales[ids], strict=True)
        ]

    def _center(self, c: int) -> Any:
        """One centre, (1, d); extracted once for the columns of all kernels and outputs."""
        if c not in self._single:
            self._single[c] = self.centers[[c]]
        return self._single[c]

    def _keep_first(self, count: int) -> None:
        """Leave out all centres but the first, `count` of them."""
        self.centers, self.n_centers = self.centers[:count], count
        self._points = self._points[:count]
        self._source.keep_first(count)
        if (at := self._center_of_row) is not None:
            self._center_of_row = np.where(at < count, at, -1)

    def _sizes(
        self, source: BlockSource, weight: FloatArray, enough: Callable[[], bool]
    ) -> tuple[FloatArray, FloatArray]:
        """Root mean square and largest absolute value of every unscaled column, in one pass."""
        rms, peak = np.empty((2, len(self.kernels), self.n_centers))
        measured = np.zeros(self.n_centers + 1, dtype=bool)  # the last one never is
        share = weight / weight.sum()

        def measure(p: int, block: Centers, values: FloatArray) -> None:
            least, top, root = measured_columns(values, share)
            if (least < 0).any():  # set by several threads, never reset
                self.is_nonnegative = False
            measured[block], peak[p, block], rms[p, block] = True, top, root

        source.visit(range(len(self.kernels)), measure, enough)
        count = int(np.argmin(measured))  # the first that is not
        if self.kernels and count < self.n_centers:
            self._keep_first(count)
        return rms[:, : self.n_centers].ravel(), peak[:, : self.n_centers].ravel()


def measured_columns(
    values: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least value, largest absolute value and root mean square of each column of (n, m).

    Rows are taken a few at a time, so that they stay in the cache. Where squares might leave the
    range of the numbers, columns are divided by their largest value first.
    """
    n, m = values.shape
    step = max(1, AT_ONCE // max(1, m))
    least, top, mean = np.full(m, np.inf), np.full(m, -np.inf), np.zeros(m)
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, n, step):
            piece = values[start : start + step]
            np.minimum(least, piece.min(axis=0), out=least)
            np.maximum(top, piece.max(axis=0), out=top)
            mean += share[start : start + step] @ (piece * piece)
    top = np.maximum(top, -least)
    far = (top > 0) & ((top < 1 / _SQUARABLE) | (top > _SQUARABLE))
    if far.any():
        ratio = values[:, far] / top[far]
        mean[far] = share @ (ratio * ratio)
    return least, top, np.where(far, top, 1.0) * np.sqrt(mean)
