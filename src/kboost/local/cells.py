"""A fit in cells: one problem per cell (local/cell.py), which threads share.

Several partitions, with borders at different places, are averaged. If time or Ctrl-C ends the fit,
the mean is over the complete partitions, or else the one with most cells is taken alone: an empty
cell would pull the mean to zero.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor as FutureExecutor
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import CellTree
from kboost.columns.cells import CellPart
from kboost.core.checkpoint import digest
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.progress import TimeEstimate
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.local.cell import CellPlan, fit_cell, squares
from kboost.local.rows import LocalRows

COMPLETE = StopReason("cells", "every cell is fitted.")

Partition = tuple[CellTree, list[IntArray]]


@dataclass(frozen=True)
class CellFit:
    """One part per partition, and how far the fit came."""

    parts: Sequence[CellPart]
    objective: float  # mean over these partitions
    n_cells: int
    reason: StopReason


def fit_cells(
    plan: CellPlan,
    rows: LocalRows,
    *,
    rng: np.random.Generator,
    deadline: Deadline,
    n_jobs: int = 1,
    listeners: Sequence[Listener] = (),
) -> CellFit:
    """Cut the rows into cells and fit them; cells that are not reached stay empty."""
    shared = plan.shared_by_sides(len(rows.order))
    partitions = [
        plan.split(rows.X, rows.order, stream, shared) for stream in plan.random_streams(rng)
    ]
    columns = plan.columns_per_cell(sum(len(cells) for _, cells in partitions))
    fitting, reason = run_cells(
        plan, columns, rows, partitions, deadline, n_jobs, [*listeners, CellProgress(deadline)]
    )
    return averaged(fitting.parts(), fitting.n_cells, fitting.n_fitted, reason)


def run_cells(
    plan: CellPlan,
    columns: int | None,
    rows: LocalRows,
    partitions: Sequence[Partition],
    deadline: Deadline,
    n_jobs: int = 1,
    listeners: Sequence[Listener] = (),
) -> tuple[CellFitting, StopReason]:
    """Fit the cells of the partitions, `columns` in each."""
    with ThreadPool(n_jobs) as pool:
        fitting = CellFitting(plan, columns, rows, partitions, deadline, pool)
        try:
            return fitting, iterate(fitting, listeners=listeners, level=logging.DEBUG)
        finally:
            fitting.cancel()


def averaged(
    parts: Sequence[tuple[CellPart, float]], n_cells: int, n_fitted: int, reason: StopReason
) -> CellFit:
    """The mean over the complete partitions; without any, the one with most fitted cells.

    Ctrl-C before a cell was fitted is raised.
    """
    if reason.rule == INTERRUPTED.rule and not n_fitted:
        raise KeyboardInterrupt("interrupted before a cell was fitted; nothing has changed.")
    if n_fitted < n_cells:
        filled = [float(np.mean(np.diff(part.starts) > 0)) for part, _ in parts]
        fullest = max(filled)
        best = [p for p, share in enumerate(filled) if share == fullest]
        parts = [parts[p] for p in (best if fullest == 1.0 else best[:1])]
    objective = sum(value for _, value in parts) / len(parts)
    scaled = [part.scaled(1.0 / len(parts)) for part, _ in parts]
    return CellFit(scaled, objective, n_cells, _with_count(reason, n_fitted, n_cells))


def _with_count(reason: StopReason, n_fitted: int, n_cells: int) -> StopReason:
    """A reason that ends a fit early, with the number of cells that were fitted."""
    if reason.rule not in (OUT_OF_TIME.rule, INTERRUPTED.rule):
        return reason
    fitted = f"{n_fitted} of {n_cells} cells are fitted"
    if reason.rule == INTERRUPTED.rule:
        return StopReason(reason.rule, f"interrupted: {fitted}.")
    return StopReason(reason.rule, f"max_seconds reached: {fitted}; raise max_seconds.")


@dataclass(frozen=True)
class CellStep:
    """The record of a fitted cell, or of a branch of cells on a worker."""

    done: int
    total: int
    seconds: float  # since the start
    unit: str = "cells"

    def __str__(self) -> str:
        return f"{self.done} of {self.total} {self.unit}  {self.seconds:.1f} s"


class CellFitting(Method[CellStep]):
    """One step is one cell, fitted by a thread of the pool; results come in order."""

    def __init__(
        self,
        plan: CellPlan,
        columns: int | None,
        rows: LocalRows,
        partitions: Sequence[Partition],
        deadline: Deadline,
        pool: FutureExecutor,
    ) -> None:
        self._plan, self._columns, self._rows = plan, columns, rows
        self._partitions, self._deadline, self._pool = partitions, deadline, pool
        self._cells = [cell for _, cells in partitions for cell in cells]
        self._position = np.empty(rows.X.shape[0], dtype=np.intp)  # in `rows`, by number
        self._position[rows.order] = np.arange(len(rows.order))
        self._buffers = threading.local()  # for kernel values: large arrays are slow to allocate
        self._futures: list[Future[_FittedCell]] | None = None  # None before the first step
        self._first = 0  # cell of the first future
        self._fitted: list[_FittedCell] = []
        self._started = time.monotonic()
        self.trace: list[CellStep] = []

    @property
    def n_cells(self) -> int:
        return len(self._cells)

    @property
    def n_fitted(self) -> int:
        """Cells that were fitted in time."""
        return sum(cell.in_time for cell in self._fitted)

    def advance(self) -> CellStep | StopReason:
        if len(self._fitted) == self.n_cells:
            return COMPLETE
        self._collect()
        if not self._fitted[-1].in_time:
            return OUT_OF_TIME
        seconds = time.monotonic() - self._started
        return CellStep(len(self._fitted), self.n_cells, seconds)

    def identity(self) -> str:
        """The rows, how they are cut, and what is fitted."""
        plan, rows = self._plan, self._rows
        cut = np.concatenate([*self._cells, [len(cell) for cell in self._cells]])
        return digest(plan.kernel, plan.ridge, self._columns, cut, rows.targets, rows.weight)

    def state(self) -> Any:
        """The cells fitted in time, and when."""
        done = len(self.trace)
        return {
            "cells": [(cell.centers, cell.coef, cell.objective) for cell in self._fitted[:done]],
            "seconds": [step.seconds for step in self.trace],
        }

    def restore(self, state: Any) -> None:
        """Take over the cells."""
        self._fitted = [_FittedCell(*cell) for cell in state["cells"]]
        seconds = enumerate(state["seconds"])
        self.trace = [CellStep(done + 1, self.n_cells, after) for done, after in seconds]
        self._started -= state["seconds"][-1]

    def finish(self) -> None:
        """Stop the threads and collect the cells that they have fitted; others are empty."""
        if len(self._fitted) == self.n_cells:
            return
        self._deadline.call_off()
        while len(self._fitted) < self.n_cells:
            self._collect()

    abort = finish

    def cancel(self) -> None:
        """Let no further cell start."""
        for future in self._futures or ():
            future.cancel()

    def parts(self) -> list[tuple[CellPart, float]]:
        """The part of each partition and its objective."""
        results, out = iter(self._fitted), []
        for tree, cells in self._partitions:
            fitted = [next(results) for _ in cells]
            centers = [self._rows.X[cell.centers] for cell in fitted]
            part = CellPart(self._plan.kernel, tree, centers, [cell.coef for cell in fitted])
            out.append((part, sum(cell.objective for cell in fitted)))
        return out

    def _collect(self) -> None:
        """Wait for the next cell; Ctrl-C at any point neither loses nor repeats one."""
        if self._futures is None:
            self._first = len(self._fitted)
            self._futures = [
                self._pool.submit(self._fit, cell) for cell in self._cells[self._first :]
            ]
        self._fitted.append(self._futures[len(self._fitted) - self._first].result())

    def _fit(self, cell: IntArray) -> _FittedCell:
        """In a thread: the fit of a cell; out of time it stays empty."""
        members = self._position[cell]
        y, weight = self._rows.targets[members], self._rows.weight[members]
        if self._deadline.remaining == 0.0:
            return _FittedCell(cell[:0], y[:0], squares(y, weight), in_time=False)
        if not hasattr(self._buffers, "values"):
            largest = max(map(len, self._cells))
            self._buffers.values = np.empty(largest**2, dtype=np.float32)
        chosen, coef, objective = fit_cell(
            self._plan, self._columns, self._rows.X[cell], y, weight, self._buffers.values
        )
        return _FittedCell(cell[chosen], coef, objective)


@dataclass(frozen=True)
class _FittedCell:
    centers: IntArray  # rows of X
    coef: FloatArray  # (m, q)
    objective: float
    in_time: bool = True


class CellProgress:
    """A listener that logs about once per second how long the remaining cells will take."""

    def __init__(self, deadline: Deadline = NO_LIMIT) -> None:
        self._deadline, self._logged = deadline, 0.0

    def on_step(self, trace: Sequence[CellStep]) -> None:
        """Log the estimate, if the last one is older than a second."""
        last = trace[-1]
        if last.seconds - self._logged > 1.0 or last.done == last.total:
            self._logged = last.seconds
            rest = last.seconds / last.done * (last.total - last.done)
            rest = min(rest, self._deadline.remaining)
            TimeEstimate(last.done, last.total, last.unit, rest).log()

    def on_end(self) -> None:
        """Nothing more to log."""
