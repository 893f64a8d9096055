"""Columns in cells: kernel columns that are 0 outside their cell.

    h(x) = [x in cell] k(x, c),   c a row of that cell

How space is cut into cells: cell_tree.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.columns.cell_tree import CellTree
from kboost.columns.compiled import only_view
from kboost.columns.compiled_cells import CompiledCells
from kboost.columns.float32 import PreparedCenters, fits_float32, gaussian_gamma
from kboost.columns.terms import Term, features_of
from kboost.kernels.algebra import terms
from kboost.kernels.base import Kernel, check_finite
from kboost.kernels.pairings import Pairing
from kboost.kernels.rows import narrow
from kboost.kernels.stationary import Gaussian

_BLOCK = 1 << 22  # kernel values at a time


class CellPart:
    """`sum_j coef_j [x in the cell of c_j] k(x, c_j)`; centres are ordered by cell.

    Centres are most of a model, so they are stored in float32 if that is exact.
    """

    dtype: Any = np.float64  # of the kernel values

    def __init__(
        self, kernel: Kernel, tree: CellTree, centers: Sequence[Any], coef: Sequence[FloatArray]
    ) -> None:
        self.kernel, self.tree = kernel, tree
        self.centers = narrow(np.concatenate(centers))  # (m, d)
        self.coef = np.concatenate(coef)  # (m, n_outputs)
        self.starts = np.cumsum([0, *map(len, centers)])  # (n_cells + 1,)

    width = 1  # chunks of a prediction need not be small: blocks are computed per cell

    def __call__(self, X: Any) -> FloatArray:
        out = np.zeros((X.shape[0], self.coef.shape[1]))
        for cell, rows in self.tree.rows_by_cell(X):
            first, last = self.starts[cell : cell + 2]
            step = max(1, _BLOCK // max(1, last - first))
            centers = self.centers[first:last].astype(np.float64)
            for start in range(0, len(rows) if last > first else 0, step):
                chunk = rows[start : start + step]
                block = kernel_block(self.kernel, X[chunk], centers, self.dtype)
                out[chunk] = block @ self.coef[first:last].astype(self.dtype)
        return out

    def compiled(self) -> CompiledCells | CellPart:
        """The same part for dense rows; itself if its kernel needs raw rows."""
        view = only_view(self.kernel)
        if view is None:
            return self
        centers = self.centers.astype(np.float64)
        starts = self.starts.tolist()
        return CompiledCells(self.tree, self.kernel, view, centers, self.coef, starts)

    def terms_at(self, X: Any) -> Iterator[Term]:
        """The columns at the rows of X, to explain predictions; 0 outside their cells."""
        cell_of_row = self.tree.assign(X)
        for term in terms(self.kernel):
            values = np.zeros((X.shape[0], len(self.coef)))
            for cell in np.unique(cell_of_row).tolist():
                rows, columns = cell_of_row == cell, slice(*self.starts[cell : cell + 2])
                if columns.start < columns.stop:
                    centers = self.centers[columns].astype(np.float64)
                    values[rows, columns] = kernel_block(term, X[rows], centers, np.float64)
            yield Term(features_of(term), values)

    @staticmethod
    def joined(kernel: Kernel, tree: CellTree, parts: Sequence[CellPart]) -> CellPart:
        """Concatenate the cells of several parts into one part of a tree."""
        part = copy(parts[0])
        part.kernel, part.tree = kernel, tree
        part.centers = np.concatenate([each.centers for each in parts])
        part.coef = np.concatenate([each.coef for each in parts])
        part.starts = np.cumsum([0, *np.concatenate([np.diff(each.starts) for each in parts])])
        return part

    def scaled(self, factor: float) -> CellPart:
        """The part multiplied by a number."""
        part = copy(self)
        part.coef = self.coef * factor
        return part

    def to_float32(self) -> CellPart:
        """The same part with kernel values in float32."""
        part = copy(self)
        part.dtype = np.float32
        return part


def kernel_block(
    kernel: Kernel, X: Any, centers: Any, dtype: Any = np.float32, out: FloatArray | None = None
) -> FloatArray:
    """Kernel values in a dtype, written to `out` if possible; rows are shifted before rounding."""
    work_dtype = dtype if fits_float32(kernel) else np.float64
    if type(kernel) is Gaussian:  # in place, because allocating large arrays is slow
        out = out if work_dtype is dtype else None
        block = pair_block(kernel.pairing, X, centers, kernel.gamma, work_dtype, out)
        block *= -kernel.gamma
        with np.errstate(under="ignore"):
            return check_finite(kernel, np.exp(block, out=block)).astype(dtype, copy=False)
    blocks = {
        pairing: pair_block(pairing, X, centers, gaussian_gamma(kernel), work_dtype)
        for pairing in kernel.pairings
    }
    return kernel.from_blocks(blocks).astype(dtype, copy=False)


def pair_block(
    pairing: Pairing,
    X: Any,
    centers: Any,
    gamma: float | None,
    dtype: Any = np.float32,
    out: FloatArray | None = None,
) -> FloatArray:
    """Distances or products; approximate distances if they are for a Gaussian of `gamma`."""
    return PreparedCenters(pairing, centers, dtype).approximate(X, gamma, out)
