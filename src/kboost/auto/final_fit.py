"""The final fit: each member on all rows, then their weighted sum as one additive model.

Without a limit on the columns a member is kernel ridge regression: one problem up to ONE_CELL
distinct rows, cells of CELL rows above. With a limit it is a joint fit on few basis vectors.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.auto.search import CELL, ONE_CELL
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopReason
from kboost.data.indexed_rows import IndexedRows
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear
from kboost.plans.least_squares import fit
from kboost.plans.sparse import InMemory, SparseData, SparsePlan, SparseResult
from kboost.settings import Cells, Joint, MaxResidual

_BUDGET = 1 << 30
FITTED = StopReason("fitted", "every member is fitted.")
CUT_SHORT = (INTERRUPTED.rule, OUT_OF_TIME.rule, "callback")  # rules that end a fit early


@dataclass(frozen=True)
class Member:
    """A kernel and a ridge with their weight in the sum."""

    kernel: Kernel
    ridge: float
    weight: float


def fit_members(
    members: Sequence[Member],
    X: Any,
    rows: IndexedRows,
    *,
    labels: bool,
    max_columns: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> SparseResult:
    """Fit the members one after another; each gets an equal share of the time left.

    If time or Ctrl-C ends the fit, the members that are complete are the model; without any, the
    first one as far as it came.
    """
    data = SparseData(rows, InMemory(X, n_jobs))
    plans = [
        _plan(member, len(rows.center_rows), X.shape[1], labels, max_columns, random_state)
        for member in members
    ]
    fits = MemberFits(plans, data, deadline, listeners)
    reason = iterate(fits, deadline=deadline, level=logging.DEBUG)
    if not fits.results:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    complete = [r for r in fits.results if r.reason.rule not in CUT_SHORT] or fits.results[:1]
    weights = [m.weight for m, r in zip(members, fits.results, strict=False) if r in complete]
    reasons = [reason, *[r.reason for r in fits.results]]
    first = next((r for r in reasons if r.rule in CUT_SHORT), fits.results[0].reason)
    return replace(_summed(complete, weights), reason=first)


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
        until = self._deadline.share(len(self._plans) - position)
        result = fit(self._plans[position], self._data, until, self._listeners)
        self.results.append(result)
        if result.reason.rule in CUT_SHORT and result.reason.rule != OUT_OF_TIME.rule:
            return result.reason
        return f"member {position + 1} of {len(self._plans)} fitted"


def _plan(
    member: Member, n_rows: int, n_features: int, labels: bool, max_columns: int | None, state: Any
) -> SparsePlan:
    cells: Cells | None = Cells(n_rows if n_rows <= ONE_CELL else CELL)
    if max_columns is None and isinstance(member.kernel, Linear):
        max_columns = n_features + 1  # they span all linear functions
    if max_columns is not None:
        cells = None
    return SparsePlan(
        kernels=[member.kernel],
        ridge=member.ridge,
        loss="squared",
        selection=MaxResidual(),
        update=Joint(),
        cells=cells,
        intercept=True,
        max_columns=max_columns,
        max_iter=None,
        early_stopping=None,
        memory_budget=_BUDGET,
        random_state=state,
        labels=labels,
    )


def _summed(results: Sequence[SparseResult], weights: Sequence[float]) -> SparseResult:
    """The weighted mean of fitted models, as one model."""
    if len(results) == 1:
        return results[0]
    shares = (np.array(weights) / sum(weights)).tolist()
    parts: list[Any] = [
        part.scaled(share)  # type: ignore[attr-defined]
        for result, share in zip(results, shares, strict=True)
        for part in result.model.parts
    ]
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
