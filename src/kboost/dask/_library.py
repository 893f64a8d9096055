"""A library distributed by rows: each partition prices all columns on its rows.

    edge_j = sum_i weights_i h_j(x_i) = sum over partitions of the same sum over their rows

A worker holds the rows of its partitions and all centres; it computes and caches the kernel values
at its rows, within the memory budget. Edges (one number per column) and the chosen columns are sent
to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.hypothesis import KernelColumn, KernelFamily
from kboost.columns.library import KernelLibrary
from kboost.columns.scaling import Scaling, column_scales
from kboost.dask._rows import DistributedRows
from kboost.kernels.base import Kernel


class DistributedLibrary:
    """All columns, in the order of columns/library.py."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        rows: DistributedRows,
        *,
        centers: DistributedRows,
        center_of_row: IntArray,
        sample_weight: FloatArray,
        scaling: Scaling,
        memory_budget: int,
        copies: int,
        before_block: Callable[[], None],
    ) -> None:
        self.kernels, self.sample_weight = tuple(kernels), sample_weight
        self.n_rows, self.n_centers = rows.shape[0], centers.shape[0]
        self.centers = np.zeros((0, rows.shape[1]))  # centres of the model are fetched by index
        self._points, self._center_of_row = centers, center_of_row
        self._families = [KernelFamily(kernel) for kernel in self.kernels]
        self._client = rows.table.client
        self._check = before_block
        points = centers.together(_identity)
        parts = list(rows.table.spread(rows.order))
        self._positions = [positions for _, positions, _ in parts]
        self._libraries = [
            self._client.submit(
                _partition_library,
                part,
                inside,
                points,
                self.kernels,
                sample_weight[positions],
                memory_budget // len(parts),
                copies,
                pure=False,
            )
            for part, positions, inside in parts
        ]
        rms, peak, self.is_nonnegative = self._sizes()
        self.scales = column_scales(scaling, rms, peak)
        self.rms = rms / self.scales

    @property
    def n_columns(self) -> int:
        return len(self.kernels) * self.n_centers

    @property
    def strata(self) -> list[slice]:
        n = self.n_centers
        return [slice(p * n, (p + 1) * n) for p in range(len(self.kernels))]

    def centered_at(self, rows: BoolArray) -> BoolArray | None:
        chosen = np.zeros(self.n_centers, dtype=bool)
        chosen[self._center_of_row[rows]] = True
        return np.tile(chosen, len(self.kernels))

    def edges(self, weights: FloatArray, ids: IntArray | None = None) -> FloatArray:
        self._check()
        futures = [
            self._client.submit(_edges, library, weights[positions], ids, pure=False)
            for library, positions in zip(self._libraries, self._positions, strict=True)
        ]
        scales = self.scales if ids is None else self.scales[ids]
        edges: FloatArray = np.sum(self._client.gather(futures), axis=0) / scales
        return edges

    def values(self, ids: IntArray, *, keep: bool = True) -> FloatArray:
        out = np.empty((self.n_rows, len(ids)), order="F")
        if len(ids):
            futures = [
                self._client.submit(_values, library, ids, keep, pure=False)
                for library in self._libraries
            ]
            for positions, block in zip(self._positions, self._client.gather(futures), strict=True):
                out[positions] = block
        out /= self.scales[ids]
        return out

    def hypotheses(self, ids: IntArray) -> list[KernelColumn]:
        if not len(ids):
            return []
        points = self._points[ids % self.n_centers].values()
        return [
            KernelColumn(self._families[j // self.n_centers], points[[i]], j % self.n_centers, s)
            for i, (j, s) in enumerate(zip(ids.tolist(), self.scales[ids].tolist(), strict=True))
        ]

    def _sizes(self) -> tuple[FloatArray, FloatArray, bool]:
        """Root mean square and largest absolute value of every column; whether none is negative."""
        measures = self._client.gather(
            [self._client.submit(_measures, library, pure=False) for library in self._libraries]
        )
        share = [self.sample_weight[positions].sum() for positions in self._positions]
        squares = np.average([rms**2 for rms, _, _ in measures], axis=0, weights=share)
        peak: FloatArray = np.max([peak for _, peak, _ in measures], axis=0)
        return np.sqrt(squares), peak, all(sign for *_, sign in measures)


# On a worker ---------------------------------------------------------------------------------


def _identity(rows: FloatArray) -> FloatArray:
    return rows


class PartitionLibrary:
    """The library of a partition; it is recomputed if moved to another worker."""

    def __init__(self, rows: FloatArray, *made_of: Any) -> None:
        self._rows, self._made_of = rows, made_of
        self._made: KernelLibrary | None = None

    @property
    def library(self) -> KernelLibrary:
        if self._made is None:
            centers, kernels, weight, budget, copies = self._made_of
            self._made = KernelLibrary(
                kernels,
                self._rows,
                centers=centers,
                sample_weight=weight,
                memory_budget=budget,
                copies=copies,
            )
        return self._made

    def __reduce__(self) -> Any:
        return PartitionLibrary, (self._rows, *self._made_of)

    def __sizeof__(self) -> int:
        """Including the kernel values, so that the scheduler avoids moving it."""
        centers, kernels, *_ = self._made_of
        return 8 * len(self._rows) * len(centers) * len(kernels)


def _partition_library(part: FloatArray, inside: IntArray, *made_of: Any) -> PartitionLibrary:
    return PartitionLibrary(part[inside].astype(np.float64, copy=False), *made_of)


def _measures(part: PartitionLibrary) -> tuple[FloatArray, FloatArray, bool]:
    library = part.library
    return library.rms, library.peak, library.is_nonnegative


def _edges(part: PartitionLibrary, weights: FloatArray, ids: IntArray | None) -> FloatArray:
    return part.library.edges(weights, ids)


def _values(part: PartitionLibrary, ids: IntArray, keep: bool) -> FloatArray:
    return part.library.values(ids, keep=keep)
