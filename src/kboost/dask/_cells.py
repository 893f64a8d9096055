"""A fit in cells on workers.

Large branches of the tree are cut from one feature at a time; then the rows of a branch go to one
worker, which cuts them further and fits the cells. The tree is the local one (columns/cells.py: a
branch comes out the same wherever it is cut), and so are the cells and their fits. What comes back
is the model.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from distributed import as_completed

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import CellPart, Stream, cut, graft
from kboost.core.protocols import Deadline
from kboost.dask._heap import roomy_heap
from kboost.dask._table import Table, assemble, take
from kboost.estimators._cells import CellFit, CellSpec, Progress, averaged, fit_partition, streams
from kboost.estimators._local_choice import LocalRows


def fit_cells(
    spec: CellSpec, rows: LocalRows, rng: np.random.Generator, deadline: Deadline
) -> CellFit:
    """Fit every cell; `rows.X` is a table."""
    table: Table = rows.X
    view = spec.kernel.pairings[0].view
    place = np.empty(table.shape[0], dtype=np.intp)
    place[rows.order] = np.arange(len(rows.order))
    ends = None if deadline.remaining == np.inf else time.time() + deadline.remaining
    plans = []
    for stream in streams(spec, rng):
        top, branches = table.top(rows.order, spec.size, view, stream)
        plans.append((top, [_send(spec, rows, place, *own, ends) for own in branches]))
    futures = [future for _, sent in plans for future in sent]
    fitted = _gathered(table.client, futures)
    wholes, n_done = [], 0
    for top, sent in plans:
        found = [fitted[future.key] for future in sent]
        part = _joined(spec, top, [part for part, *_ in found])
        wholes.append((part, sum(own for _, own, _ in found)))
        n_done += sum(done for *_, done in found)
    n_cells = sum(part.tree.n_cells for part, _ in wholes)
    return averaged(wholes, Progress(n_cells, n_done))


def _gathered(client: Any, futures: list[Any]) -> dict[str, Any]:
    """Results by key, each brought as soon as it is there: together they are the model."""
    try:
        return {future.key: found for future, found in as_completed(futures, with_results=True)}
    except BaseException:
        client.cancel(futures)
        raise


def _send(
    spec: CellSpec,
    rows: LocalRows,
    place: IntArray,
    inside: IntArray,
    stream: Stream,
    ends: float | None,
) -> Any:
    """The rows of a branch to a worker; a future of what it makes of them."""
    table: Table = rows.X
    places, pieces = table.sent(inside, take, None)
    own = place[inside]
    return table.client.submit(
        _fit_branch,
        spec,
        places,
        pieces,
        table.dtype,
        rows.targets[own],
        rows.weight[own],
        stream,
        ends,
        pure=False,
    )


def _fit_branch(
    spec: CellSpec,
    places: list[IntArray],
    pieces: list[FloatArray],
    dtype: Any,
    targets: FloatArray,
    weight: FloatArray,
    stream: Stream,
    ends: float | None,
) -> tuple[CellPart, float, int]:
    """On a worker: cut further, fit; the part, its objective, and how many cells were in time."""
    X = assemble(places, pieces, dtype)
    rows = LocalRows(X, np.arange(len(X)), targets, weight)
    deadline = Deadline.after(None if ends is None else max(0.0, ends - time.time()))
    plan = cut(X, rows.order, spec.size, spec.kernel.pairings[0].view, stream)
    progress = Progress(len(plan[1]))
    with roomy_heap(), ThreadPoolExecutor(1) as pool:
        part, objective = fit_partition(spec, rows, plan, deadline, progress, pool)
    return part, objective, progress.done


def _joined(spec: CellSpec, top: Any, parts: list[CellPart]) -> CellPart:
    """One part of the branches."""
    centers, coef = [], []
    for part in parts:
        centers += np.split(part.centers, part.starts[1:-1])
        coef += np.split(part.coef, part.starts[1:-1])
    tree = graft(top, [part.tree for part in parts])
    return CellPart(spec.kernel, tree, centers, coef)
