"""A fit in cells: each is a problem of its own, so threads share them and memory is a cell's.

Plain, a cell is least squares on all its rows (solvers/ridge.py). Sparse, with `max_columns` a
cell, columns are picked by forward selection against the cell's targets (oracles/local.py) and
re-fitted together on all rows of the cell:

    (K_S' W K_S + ridge K_SS) a = K_S' W y.

Several partitions are fitted in turn and averaged: their borders lie elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import CellPart, cut, kernel_block
from kboost.core.grow import logger
from kboost.core.protocols import Deadline
from kboost.estimators._local_choice import LocalRows
from kboost.kernels.base import Kernel
from kboost.oracles.local import LocalRule, select
from kboost.solvers.ridge import ridge_solve

_JITTER = 1e-10


@dataclass(frozen=True)
class CellSpec:
    """How cells are fitted."""

    size: int  # rows of a cell, at most
    kernel: Kernel
    ridge: float
    partitions: int = 1
    max_columns: int | None = None  # a cell
    rule: LocalRule = "max-res"


@dataclass(frozen=True)
class CellFit:
    """The parts, one a partition, and how far it got."""

    parts: Sequence[CellPart]
    n_cells: int
    n_fitted: int


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
    place = np.empty(rows.X.shape[0], dtype=np.intp)
    place[rows.order] = np.arange(len(rows.order))
    plans = [
        cut(rows.X, rows.order, spec.size, view, rng if spec.partitions > 1 else None)
        for _ in range(spec.partitions)
    ]
    progress = _Progress(sum(len(cells) for _, cells in plans))

    def one(cell: IntArray) -> tuple[IntArray, FloatArray]:
        if deadline.remaining == 0.0:
            return cell[:0], np.zeros((0, rows.targets.shape[1]))
        own = place[cell]
        kept, coef = _fit_cell(spec, rows.X[cell], rows.targets[own], rows.weight[own])
        progress.step()
        return cell[kept], coef / spec.partitions

    parts = []
    with ThreadPoolExecutor(n_jobs) as pool:
        for tree, cells in plans:
            try:
                fitted = list(pool.map(one, cells))
            except KeyboardInterrupt:
                deadline.call_off()  # the threads look at it
                raise
            parts.append(
                CellPart(
                    spec.kernel, tree, [rows.X[kept] for kept, _ in fitted], [c for _, c in fitted]
                )
            )
    return CellFit(parts, progress.total, progress.done)


def _fit_cell(
    spec: CellSpec, X: Any, y: FloatArray, weight: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Rows that are centres, and their coefficients."""
    K = kernel_block(spec.kernel, X, X)
    if spec.max_columns is None or spec.max_columns >= len(K):
        return np.arange(len(K)), ridge_solve(K, y, weight, spec.ridge)
    K64 = K.astype(np.float64)
    kept, _ = select(K64, y, weight, spec.ridge, spec.max_columns, spec.rule)
    chosen = K64[:, kept]
    weighted = weight[:, None] * chosen
    normal = chosen.T @ weighted + spec.ridge * chosen[kept]
    np.fill_diagonal(normal, np.diag(normal) * (1.0 + _JITTER))
    return kept, cho_solve(cho_factor(normal, lower=True), weighted.T @ y)


class _Progress:
    """Counts cells and says from time to time how long the rest will take."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._started = self._said = time.monotonic()

    def step(self) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self._said > 1.0 or self.done == self.total:
            left = (now - self._started) / self.done * (self.total - self.done)
            self._said = now
            logger.info("%d of %d cells, %.0f s left", self.done, self.total, left)
