"""A fit in cells: each is a problem of its own, so threads share them and memory is a cell's.

Plain, a cell is least squares on all its rows (solvers/ridge.py). Sparse, with `max_columns` a
cell, columns are picked by forward selection against the cell's targets (solvers/forward_selection.py) and
re-fitted together on all rows of the cell:

    minimise  1/2 sum_i w_i (y_i - (K_S a)_i)^2 + ridge/2 a' K_SS a.

Rows are distinct: those of one x came as their mean (data/indexed_rows.py), for no cut parts them, and
however many they are the problem is the same.

Several partitions are fitted in turn and averaged: their borders lie elsewhere. Out of time, the
mean is over those that are whole, or it is the fullest alone: an empty cell would pull it to zero.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import CellPart, CellTree, SplitRNG, kernel_block, split_into_cells
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.progress import Left
from kboost.core.stopping import StopReason
from kboost.kernels.base import Kernel
from kboost.local.rows import LocalRows
from kboost.solvers.forward_selection import LocalRule, select
from kboost.solvers.ridge import basis_solve, precision, ridge_solve

CELL, MANY = 2500, 20_000  # `cells="auto"`: cells of so many rows from so many on

_FEW, _SHARE = 500, 3  # rows to select among: so many, or so many a column
_STEPS_ONLY: dict[str, tuple[Any, ...]] = {  # what only a fit in steps has a use for
    "update": ("joint",),
    "shrinkage": (1.0,),
    "combination": ("boost",),
    "basis_per_step": ("auto",),
    "n_candidates": (60,),
    "n_init_rows": (None,),
    "ald_threshold": (1e-2,),
    "ran_threshold": (1e-4,),
}
_DONE = StopReason("cells", "every cell is fitted.")


def cell_size(estimator: Any, X: Any, n_rows: int) -> int | None:
    """Rows of a cell for so many distinct rows, None where there are no cells.

    What cells have no use for, and cells that memory does not hold, are refused; "auto" does
    without cells then.
    """
    cells = estimator.cells
    if cells is None or (cells == "auto" and n_rows < MANY):
        return None
    size = CELL if cells == "auto" else int(cells)
    reason = _against(estimator, X, min(size, n_rows))
    if reason is None:
        return size
    if cells == "auto":
        return None
    raise ValueError(reason)


def _against(estimator: Any, X: Any, size: int) -> str | None:
    """Why there cannot be cells of so many rows; None if there can."""
    if issparse(X):
        return "X must be dense with cells, which cut its features; got a sparse matrix."
    allowed: dict[str, tuple[Any, ...]] = {
        "loss": ("squared",),
        "series": (None,),
        "validation_fraction": (None,),
        **_STEPS_ONLY,
    }
    if estimator.max_columns is not None:
        allowed["selection"] = ("max-res", "mp", "boost")
    elif estimator.selection != "max-res":
        return (
            "selection must be 'max-res', its default, with cells that take all their rows; set "
            f"max_columns to select; got selection={estimator.selection!r}."
        )
    for name, values in allowed.items():
        if (value := getattr(estimator, name)) not in values:
            return (
                f"{name} must be {' or '.join(map(repr, values))} with cells, which are fitted "
                f"each by itself; got {name}={value!r} and cells={estimator.cells!r}."
            )
    if isinstance(estimator.kernels, str) and estimator.kernels == "precomputed":
        return (
            "kernels must not be 'precomputed' with cells, which cut features; "
            f"got cells={estimator.cells!r}."
        )
    return _against_memory(estimator, size)


def _against_memory(estimator: Any, size: int) -> str | None:
    """The kernel values of a cell, in float64 at most, must fit."""
    budget, count = estimator.memory_budget, estimator.max_columns
    plain = count is None or count >= size
    numbers = size**2 if plain else size * count + _looked_at(count) ** 2
    if 8 * numbers <= budget:
        return None
    return (
        f"memory_budget must hold the kernel values of a cell, {8 * numbers} bytes for "
        f"{size} rows, or cells must be smaller; got memory_budget={budget!r} and "
        f"cells={estimator.cells!r}."
    )


@dataclass(frozen=True)
class CellSpec:
    """How cells are fitted."""

    size: int  # rows of a cell, at most
    kernel: Kernel
    ridge: float
    partitions: int = 1
    max_columns: int | None = None  # a cell
    rule: str = "max-res"


@dataclass(frozen=True)
class CellFit:
    """The parts, one a partition, and how far it got."""

    parts: Sequence[CellPart]
    objective: float  # mean over these partitions
    n_cells: int
    reason: StopReason


def fit_cells(
    spec: CellSpec,
    rows: LocalRows,
    *,
    rng: np.random.Generator,
    deadline: Deadline,
    n_jobs: int = 1,
) -> CellFit:
    """Fit every cell; out of time, those left over stay empty."""
    view = spec.kernel.pairings[0].view
    plans = [
        split_into_cells(rows.X, rows.order, spec.size, view, own) for own in streams(spec, rng)
    ]
    progress = CellProgress(sum(len(cells) for _, cells in plans), deadline=deadline)
    with ThreadPoolExecutor(n_jobs) as pool:
        fitted = [fit_partition(spec, rows, plan, deadline, progress, pool) for plan in plans]
    return averaged(fitted, progress)


def averaged(fitted: Sequence[tuple[CellPart, float]], progress: CellProgress) -> CellFit:
    """The mean over the partitions that are whole; without any, the one that has most cells."""
    if progress.done < progress.total:
        filled = [float(np.mean(np.diff(part.starts) > 0)) for part, _ in fitted]
        fullest = max(filled)
        kept = [p for p, share in enumerate(filled) if share == fullest]
        fitted = [fitted[p] for p in (kept if fullest == 1.0 else kept[:1])]
    objective = sum(own for _, own in fitted) / len(fitted)
    parts = [part.scaled(1.0 / len(fitted)) for part, _ in fitted]
    return CellFit(parts, objective, progress.total, progress.reason)


def streams(spec: CellSpec, rng: np.random.Generator) -> Sequence[SplitRNG]:
    """One a partition; a single one is cut at the medians."""
    return rng.spawn(spec.partitions) if spec.partitions > 1 else [None]


def fit_partition(
    spec: CellSpec,
    rows: LocalRows,
    plan: tuple[CellTree, list[IntArray]],
    deadline: Deadline,
    progress: CellProgress,
    pool: Executor,
) -> tuple[CellPart, float]:
    """Fit the cells of one partition; the part, and its objective."""
    tree, cells = plan
    place = np.empty(rows.X.shape[0], dtype=np.intp)
    place[rows.order] = np.arange(len(rows.order))

    own_room = threading.local()  # for kernel values: large arrays are slow to come by

    def one(cell: IntArray) -> _Cell:
        if not hasattr(own_room, "values"):
            own_room.values = np.empty(max(map(len, cells)) ** 2, dtype=np.float32)
        own = place[cell]
        y, weight = rows.targets[own], rows.weight[own]
        if deadline.remaining == 0.0:
            nothing = np.zeros((0, y.shape[1]))
            return _Cell(cell[:0], nothing, 0.5 * float(np.sum(weight[:, None] * y**2)))
        kept, coef, objective = _fit_cell(spec, rows.X[cell], y, weight, own_room.values)
        progress.step()
        return _Cell(cell[kept], coef, objective)

    try:
        fitted = list(pool.map(one, cells))
    except KeyboardInterrupt:
        deadline.call_off()  # the threads look at it
        raise
    centers = [rows.X[cell.centers] for cell in fitted]
    part = CellPart(spec.kernel, tree, centers, [cell.coef for cell in fitted])
    return part, sum(cell.objective for cell in fitted)


@dataclass(frozen=True)
class _Cell:
    centers: IntArray  # rows of X
    coef: FloatArray  # (m, q)
    objective: float


def _fit_cell(
    spec: CellSpec, X: Any, y: FloatArray, weight: FloatArray, room: FloatArray
) -> tuple[IntArray, FloatArray, float]:
    """Rows that are centres, their coefficients, and the objective of the cell.

    At the optimum of all columns it is `ridge/2 a'y`.
    """
    if spec.max_columns is None or spec.max_columns >= len(X):
        unit = float(np.max(spec.kernel.diag(X), initial=0.0)) or 1.0
        dtype = precision(len(X), spec.ridge / unit, weight)
        out = room[: len(X) ** 2].reshape(len(X), -1) if dtype is room.dtype.type else None
        K = kernel_block(spec.kernel, X, X, dtype, out)
        coef = ridge_solve(K, y, weight, spec.ridge)
        return np.arange(len(K)), coef, 0.5 * spec.ridge * float(np.sum(coef * y))
    kept = _selected(spec, spec.max_columns, X, y, weight)
    columns = kernel_block(spec.kernel, X, X[kept], np.float64)
    inner = (columns[kept] + columns[kept].T) / 2
    coef = basis_solve(columns, inner, y, weight, spec.ridge)
    missed = 0.5 * float(np.sum(weight[:, None] * (y - columns @ coef) ** 2))
    return kept, coef, missed + 0.5 * spec.ridge * float(np.sum(coef * (inner @ coef)))


def _selected(spec: CellSpec, count: int, X: Any, y: FloatArray, weight: FloatArray) -> IntArray:
    """Columns among the first rows, which are in no order; the selection is cubic in them."""
    some = slice(_looked_at(count))
    K = kernel_block(spec.kernel, X[some], X[some], np.float64)
    rule = cast(LocalRule, spec.rule)
    kept, _ = select((K + K.T) / 2, y[some], weight[some], spec.ridge, count, rule)
    return kept


def _looked_at(count: int) -> int:
    return max(_FEW, _SHARE * count)


class CellProgress:
    """Counts cells and says from time to time how long the rest will take."""

    def __init__(self, total: int, done: int = 0, deadline: Deadline = NO_LIMIT) -> None:
        self.total, self.done, self._deadline = total, done, deadline
        self._started = self._said = time.monotonic()

    def step(self) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self._said > 1.0 or self.done == self.total:
            rest = (now - self._started) / self.done * (self.total - self.done)
            self._said = now
            Left(self.done, self.total, "cells", min(rest, self._deadline.remaining)).tell()

    @property
    def reason(self) -> StopReason:
        """Why it ended."""
        if self.done == self.total:
            return _DONE
        return StopReason(
            "max_seconds", f"max_seconds reached: {self.done} of {self.total} cells are fitted."
        )
