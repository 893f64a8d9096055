"""Fit cells on the workers of a cluster.

The client splits the tree into large branches, one feature at a time; the rows of each branch are
sent to one worker, which splits them further and fits the cells. The tree and the cells are those
of a local fit (in columns/cells.py, splits do not depend on where they are computed).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from distributed import as_completed

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import CellPart, SplitRNG, graft, split_into_cells
from kboost.core.deadline import Deadline
from kboost.dask._malloc import with_tuned_malloc
from kboost.dask._table import PartitionedTable, assemble, take
from kboost.local.cells import CellFit, CellProgress, CellSpec, averaged, fit_partition, streams
from kboost.local.rows import LocalRows


def fit_cells(
    spec: CellSpec, rows: LocalRows, rng: np.random.Generator, deadline: Deadline
) -> CellFit:
    """Fit every cell; `rows.X` is a table."""
    table: PartitionedTable = rows.X
    view = spec.kernel.pairings[0].view
    place = np.empty(table.shape[0], dtype=np.intp)
    place[rows.order] = np.arange(len(rows.order))
    plans: list[tuple[Any, list[Any]]] = []
    futures: list[Any] = []  # submitted while the tree is split, so that workers start early

    def send(inside: IntArray, stream: SplitRNG) -> None:
        futures.append(_sent(spec, rows, place, inside, stream, deadline))

    try:
        for stream in streams(spec, rng):
            first = len(futures)
            top = table.top(rows.order, spec.size, view, stream, send)
            plans.append((top, futures[first:]))
        # fetched as soon as they are ready
        fitted = {future.key: fit for future, fit in as_completed(futures, with_results=True)}
    except BaseException:
        table.client.cancel(futures)
        raise
    wholes, n_done = [], 0
    for top, sent in plans:
        branches = [fitted[future.key] for future in sent]
        parts = [part for part, *_ in branches]
        part = CellPart.joined(spec.kernel, graft(top, [part.tree for part in parts]), parts)
        wholes.append((part, sum(objective for _, objective, _ in branches)))
        n_done += sum(done for *_, done in branches)
    n_cells = sum(part.tree.n_cells for part, _ in wholes)
    return averaged(wholes, CellProgress(n_cells, n_done))


def _sent(
    spec: CellSpec,
    rows: LocalRows,
    place: IntArray,
    inside: IntArray,
    stream: SplitRNG,
    deadline: Deadline,
) -> Any:
    """Send the rows of a branch to a worker; a future of its fit."""
    table: PartitionedTable = rows.X
    places, pieces = table.sent(inside, take, None)
    members = place[inside]
    return table.client.submit(
        with_tuned_malloc,
        _fit_branch,
        spec,
        places,
        pieces,
        table.dtype,
        rows.targets[members],
        rows.weight[members],
        stream,
        deadline,
        pure=False,
    )


def _fit_branch(
    spec: CellSpec,
    places: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    targets: FloatArray,
    weight: FloatArray,
    stream: SplitRNG,
    deadline: Deadline,
) -> tuple[CellPart, float, int]:
    """On a worker: split further and fit; the part, its objective, and the fitted cells."""
    X = assemble(places, pieces, dtype)
    rows = LocalRows(X, np.arange(len(X)), targets, weight)
    plan = split_into_cells(X, rows.order, spec.size, spec.kernel.pairings[0].view, stream)
    progress = CellProgress(len(plan[1]), deadline=deadline)
    with ThreadPoolExecutor(1) as pool:
        part, objective = fit_partition(spec, rows, plan, deadline, progress, pool)
    return part, objective, progress.done
