"""A sparse kernel machine fitted in cells: whether, with which metric and ridge, and the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost.core.deadline import Deadline
from kboost.core.iterate import FirstModel, Listener
from kboost.core.model import AdditiveModel
from kboost.core.outputs import until_interrupted
from kboost.core.trace import Trace
from kboost.data.indexed_rows import IndexedRows
from kboost.data.kernel_checks import check_psd
from kboost.local.cell import CellPlan, columns_per_cell, memory_of_cell
from kboost.local.choice import LocalChoice, choose_local, choose_local_ridge, given
from kboost.local.rows import LocalRows
from kboost.plans.probabilities import calibrated_in_cells
from kboost.plans.shared_basis import NOTHING_SHARED, fit_shared
from kboost.plans.sparse import SparseData, SparsePlan, SparseResult
from kboost.selection.kernels import ROWS, choose, sample_size
from kboost.settings import Cells, Joint, MatchingPursuit, MaxResidual, SteepestDescent
from kboost.settings.sparse_kernel import SELECTIONS, Selection, short_form
from kboost.solvers.threads import one_blas_thread

AUTO, AUTO_ROWS = Cells(), 20_000  # cells="auto": these cells, from so many distinct rows on


def cell_settings(plan: SparsePlan, X: Any, n_rows: int) -> Cells | None:
    """The cells for so many distinct rows; None for no cells.

    "auto" takes no cells where a number would raise an error.
    """
    if plan.cells is None or (plan.cells == "auto" and n_rows < AUTO_ROWS):
        return None
    cells = AUTO if isinstance(plan.cells, str) else plan.cells
    problem = _conflict(plan, cells, X) or _memory_problem(plan, cells, n_rows)
    if problem is None:
        return cells
    if plan.cells == "auto":
        return None
    raise ValueError(problem)


def _conflict(plan: SparsePlan, cells: Cells, X: Any) -> str | None:
    """The first thing that a fit in cells requires and the plan does not have; None if none."""
    selections: list[Selection] = [MaxResidual()]
    words = "'max-res' unless columns are limited"
    if cells.columns_per_cell is not None or plan.max_columns is not None:
        selections += [MatchingPursuit(), SteepestDescent()]
        words = "'max-res', 'mp' or 'boost'"
    requirements = (
        (plan.loss == "squared", "loss='squared'", f"loss={plan.loss!r}"),
        (plan.update == Joint(), "update='joint'", f"update={plan.update!r}"),
        (plan.selection in selections, f"selection={words}", f"selection={plan.selection!r}"),
        (
            plan.early_stopping is None,
            "early_stopping=None",
            f"early_stopping={plan.early_stopping!r}",
        ),
        (not plan.is_precomputed, "kernels that are not precomputed", f"kernels={plan.kernels!r}"),
        (not issparse(X), "a dense X", "a sparse X"),
    )
    broken = (f"cells require {rule}; got {given}." for met, rule, given in requirements if not met)
    return next(broken, None)


def _memory_problem(plan: SparsePlan, cells: Cells, n_rows: int) -> str | None:
    """The budget must hold the kernel values of a cell."""
    size = min(cells.size, n_rows)
    fewest = cells.partitions * -(-n_rows // size)
    needed = memory_of_cell(size, columns_per_cell(cells, plan.max_columns, fewest))
    if needed <= plan.memory_budget:
        return None
    return (
        f"memory_budget must hold the kernel values of a cell, {needed} bytes for {size} rows; "
        f"got memory_budget={plan.memory_budget!r} and cells={plan.cells!r}."
    )


def fit_in_cells(
    plan: SparsePlan,
    data: SparseData,
    cells: Cells,
    seed: int,
    deadline: Deadline,
    listeners: Sequence[Listener],
) -> tuple[SparseResult, bool]:
    """Choose metric and ridge, fit the cells; False if time cut the choice short."""
    rows, constant = data.rows.by_center()
    rng = np.random.default_rng(seed)
    share = rows.weight / rows.weight.sum()
    bias = share @ rows.targets if plan.intercept else np.zeros(rows.targets.shape[1])
    X = data.location.X
    local = LocalRows(X, rows.order, rows.targets - bias, rows.weight)
    with one_blas_thread():  # cells are small
        half = deadline.share(2)
        (choice, chosen), interrupted = until_interrupted(
            lambda: _choose(plan, data, rows, local, cells.size, seed, rng, half), half
        )
    ridge = choice.ridge if isinstance(plan.ridge, str) else plan.ridge
    shared, count, most = NOTHING_SHARED, cells.shared_columns, plan.max_columns
    if count is not None and most is not None and count >= most:
        raise ValueError(
            f"shared_columns must be less than max_columns; got shared_columns={count} and "
            f"max_columns={most}."
        )
    if count is not None and not interrupted:
        shared = fit_shared(
            plan, data, rows, local.targets, choice.kernel, ridge, count, seed, deadline
        )
    interrupted = interrupted or shared.interrupted
    listeners = [*listeners, FirstModel()] if interrupted else listeners
    residual = replace(local, targets=local.targets - shared.values)
    with one_blas_thread():
        rule = short_form(plan.selection, SELECTIONS)
        most = None if most is None else most - (count or 0)
        cell_plan = CellPlan(cells, choice.kernel, ridge, most, rule)
        fitted = data.location.fit_cells(cell_plan, residual, rng, deadline, listeners)
    result = SparseResult(
        model=AdditiveModel((*fitted.parts, *shared.parts), bias),
        kernels=(choice.kernel,),
        no_centers=X[:0],
        ridge=ridge,
        objective=fitted.objective + shared.penalty + constant,
        reason=fitted.reason,
        trace=Trace(),
        n_iter=1,
        n_cells=fitted.n_cells,
        choice=choice,
    )
    if plan.needs_calibration and not interrupted:
        result = calibrated_in_cells(result, local, bias, cells.size, seed, deadline)
    return result, chosen or interrupted


def _choose(
    plan: SparsePlan,
    data: SparseData,
    rows: IndexedRows,
    local: LocalRows,
    size: int,
    seed: int,
    rng: np.random.Generator,
    deadline: Deadline,
) -> tuple[LocalChoice, bool]:
    """The kernel and the ridge of the cells, and whether there was time to finish the choice."""
    if isinstance(plan.kernels, str) and plan.kernels == "auto":
        return choose_local(local, size, rng, data.location.executor(), deadline)
    half = deadline.share(2)
    sample = data.sample(plan, rows, seed, sample_size(plan.kernels, 1.0, half))
    choice_of_kernels = choose(plan.kernels, 1.0, sample, half)
    kernels, finished = choice_of_kernels.kernels, choice_of_kernels.finished
    finished = finished and len(sample.weight) == min(ROWS, len(rows.order))
    check_psd(kernels)
    if not isinstance(plan.ridge, str):
        return given(kernels, plan.ridge), finished
    choice, in_time = choose_local_ridge(local, size, kernels, rng, deadline)
    return choice, in_time and finished
