"""Candidate columns at distributed rows, computed on the workers that hold the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.dask._table import PartitionedTable
from kboost.kernels.base import Kernel

Groups = list[tuple[Kernel, IntArray, Any]]  # kernels, positions of their columns, centres


class DistributedCandidates(CandidateColumns):
    """Candidate columns at the rows of a table; see columns/candidates.py."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        table: PartitionedTable,
        *,
        order: IntArray,
        center_rows: IntArray,
        numbers: IntArray | None = None,
    ) -> None:
        super().__init__(
            kernels, table, order=order, center_rows=center_rows, numbers=numbers, lazy=True
        )
        self.table, self.order = table, order

    def values(
        self,
        ids: IntArray,
        rows: IntArray | slice | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        chosen = self.order if rows is None else self.order[rows]
        out = np.empty((len(chosen), len(ids))) if out is None else out
        if len(ids):
            for positions, block in self.table.each(chosen, kernel_columns, self.groups(ids)):
                out[positions] = block
        return out

    def design(self, capacity: int, budget: int) -> Any:
        """The distributed design matrix of a joint fit."""
        from kboost.dask._design_matrix import DistributedDesignMatrix

        return DistributedDesignMatrix(self, capacity, budget)

    def groups(self, ids: IntArray) -> Groups:
        """Kernels, positions in `ids`, and centres."""
        points = self.points(ids)
        return [
            (self.kernels[p], positions, points[positions]) for p, positions in self._by_kernel(ids)
        ]

    def subset(self, rows: IntArray) -> CandidateColumns:
        if len(rows) == self.n_rows:
            return self
        owner = np.searchsorted(self.center_rows, rows, side="right") - 1
        centers, first = np.unique(owner, return_index=True)
        return DistributedCandidates(
            self.kernels,
            self.table,
            order=self.order[rows],
            center_rows=first,
            numbers=self._numbers[centers],
        )


def kernel_columns(part: FloatArray, inside: IntArray, groups: Groups) -> FloatArray:
    """On a worker: columns at some rows of a partition."""
    rows = part[inside].astype(np.float64, copy=False)
    out = np.empty((len(rows), sum(len(positions) for _, positions, _ in groups)))
    for kernel, positions, centers in groups:
        out[:, positions] = kernel(rows, centers)
    return out
