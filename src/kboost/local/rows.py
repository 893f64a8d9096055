"""The rows of cells, and cells around rows drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import cells_around
from kboost.kernels.views import View

_ANCHORS = 3  # cells per metric


@dataclass(frozen=True)
class LocalRows:
    """Rows of X by number, their centred targets and weights."""

    X: Any
    order: IntArray
    targets: FloatArray  # (n, q)
    weight: FloatArray  # (n,)


def cells_near(
    rows: LocalRows, size: int, view: View, rng: np.random.Generator, count: int = _ANCHORS
) -> list[IntArray]:
    """Cells around random rows, as positions in `rows`."""
    return cells_at(rows, size, view, anchors_of(rows, rng, count))


def anchors_of(rows: LocalRows, rng: np.random.Generator, count: int = _ANCHORS) -> IntArray:
    """Numbers of rows drawn at random."""
    anchors: IntArray = rows.order[rng.permutation(len(rows.order))[:count]]
    return anchors


def cells_at(rows: LocalRows, size: int, view: View, anchors: IntArray) -> list[IntArray]:
    """Cells around given rows, as positions in `rows`."""
    position = np.empty(rows.X.shape[0], dtype=np.intp)
    position[rows.order] = np.arange(len(rows.order))
    return [position[cell] for cell in cells_around(rows.X, rows.order, size, view, anchors)]


def sample_of(cell: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """A random part of a cell."""
    return cell[rng.permutation(len(cell))[:count]]


def rows_near(rows: LocalRows, cells: Sequence[IntArray]) -> tuple[LocalRows, list[IntArray]]:
    """The rows of the cells, read once, and the cells as positions in them."""
    near = np.unique(np.concatenate(cells))
    rows_of_cells = LocalRows(
        rows.X[rows.order[near]], np.arange(len(near)), rows.targets[near], rows.weight[near]
    )
    return rows_of_cells, [np.searchsorted(near, cell) for cell in cells]


def rows_of_cell(rows: LocalRows, cell: IntArray) -> LocalRows:
    """The rows of one cell."""
    X = rows.X[rows.order[cell]]
    return LocalRows(X, np.arange(len(X)), rows.targets[cell], rows.weight[cell])


def dense_rows(rows: LocalRows, cell: IntArray) -> FloatArray:
    """The features of a cell, (m, d), in float64."""
    return np.asarray(rows.X[rows.order[cell]], dtype=np.float64)
