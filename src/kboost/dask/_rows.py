"""A selection of rows of a distributed table, indexed on the client and stored on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.protocols import Hypothesis
from kboost.core.validation import columns_at
from kboost.dask._table import PartitionedTable, assemble, take
from kboost.kernels.rows import group_rows


class DistributedRows:
    """Rows by index; functions of the rows are computed on the workers that hold them."""

    ndim = 2

    def __init__(self, table: PartitionedTable, order: IntArray | None = None) -> None:
        self.table = table
        self.order = np.arange(table.shape[0]) if order is None else order
        self.shape = (len(self.order), table.shape[1])

    def __getitem__(self, chosen: Any) -> DistributedRows:
        return DistributedRows(self.table, self.order[chosen])

    def values(self) -> FloatArray:
        """The rows on the client; for few rows only."""
        return np.asarray(self.table[self.order], dtype=np.float64)

    def columns_at(self, hypotheses: Sequence[Hypothesis]) -> FloatArray:
        """Values of hypotheses, (n, m)."""
        out = np.empty((len(self.order), len(hypotheses)))
        if len(hypotheses):
            for positions, values in self.table.each(self.order, _columns, list(hypotheses)):
                out[positions] = values
        return out

    def group_rows(self) -> tuple[IntArray, IntArray]:
        """As `kernels.rows.group_rows`, on a worker."""
        groups: tuple[IntArray, IntArray] = self.together(group_rows).result()
        return groups

    def together(self, work: Callable[..., Any], *more: Any) -> Any:
        """A future of `work(rows, *more)` on one worker, to which all rows are sent."""
        all_positions, pieces = self.table.sent(self.order, take, None)
        return self.table.client.submit(_together, work, all_positions, pieces, *more, pure=False)


# On a worker ---------------------------------------------------------------------------------


def _columns(part: FloatArray, inside: IntArray, hypotheses: Sequence[Hypothesis]) -> FloatArray:
    return columns_at(part[inside].astype(np.float64, copy=False), hypotheses)


def _together(
    work: Callable[..., Any], all_positions: list[IntArray], pieces: list[FloatArray], *more: Any
) -> Any:
    return work(assemble(all_positions, pieces), *more)
