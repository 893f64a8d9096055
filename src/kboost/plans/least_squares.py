"""The fit of a sparse kernel machine: hold out rows, choose kernels and ridge, fit, report.

    minimise  sum_i w_i loss(y_i, f(x_i)) + ridge/2 |f|^2     over f in the span of a growing basis

The basis grows by column generation (plans/basis.py), in a series of ensembles (plans/series.py)
or inside cells (plans/cells.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import Deadline
from kboost.core.iterate import FirstModel, Listener
from kboost.core.model import AdditiveModel
from kboost.core.outputs import until_interrupted
from kboost.core.stopping import StopReason
from kboost.core.validation import ValidationMonitor
from kboost.data.indexed_rows import IndexedRows
from kboost.data.kernel_checks import nugget_of, sample_rows
from kboost.data.units import safe_unit
from kboost.formulations import TargetRows
from kboost.kernels.base import Kernel
from kboost.local.choice import LocalChoice
from kboost.plans.basis import BasisFit, BasisPlan, grow_basis
from kboost.plans.cells import cell_settings, fit_in_cells
from kboost.plans.column_count import COUNTING, FEWEST, MOST, loss_monitor, with_columns
from kboost.plans.probabilities import calibrated
from kboost.plans.series import fit_series
from kboost.plans.sparse import SparseData, SparsePlan, SparseResult, as_float64
from kboost.selection.kernels import ROWS, choose, sample_size
from kboost.settings import Joint, Series
from kboost.solvers.threads import blas_threads_for

_COLUMNS = 20.0  # default limit: times the square root of the rows
_NO_LIMIT = 10**9  # steps
_SAFE = 1e100  # size of targets: products of their squares with weights and kernels are finite
CHOICE_CUT_SHORT = "max_seconds cut the choice of kernels and ridge short."


def fit(
    plan: SparsePlan, data: SparseData, deadline: Deadline, listeners: Sequence[Listener] = ()
) -> SparseResult:
    """Run the plan; Ctrl-C before there is a model is raised, later it is the reason.

    Ctrl-C while kernels and ridge are chosen takes the best so far and makes one step with them.
    Targets whose squares would overflow or vanish are fitted in a unit of their size; the trace is
    in that unit.
    """
    unit = safe_unit(data.rows.targets, _SAFE)
    if unit == 1.0:
        return _fit(plan, data, deadline, listeners)
    rows = replace(data.rows, targets=data.rows.targets / unit)
    result = _fit(plan, replace(data, rows=rows), deadline, listeners)
    parts: list[Any] = [part.scaled(unit) for part in result.model.parts]  # type: ignore[attr-defined]
    objective = result.objective
    return replace(
        result,
        model=AdditiveModel(tuple(parts), result.model.bias * unit),
        objective=None if objective is None else float(objective) * unit * unit,
    )


def _fit(
    plan: SparsePlan, data: SparseData, deadline: Deadline, listeners: Sequence[Listener]
) -> SparseResult:
    rng = check_random_state(plan.random_state)
    seed = int(rng.randint(2**31 - 1))
    rows = data.rows
    cells = cell_settings(plan, data.location.X, len(rows.center_rows))
    if cells is not None:
        result, chosen = fit_in_cells(plan, data, cells, seed, deadline, listeners)
        return result if chosen else _cut_short(result)
    with blas_threads_for(len(rows.order)):
        rows, held_out = _split(plan, rows, rng)
        until = deadline.share(2)
        size = sample_size(plan.kernels, plan.ridge, until)
        sample = data.sample(plan, rows, seed, size)
        choice, interrupted = until_interrupted(
            lambda: choose(plan.kernels, plan.ridge, sample, until), until
        )
        candidates = _candidates(plan, data, choice.kernels, rows)
        basis_plan = _basis_plan(plan, choice.ridge, candidates, seed)
        if _counts_columns(plan, rows) and not interrupted:
            until = deadline.share(COUNTING)
            basis_plan, interrupted = until_interrupted(
                lambda: with_columns(plan, basis_plan, data, rows, choice.kernels, until), until
            )
        listeners = [*listeners, FirstModel()] if interrupted else listeners
        monitor = None if held_out is None else loss_monitor(plan, data, held_out)
        problem = TargetRows.of(rows.targets, rows.weight)
        basis_fit = _grow(plan, basis_plan, candidates, problem, deadline, monitor, listeners)
    if not basis_fit.trace:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    result = _result(candidates, choice.ridge, basis_fit)
    if choice.errors:
        recorded = LocalChoice(choice.kernels[0], choice.ridge, "learned", dict(choice.errors))
        result = replace(result, choice=recorded)
    if plan.needs_calibration:
        result = calibrated(plan, data, rows, result, deadline)
    chosen = choice.finished and len(sample.weight) == min(ROWS, len(rows.order))
    return result if chosen or interrupted else _cut_short(result)


def _split(
    plan: SparsePlan, rows: IndexedRows, rng: np.random.RandomState
) -> tuple[IndexedRows, IndexedRows | None]:
    """The training rows and the held-out rows, if there are any."""
    if plan.early_stopping is None:
        return rows, None
    fraction = plan.early_stopping.validation_fraction
    if fraction is None:
        raise ValueError(
            "early_stopping requires a validation_fraction here; got validation_fraction=None."
        )
    training, held_out = rows.hold_out(fraction, rng, labels=plan.labels)
    if not len(held_out.order):
        raise ValueError(
            "early_stopping must hold out at least one row; "
            f"got a validation_fraction of {fraction!r} of {len(rows.center_rows)} distinct rows."
        )
    return training, held_out


def _candidates(
    plan: SparsePlan, data: SparseData, kernels: Sequence[Kernel], rows: IndexedRows
) -> CandidateColumns:
    centers = rows.order[rows.center_rows]
    nugget = _nugget(plan, data, kernels, rows)
    return data.location.candidates(kernels, rows, plan.points(centers), nugget)


def _nugget(
    plan: SparsePlan, data: SparseData, kernels: Sequence[Kernel], rows: IndexedRows
) -> list[float]:
    """What rounding adds to the diagonal of precomputed matrices, one value per kernel."""
    centers = rows.order[rows.center_rows]
    tested = centers[sample_rows(len(centers))]
    points = plan.points(tested)
    if points is None:
        return []
    X = data.location.X
    limit = _max_columns(plan, len(kernels) * len(centers), len(rows.order))
    size, single = min(len(centers), limit), X.dtype == np.float32
    values = as_float64(X[tested])
    return [nugget_of(kernel, values, points, size, single=single) for kernel in kernels]


def _counts_columns(plan: SparsePlan, rows: IndexedRows) -> bool:
    """Whether held-out rows choose the number of columns."""
    return (
        plan.max_columns is None
        and plan.early_stopping is None
        and not plan.is_precomputed
        and isinstance(plan.update, Joint)
        and getattr(plan.update, "series", None) is None
        and FEWEST <= len(rows.center_rows) <= MOST
    )


def _max_columns(plan: SparsePlan, n_columns: int, n_rows: int) -> int:
    if plan.max_columns is not None:
        return plan.max_columns
    return int(min(n_columns, np.ceil(_COLUMNS * np.sqrt(n_rows))))


def _basis_plan(
    plan: SparsePlan, ridge: float, candidates: CandidateColumns, seed: int
) -> BasisPlan:
    stopping = plan.early_stopping
    return BasisPlan(
        selection=plan.selection,
        update=plan.update,
        loss=plan.loss,
        ridge=ridge,
        intercept=plan.intercept,
        max_columns=_max_columns(plan, candidates.n_columns, candidates.n_rows),
        max_iter=_NO_LIMIT if plan.max_iter is None else plan.max_iter,
        n_iter_no_change=1 if stopping is None else stopping.n_iter_no_change,
        memory_budget=plan.memory_budget,
        seed=seed,
    )


def _grow(
    plan: SparsePlan,
    basis_plan: BasisPlan,
    candidates: CandidateColumns,
    problem: TargetRows,
    deadline: Deadline,
    monitor: ValidationMonitor | None,
    listeners: Sequence[Listener],
) -> BasisFit:
    series = Series.of(getattr(plan.update, "series", None))
    if series is None:
        return grow_basis(basis_plan, candidates, problem, deadline, monitor, listeners)
    return fit_series(
        basis_plan,
        series,
        candidates,
        problem,
        labels=plan.labels,
        deadline=deadline,
        monitor=monitor,
        listeners=listeners,
    )


def _result(candidates: CandidateColumns, ridge: float, basis_fit: BasisFit) -> SparseResult:
    return SparseResult(
        model=AdditiveModel.assemble(list(basis_fit.hypotheses), basis_fit.coef, basis_fit.bias),
        kernels=candidates.kernels,
        no_centers=candidates.points(np.zeros(0, dtype=np.intp)),
        ridge=ridge,
        objective=basis_fit.objective,
        reason=basis_fit.reason,
        trace=basis_fit.trace,
        n_iter=max(1, len(basis_fit.trace) - 1),
    )


def _cut_short(result: SparseResult) -> SparseResult:
    message = f"{result.reason.message} {CHOICE_CUT_SHORT}"
    return replace(result, reason=StopReason(result.reason.rule, message))
