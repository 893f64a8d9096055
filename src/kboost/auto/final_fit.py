"""The final fit: each member on all rows, then their weighted sum as one additive model.

Without a limit on the columns a member is kernel ridge regression: one problem up to ONE_CELL
distinct rows, cells of CELL rows above. With a limit it is a joint fit on few basis vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.auto.search import CELL, ONE_CELL
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.model import AdditiveModel
from kboost.data.indexed_rows import IndexedRows
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear
from kboost.plans.least_squares import fit
from kboost.plans.sparse import InMemory, SparseData, SparsePlan, SparseResult
from kboost.settings import Cells, Joint, MaxResidual

_BUDGET = 1 << 30


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
    """Fit the members one after another; each gets an equal share of the time left."""
    data = SparseData(rows, InMemory(X, n_jobs))
    results = []
    for position, member in enumerate(members):
        plan = _plan(member, len(rows.center_rows), X.shape[1], labels, max_columns, random_state)
        until = deadline.share(len(members) - position)
        results.append(fit(plan, data, until, listeners))
    return _summed(results, [member.weight for member in members])


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
    """The weighted sum of fitted models, as one model."""
    if len(results) == 1 and weights[0] == 1.0:
        return results[0]
    parts: list[Any] = [
        part.scaled(weight)  # type: ignore[attr-defined]
        for result, weight in zip(results, weights, strict=True)
        for part in result.model.parts
    ]
    pairs = zip(results, weights, strict=True)
    bias = np.sum([weight * result.model.bias for result, weight in pairs], axis=0)
    reasons = [result.reason for result in results]
    worst = next((r for r in reasons if r.rule in ("max_seconds", "interrupted")), reasons[0])
    n_cells = [result.n_cells for result in results if result.n_cells is not None]
    return replace(
        results[0],
        model=AdditiveModel(tuple(parts), bias),
        kernels=[kernel for result in results for kernel in result.kernels],
        objective=None,
        reason=worst,
        n_cells=sum(n_cells) if n_cells else None,
        choice=None,
    )
