"""Cells, compiled: the centres of every cell are viewed once, and a row meets only its own cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.columns.cell_tree import CellTree
from kboost.columns.compiled import Values, ViewTerms, on_viewed_rows
from kboost.kernels.algebra import terms
from kboost.kernels.base import Kernel
from kboost.kernels.rows import as_dense
from kboost.kernels.views import View

_BLOCK = 1 << 21  # kernel values at a time
_ROWS_PER_CELL = 16  # a chunk of rows is large enough for about so many to share a cell


class CompiledCells:
    """`sum_j coef_j [x in the cell of c_j] k(x, c_j)` for dense rows in float64."""

    def __init__(
        self, tree: CellTree, kernel: Kernel, view: View, centers: FloatArray, coef: FloatArray,
        starts: Sequence[int],
    ) -> None:  # fmt: skip
        self.tree, self.view, self.coef = tree, view, coef
        viewed = as_dense(view.apply(centers)).astype(np.float64, copy=False)
        pieces = [on_viewed_rows(term) for term in terms(kernel)]
        self._cells = [
            _values(pieces, viewed[first:last], coef[first:last])
            for first, last in pairwise(starts)
        ]
        self._sizes = np.diff(starts)
        self.width = max(1, len(coef) // (_ROWS_PER_CELL * max(1, len(self._cells))))
        self._nodes = list(
            zip(tree.feature.tolist(), tree.threshold.tolist(), tree.children.tolist(), strict=True)
        )

    def __call__(self, X: FloatArray) -> FloatArray:
        viewed: Any = self.view.apply(X)
        if len(X) == 1:
            return self._sum(self._cell_of(X[0]), viewed)
        out = np.empty((len(X), self.coef.shape[1]))
        for cell, rows in self.tree.rows_by_cell(X):
            step = max(1, _BLOCK // max(1, int(self._sizes[cell])))
            for start in range(0, len(rows), step):
                chunk = rows[start : start + step]
                out[chunk] = self._sum(cell, viewed[chunk])
        return out

    def _cell_of(self, row: FloatArray) -> int:
        """The cell of one row."""
        values = row.tolist()
        feature, threshold, children = self._nodes[0]
        while feature >= 0:
            feature, threshold, children = self._nodes[children[values[feature] > threshold]]
        return int(children[0])

    def _sum(self, cell: int, viewed: FloatArray) -> FloatArray:
        inner = self._cells[cell]
        if not inner:  # no column in this cell
            return np.zeros((len(viewed), self.coef.shape[1]))
        out = inner[0](viewed)
        for values in inner[1:]:
            out = out + values(viewed)
        return out


def _values(pieces: Sequence[Kernel], centers: FloatArray, coef: FloatArray) -> list[Values]:
    """The functions that add up to the values of a cell."""
    of_cell = ViewTerms()
    for kernel in pieces if len(centers) else ():
        of_cell.add(kernel, centers, coef)
    return of_cell.inner()
