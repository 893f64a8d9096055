"""Prepared rows on the workers, for the search of a kernel and the fit of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.dask._location import OnWorkers
from kboost.dask._table import PartitionedTable

_REFERENCE = 50_000  # rows on which transforms are fitted
_ENTRIES = 1 << 23  # numbers in them


class PreparedTable(PartitionedTable):
    """A table that the search reads in an order of its own (auto/learning_rows.py)."""

    def location(self) -> OnWorkers:
        """Where the members of the model are fitted."""
        return OnWorkers(self)

    def in_order(self, order: IntArray) -> OrderedRows:
        """The rows of these numbers, which stay on the workers."""
        return OrderedRows(self, order)


class OrderedRows:
    """Rows of a table in some order, sent to the client as they are indexed."""

    ndim = 2

    def __init__(self, table: PartitionedTable, order: IntArray) -> None:
        self._table, self._order = table, order
        self.shape = (len(order), table.shape[1])

    def __len__(self) -> int:
        return len(self._order)

    @property
    def n_reference(self) -> int:
        """The number of rows in the sample on which transforms are fitted."""
        return min(len(self), _REFERENCE, max(1, _ENTRIES // max(1, self.shape[1])))

    def __getitem__(self, key: Any) -> FloatArray:
        rows, feature = key if isinstance(key, tuple) else (key, None)
        return np.asarray(self._table[self._order[rows], feature], dtype=np.float64)
