"""Fit cells on the workers of a cluster.

Large branches of the tree are cut from one feature at a time; then the rows of a branch go to one
worker, which cuts them further and fits the cells. Tree, cells and their fits are those of a local
fit (columns/cell_tree.py: a branch is the same wherever it is cut). Only the model comes back to
the client.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import as_completed

from kboost._typing import FloatArray, IntArray
from kboost.columns.cell_tree import CellTree, SplitRNG, graft
from kboost.columns.cells import CellPart
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.stopping import OUT_OF_TIME, StopReason
from kboost.dask._malloc import with_tuned_malloc
from kboost.dask._table import PartitionedTable, assemble, take
from kboost.local.cell import CellPlan, squares
from kboost.local.cells import (
    COMPLETE,
    CellFit,
    CellProgress,
    CellStep,
    averaged,
    run_cells,
)
from kboost.local.rows import LocalRows

BranchResult = tuple[CellPart, float, int]  # the part, its objective, cells that were in time


def fit_cells(
    plan: CellPlan,
    rows: LocalRows,
    rng: np.random.Generator,
    deadline: Deadline,
    listeners: Sequence[Listener] = (),
) -> CellFit:
    """Cut and fit the cells on the workers; `rows.X` is a table."""
    fitting = BranchFitting(plan, rows, rng, deadline)
    listeners = [*listeners, CellProgress(deadline)]
    try:
        reason = iterate(fitting, listeners=listeners, level=logging.DEBUG)
    finally:
        fitting.cancel()
    parts, n_fitted = fitting.parts()
    return averaged(parts, sum(part.tree.n_cells for part, _ in parts), n_fitted, reason)


@dataclass(frozen=True)
class _Branch:
    """Rows that one worker cuts and fits."""

    rows: IntArray
    stream: SplitRNG
    positions: list[IntArray]
    pieces: list[Any]  # futures of the rows


class BranchFitting(Method[CellStep]):
    """One step is one branch, as soon as a worker has fitted it."""

    def __init__(
        self, plan: CellPlan, rows: LocalRows, rng: np.random.Generator, deadline: Deadline
    ) -> None:
        self._plan, self._rows, self._deadline = plan, rows, deadline
        self._streams = plan.random_streams(rng)
        self._shared = plan.shared_by_sides(len(rows.order))
        self._table: PartitionedTable = rows.X
        self._position = np.empty(self._table.shape[0], dtype=np.intp)  # in `rows`, by number
        self._position[rows.order] = np.arange(len(rows.order))
        self._partitions: list[tuple[CellTree, int]] = []  # top of the tree, number of branches
        self._branches: list[_Branch] = []
        self._futures: list[Any] = []  # one per branch
        self._fitted: dict[Any, BranchResult] = {}
        self._results: Iterator[tuple[Any, BranchResult]] | None = None
        self._started = time.monotonic()
        self.trace: list[CellStep] = []

    def advance(self) -> CellStep | StopReason:
        if self._results is None:
            self._send()
            # each is fetched as soon as it is ready: together they are the model
            self._results = as_completed(self._futures, with_results=True)
        future, result = next(self._results, (None, None))
        if future is None or result is None:
            in_time = all(n == part.tree.n_cells for part, _, n in self._fitted.values())
            return COMPLETE if in_time else OUT_OF_TIME
        self._fitted[future.key] = result
        seconds = time.monotonic() - self._started
        return CellStep(len(self._fitted), len(self._futures), seconds, "branches")

    def cancel(self) -> None:
        """Stop the workers."""
        pending = [future for future in self._futures if future.key not in self._fitted]
        if pending:
            self._table.client.cancel(pending)

    finish = abort = cancel

    def parts(self) -> tuple[list[tuple[CellPart, float]], int]:
        """The part of each partition and its objective, and how many cells were fitted."""
        out, first, n_fitted = [], 0, 0
        if not self._fitted:  # perhaps without a tree yet
            return [], 0
        for top, count in self._partitions:
            branches = range(first, first + count)
            results = [self._fitted.get(self._futures[b].key) or self._empty(b) for b in branches]
            parts = [part for part, *_ in results]
            tree = graft(top, [part.tree for part in parts])
            part = CellPart.joined(self._plan.kernel, tree, parts)
            out.append((part, sum(objective for _, objective, _ in results)))
            n_fitted += sum(count for *_, count in results)
            first += count
        return out, n_fitted

    def _send(self) -> None:
        """Cut the top of the tree and send its branches, each as soon as it is cut."""
        plan, table = self._plan, self._table
        shared = plan.max_columns is not None  # columns are shared out among all cells
        view = plan.kernel.pairings[0].view

        def add(inside: IntArray, stream: SplitRNG) -> None:
            self._branches.append(_Branch(inside, stream, *table.sent(inside, take, None)))
            if not shared:
                self._submit(self._branches[-1], plan.columns_per_cell(1))

        for stream in self._streams:
            first = len(self._branches)
            top = table.top(self._rows.order, plan.cells.size, view, stream, self._shared, add)
            self._partitions.append((top, len(self._branches) - first))
        if shared:
            columns = plan.columns_per_cell(self._count_cells())
            for branch in self._branches:
                self._submit(branch, columns)

    def _count_cells(self) -> int:
        arguments = [(b.positions, b.pieces, b.stream) for b in self._branches]
        client, dtype = self._table.client, self._table.dtype
        counts = [
            client.submit(
                _n_cells, self._plan, positions, pieces, dtype, stream, self._shared, pure=False
            )
            for positions, pieces, stream in arguments
        ]
        return int(sum(client.gather(counts)))

    def _submit(self, branch: _Branch, columns: int | None) -> None:
        members = self._position[branch.rows]
        future = self._table.client.submit(
            with_tuned_malloc,
            _fit_branch,
            self._plan,
            columns,
            branch.positions,
            branch.pieces,
            self._table.dtype,
            self._rows.targets[members],
            self._rows.weight[members],
            branch.stream,
            self._shared,
            self._deadline,
            pure=False,
        )
        self._futures.append(future)

    def _empty(self, number: int) -> BranchResult:
        """A branch without a result: one empty cell."""
        members = self._position[self._branches[number].rows]
        y, weight = self._rows.targets[members], self._rows.weight[members]
        leaf = CellTree(np.array([-1]), np.zeros(1), np.zeros((1, 2), dtype=np.intp))
        no_rows = np.zeros((0, self._table.shape[1]))
        part = CellPart(self._plan.kernel, leaf, [no_rows], [y[:0]])
        return part, squares(y, weight), 0


# On a worker -------------------------------------------------------------------------------------


def _n_cells(
    plan: CellPlan,
    positions: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    stream: SplitRNG,
    shared: float,
) -> int:
    """How many cells a branch has."""
    X = assemble(positions, pieces, dtype)
    return len(plan.split(X, np.arange(len(X)), stream, shared)[1])


def _fit_branch(
    plan: CellPlan,
    columns: int | None,
    positions: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    targets: FloatArray,
    weight: FloatArray,
    stream: SplitRNG,
    shared: float,
    deadline: Deadline,
) -> BranchResult:
    """Cut the branch further and fit its cells."""
    X = assemble(positions, pieces, dtype)
    rows = LocalRows(X, np.arange(len(X)), targets, weight)
    partition = plan.split(X, rows.order, stream, shared)
    fitting, _ = run_cells(plan, columns, rows, [partition], deadline)
    ((part, objective),) = fitting.parts()
    return part, objective, fitting.n_fitted
