"""Some rows of a table, in an order, as the engines hold them: taken from, never looked at."""

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
    """Rows by number; what is asked of them is computed where they are."""

    ndim = 2

    def __init__(self, table: PartitionedTable, order: IntArray | None = None) -> None:
        self.table = table
        self.order = np.arange(table.shape[0]) if order is None else order
        self.shape = (len(self.order), table.shape[1])

    def __getitem__(self, chosen: Any) -> DistributedRows:
        return DistributedRows(self.table, self.order[chosen])

    def values(self) -> FloatArray:
        """The rows themselves, on the client: for few."""
        return np.asarray(self.table[self.order], dtype=np.float64)

    def columns_at(self, hypotheses: Sequence[Hypothesis]) -> FloatArray:
        """Values of hypotheses, (n, m)."""
        out = np.empty((len(self.order), len(hypotheses)))
        if len(hypotheses):
            for place, values in self.table.each(self.order, _columns, list(hypotheses)):
                out[place] = values
        return out

    def group_rows(self) -> tuple[IntArray, IntArray]:
        """As of an array (kernels/rows.py)."""
        found: tuple[IntArray, IntArray] = self.together(group_rows).result()
        return found

    def together(self, work: Callable[..., Any], *more: Any) -> Any:
        """`work(rows, *more)` on a worker that all of them are brought to; a future."""
        places, pieces = self.table.sent(self.order, take, None)
        return self.table.client.submit(_together, work, places, pieces, *more, pure=False)


# On a worker ---------------------------------------------------------------------------------


def _columns(part: FloatArray, inside: IntArray, hypotheses: Sequence[Hypothesis]) -> FloatArray:
    return columns_at(part[inside].astype(np.float64, copy=False), hypotheses)


def _together(
    work: Callable[..., Any], places: list[IntArray], pieces: list[FloatArray], *more: Any
) -> Any:
    return work(assemble(places, pieces), *more)
