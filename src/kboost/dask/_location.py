"""Where the rows of a table are, for the plan of a sparse kernel machine (plans/sparse.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.dask._candidates import DistributedCandidates
from kboost.dask._cells import fit_cells
from kboost.dask._rows import DistributedRows
from kboost.dask._table import PartitionedTable
from kboost.dask._workers import Workers
from kboost.data.indexed_rows import IndexedRows
from kboost.kernels.base import Kernel
from kboost.local.cell import CellPlan
from kboost.local.cells import CellFit
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows


@dataclass(frozen=True)
class OnWorkers:
    """Rows of a table; kernel columns and cells are computed where they are."""

    X: PartitionedTable

    def candidates(
        self,
        kernels: Sequence[Kernel],
        rows: IndexedRows,
        points: FloatArray | None,
        nugget: Sequence[float],
    ) -> CandidateColumns:
        return DistributedCandidates(
            kernels, self.X, order=rows.order, center_rows=rows.center_rows
        )

    def held_out(self, order: IntArray) -> Any:
        return DistributedRows(self.X)[order]

    def executor(self) -> Executor:
        return Workers(self.X.client)

    def fit_cells(
        self,
        plan: CellPlan,
        rows: LocalRows,
        rng: np.random.Generator,
        deadline: Deadline,
        listeners: Sequence[Listener],
    ) -> CellFit:
        return fit_cells(plan, rows, rng, deadline, listeners)
