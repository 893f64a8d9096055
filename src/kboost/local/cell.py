"""One cell: least squares on its rows.

With all columns it is kernel ridge regression (solvers/ridge.py). With fewer columns they are
picked by forward selection against the targets (solvers/forward_selection.py) and re-fitted
together on all rows of the cell:

    minimise  1/2 sum_i w_i (y_i - (K_S a)_i)^2 + ridge/2 a' K_SS a.

Rows are distinct: equal rows are replaced by their mean (data/indexed_rows.py), since no cut
separates them, and the problem stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import CellTree, SplitRNG, shared_by_sides, split_into_cells
from kboost.columns.cells import kernel_block
from kboost.kernels.base import Kernel
from kboost.settings import Cells
from kboost.solvers.forward_selection import LocalRule, select
from kboost.solvers.ridge import basis_solve, precision, ridge_solve

_SEARCHED, _SEARCHED_PER_COLUMN = 500, 3  # rows among which columns are selected, at least


@dataclass(frozen=True)
class CellPlan:
    """How cells are cut and fitted."""

    cells: Cells
    kernel: Kernel
    ridge: float
    max_columns: int | None = None  # of the whole model
    rule: str = "max-res"

    def columns_per_cell(self, n_cells: int) -> int | None:
        """Columns per cell, at most, for this number of cells; None: all rows."""
        return columns_per_cell(self.cells, self.max_columns, n_cells)

    def split(
        self, X: Any, rows: IntArray, rng: SplitRNG, shared: float
    ) -> tuple[CellTree, list[IntArray]]:
        """Cut the rows, or a branch of them, into cells."""
        view = self.kernel.pairings[0].view
        return split_into_cells(X, rows, self.cells.size, view, rng, shared=shared)

    def shared_by_sides(self, n_rows: int) -> float:
        """The share of the rows of a split that each side takes from the other one."""
        return shared_by_sides(n_rows, self.cells.size, self.cells.overlap)

    def random_streams(self, rng: np.random.Generator) -> Sequence[SplitRNG]:
        """One generator per partition; a single partition is cut at the medians."""
        return rng.spawn(self.cells.partitions) if self.cells.partitions > 1 else [None]


def columns_per_cell(cells: Cells, max_columns: int | None, n_cells: int) -> int | None:
    """The limit of a cell: its own, or its share of that of the model; None without either."""
    share = None if max_columns is None else max(1, max_columns // n_cells)
    return min((m for m in (cells.columns_per_cell, share) if m is not None), default=None)


def memory_of_cell(size: int, columns: int | None) -> int:
    """Bytes of the kernel values of a cell, in float64."""
    if columns is None or columns >= size:
        return 8 * size**2
    return 8 * (size * columns + _n_searched(columns) ** 2)


def squares(y: FloatArray, weight: FloatArray) -> float:
    """The objective of f = 0."""
    return 0.5 * float(np.sum(weight[:, None] * y**2))


def fit_cell(
    plan: CellPlan,
    columns: int | None,
    X: Any,
    y: FloatArray,
    weight: FloatArray,
    buffer: FloatArray,
) -> tuple[IntArray, FloatArray, float]:
    """Rows that are centres, their coefficients, and the objective of the cell.

    At the optimum over all columns it is `ridge/2 a'y`.
    """
    if columns is None or columns >= len(X):
        unit = float(np.max(plan.kernel.diag(X), initial=0.0)) or 1.0
        dtype = precision(len(X), plan.ridge / unit, weight)
        out = buffer[: len(X) ** 2].reshape(len(X), -1) if dtype is buffer.dtype.type else None
        K = kernel_block(plan.kernel, X, X, dtype, out)
        coef = ridge_solve(K, y, weight, plan.ridge)
        return np.arange(len(K)), coef, 0.5 * plan.ridge * float(np.sum(coef * y))
    chosen = _selected(plan, columns, X, y, weight)
    values = kernel_block(plan.kernel, X, X[chosen], np.float64)
    inner = (values[chosen] + values[chosen].T) / 2
    coef = basis_solve(values, inner, y, weight, plan.ridge)
    loss = squares(y - values @ coef, weight)
    return chosen, coef, loss + 0.5 * plan.ridge * float(np.sum(coef * (inner @ coef)))


def _selected(plan: CellPlan, columns: int, X: Any, y: FloatArray, weight: FloatArray) -> IntArray:
    """Columns among the first rows, whose order is random; the selection is cubic in them."""
    first = slice(_n_searched(columns))
    K = kernel_block(plan.kernel, X[first], X[first], np.float64)
    rule = cast(LocalRule, plan.rule)
    chosen, _ = select((K + K.T) / 2, y[first], weight[first], plan.ridge, columns, rule)
    return chosen


def _n_searched(columns: int) -> int:
    return max(_SEARCHED, _SEARCHED_PER_COLUMN * columns)
