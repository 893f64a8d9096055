"""The final fit: each member on all rows, then their weighted sum as one additive model.

Without a limit on the columns a member is fitted by an engine (auto/engine.py chooses it); with a
limit it is a joint fit on few basis vectors.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.auto.scored_candidate import ScoredCandidate
from kboost.columns.cells import CellPart
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.exceptions import OutOfTimeError
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear
from kboost.metric.folds import LearningRows
from kboost.plans.least_squares import fit
from kboost.plans.sparse import SparseData, SparsePlan, SparseResult, location_of
from kboost.settings import Cells, Joint, MaxResidual, Random
from kboost.settings.sparse_kernel import Selection

ONE_CELL = 6000  # rows up to which one least-squares problem holds all of them
CELL = 4000  # rows per cell above that
_BUDGET = 1 << 30
FITTED = StopReason("fitted", "every member is fitted.")
CUT_SHORT = {  # what ends a fit early
    INTERRUPTED.rule: "interrupted: {} are fitted.",
    OUT_OF_TIME.rule: "max_seconds reached: {} are fitted; raise max_seconds.",
    "callback": "a callback requested the stop: {} are fitted.",
}
HURRIED, _AT_ONCE = 2000, 500  # rows of the model, without time for all; under a second
_SAFE = 0.8  # of the time that is left for rows whose seconds are estimated
CELL_SECONDS = 0.5  # that a cell of more rows takes: with less time none is begun


@dataclass(frozen=True)
class Engine:
    """How a member is fitted to all rows: in cells, or with some columns."""

    name: str
    cells: Cells | None = None  # None with columns
    columns: int | None = None


ONE_PROBLEM = Engine("one problem", Cells(1 << 40))
CELLS = Engine("cells", Cells(CELL))
OVERLAPPING = Engine("overlapping cells", Cells(CELL, overlap=1.0))
FEW_COLUMNS = Engine("one problem of few columns", columns=3000)


def default_engine(n_rows: int) -> Engine:
    """The engine for `n_rows` distinct rows, without evidence."""
    return ONE_PROBLEM if n_rows <= ONE_CELL else CELLS


@dataclass(frozen=True)
class Member:
    """A kernel and a ridge with their weight in the sum."""

    kernel: Kernel
    ridge: float
    weight: float


def members_of(candidate: ScoredCandidate, learning: LearningRows) -> list[Member]:
    """The members of a candidate, with kernels for these rows."""
    reference = learning.reference()
    return [Member(each.kernel(*reference), each.ridge, part) for each, part in candidate.members]


def fit_members(
    members: Sequence[Member],
    X: Any,
    rows: IndexedRows,
    *,
    labels: bool,
    max_columns: int | None = None,
    engine: Engine | None = None,
    all_columns: bool = True,
    random_state: Any = 0,
    n_jobs: int | None = None,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
    hurry: bool | None = None,
) -> SparseResult:
    """Fit the members one after another; the model is their weighted mean.

    If time or Ctrl-C ends the fit, the model has the members that are complete. If there are none:

    with `hurry`      the first member is fitted to a small sample of the rows, unless it has half
                      of `max_columns` already
    without `hurry`   (the default with `max_columns`) the model is the part of the first member
                      that was fitted; if there is none, Ctrl-C or the end of the time is raised
    """
    hurry = max_columns is None if hurry is None else hurry
    data = SparseData(rows, location_of(X, n_jobs))
    n_rows, width = len(rows.center_rows), X.shape[1]
    engine = engine or default_engine(n_rows)
    plans = [_plan(m, engine, width, labels, max_columns, random_state) for m in members]
    if not all_columns:
        plans = [replace(plan, cells=None) for plan in plans]
    fits = MemberFits(plans, data, deadline, listeners)
    reason = iterate(fits, deadline=deadline, level=logging.DEBUG)
    complete = [p for p, r in enumerate(fits.results) if r.reason.rule not in CUT_SHORT]
    if len(complete) == len(members):
        return _mean(fits.results, members)
    reason = next((r.reason for r in fits.results if r.reason.rule in CUT_SHORT), reason)
    if complete:
        result = _mean([fits.results[p] for p in complete], [members[p] for p in complete])
        return _cut(result, reason, f"{len(complete)} of {len(members)} members")
    n_found = fits.results[0].model.n_columns if fits.results else 0
    if hurry and (max_columns is None or 2 * n_found < max_columns):
        few = first_rows(rows, _hurried(deadline))
        n_few = len(few.center_rows)
        plan = _plan(members[0], ONE_PROBLEM, width, labels, max_columns, random_state)
        plan = plan if max_columns is None else replace(plan, selection=Random())
        result = fit(plan, replace(data, rows=few), NO_LIMIT)
        fitted = f"{n_few:,} of {n_rows:,} distinct rows" if n_few < n_rows else "all rows"
        return _cut(result, reason, fitted)
    if fits.results:
        return fits.results[0]
    if reason.rule == OUT_OF_TIME.rule:
        raise OutOfTimeError("the time limit is reached.")
    raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")


def fit_in_time(
    members: Sequence[Member],
    X: Any,
    rows: IndexedRows,
    *,
    row_seconds: float,
    deadline: Deadline,
    **options: Any,
) -> SparseResult:
    """Fit the members and rows that there is time for, by the seconds per row and member.

    Members of large weight come first; with too little time for one of them, it learns from some
    rows.
    """
    n_rows = len(rows.center_rows)
    seconds_left, each = _SAFE * deadline.remaining, row_seconds * n_rows
    if each * len(members) <= seconds_left or not deadline.remaining:
        return fit_members(members, X, rows, deadline=deadline, **options)
    by_weight = sorted(members, key=lambda member: -member.weight)
    kept = by_weight[: max(1, int(seconds_left / each))]
    fitted = f"{len(kept)} of {len(members)} members"
    if each > seconds_left:
        rows = first_rows(rows, max(HURRIED, int(seconds_left / row_seconds)))
        fitted = f"{len(rows.center_rows):,} of {n_rows:,} distinct rows"
    result = fit_members(kept, X, rows, deadline=deadline, **options)
    return result if result.reason.rule in CUT_SHORT else _cut(result, OUT_OF_TIME, fitted)


def _hurried(deadline: Deadline) -> int:
    """The rows of a model that has no time; under a short limit they must take almost none."""
    return HURRIED if (deadline.limit or 1.0) >= 1.0 else min(HURRIED, _AT_ONCE)


def first_rows(rows: IndexedRows, count: int) -> IndexedRows:
    """The rows of the first distinct x; their order is random."""
    starts = np.append(rows.center_rows, len(rows.order))
    end = int(starts[min(count, len(rows.center_rows))])
    return rows.take(np.arange(len(rows.order)) < end)


def _cut(result: SparseResult, reason: StopReason, fitted: str) -> SparseResult:
    """A result with the rule that ended the fit early, and what is fitted."""
    return replace(result, reason=StopReason(reason.rule, CUT_SHORT[reason.rule].format(fitted)))


class MemberFits(Method[str]):
    """One step fits one member to all rows."""

    def __init__(
        self,
        plans: Sequence[SparsePlan],
        data: SparseData,
        deadline: Deadline,
        listeners: Sequence[Listener],
    ) -> None:
        self._plans, self._data = plans, data
        self._deadline, self._listeners = deadline, listeners
        self.results: list[SparseResult] = []
        self.trace: list[str] = []

    def advance(self) -> str | StopReason:
        """Fit the next member."""
        position = len(self.results)
        if position == len(self._plans):
            return FITTED
        plan = self._plans[position]
        many = len(self._data.rows.center_rows) > HURRIED
        least = CELL_SECONDS if many and position == 0 else 0.0
        if plan.max_columns is None and self._deadline.remaining <= least:
            return OUT_OF_TIME  # cells would be cut before the first one is late
        result = fit(plan, self._data, self._deadline, self._listeners)
        self.results.append(result)
        if result.reason.rule in CUT_SHORT:
            return result.reason
        return f"member {position + 1} of {len(self._plans)} fitted"


def _plan(
    member: Member,
    engine: Engine,
    n_features: int,
    labels: bool,
    max_columns: int | None,
    state: Any,
) -> SparsePlan:
    cells = engine.cells
    selection: Selection = MaxResidual()
    if max_columns is None and isinstance(member.kernel, Linear):
        max_columns = n_features + 1  # they span all linear functions
    elif max_columns is None and engine.columns is not None:
        max_columns, selection = engine.columns, Random()
    if max_columns is not None:
        cells = None
    return SparsePlan(
        kernels=[member.kernel],
        ridge=member.ridge,
        loss="squared",
        selection=selection,
        update=Joint(),
        cells=cells,
        intercept=True,
        max_columns=max_columns,
        max_iter=None,
        early_stopping=None,
        memory_budget=_BUDGET,
        random_state=state,
        labels=labels,
        calibrate=False,
    )


def _mean(results: Sequence[SparseResult], members: Sequence[Member]) -> SparseResult:
    """The weighted mean of fitted models, as one model."""
    if len(results) == 1:
        return results[0]
    weights = np.array([member.weight for member in members])
    shares = (weights / weights.sum()).tolist()
    parts: list[Any] = [
        part.scaled(share)  # type: ignore[attr-defined]
        for result, share in zip(results, shares, strict=True)
        for part in result.model.parts
    ]
    _share_centers(parts)
    pairs = zip(results, shares, strict=True)
    bias = np.sum([share * result.model.bias for result, share in pairs], axis=0)
    n_cells = [result.n_cells for result in results if result.n_cells is not None]
    return replace(
        results[0],
        model=AdditiveModel(tuple(parts), bias),
        kernels=[kernel for result in results for kernel in result.kernels],
        objective=None,
        n_cells=sum(n_cells) if n_cells else None,
        choice=None,
    )


def _share_centers(parts: Sequence[Any]) -> None:
    """Keep equal arrays of centres, which are most of a model, in memory and in pickles once."""
    distinct: list[Any] = []
    for part in parts:
        if not isinstance(part, CellPart):
            continue
        centers = part.centers
        same = (each for each in distinct if each.dtype == centers.dtype)
        equal = next((each for each in same if np.array_equal(each, centers)), None)
        if equal is None:
            distinct.append(centers)
        else:
            part.centers = equal
