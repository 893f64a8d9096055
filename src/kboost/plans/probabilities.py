"""Probabilities of the sparse kernel machines: a slope fitted to rows left out of a sample.

    p = 1 / (1 + exp(-a f))                          more classes: softmax of a f_k

The slope a needs few rows (selection/calibration.py), so the machine is fitted to a sample of them
once more, by all its rows or with the centres of the model where these are few, and each row is
left out in closed form (solvers/leave_one_out.py). In cells the sample is the neighbourhood of a
few rows, which is as dense as a cell. Rows of equal x are left out together.

Without time or after Ctrl-C the slope is that of `p = (1 + f) / 2` at f = 0, which holds for least
squares with targets -1 and 1: 2. A stream is calibrated on its first batch; later batches are rows
that the model has not seen yet, and the largest of them replaces it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from kboost._typing import FloatArray
from kboost.columns.cells import kernel_block
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED
from kboost.data.indexed_rows import IndexedRows
from kboost.exceptions import SolverError
from kboost.local.rows import LocalRows, cells_near
from kboost.plans.sparse import SparseData, SparsePlan, SparseResult, as_float64
from kboost.selection.calibration import Calibration, LeftOut, calibrate_on
from kboost.solvers.leave_one_out import left_out_values
from kboost.solvers.ridge import precision, ridge_left_out
from kboost.solvers.threads import one_blas_thread

ROWS, ROWS_OF_MANY_OUTPUTS = 1000, 500  # distinct rows of the sample
SLOPE = 2.0  # without rows
_ANCHORS, _NEIGHBOURS = 3, 1000  # in cells
_FEW_CENTERS = 4  # centres are few if there are so many rows of the sample for one
_JITTER = 1e-10  # of the diagonal


def calibrated(
    plan: SparsePlan, data: SparseData, rows: IndexedRows, result: SparseResult, deadline: Deadline
) -> SparseResult:
    """The result with its slope, from training rows."""

    def compute() -> LeftOut | None:
        sample = first_rows(rows, plan.loss)
        if len(sample.order) < 2:
            return None
        X = as_float64(data.location.X[sample.order])
        with one_blas_thread():
            K = _kernel_matrix(X, plan.points(sample.order), result)
            values = left_out_values(
                K,
                sample.targets,
                sample.weight,
                result.ridge,
                loss=plan.loss,
                offset=plan.intercept,
            )
        return by_class(values, sample.targets, sample.weight)

    return _with_calibration(result, compute, deadline)


def calibrated_in_cells(
    result: SparseResult,
    rows: LocalRows,
    bias: FloatArray,
    size: int,
    seed: int,
    deadline: Deadline,
) -> SparseResult:
    """The result of cells with its slope; `rows` are distinct, their targets without the bias."""
    kernel, ridge = result.kernels[0], result.ridge

    def compute() -> LeftOut | None:
        view, rng = kernel.pairings[0].view, np.random.default_rng(seed)
        splits = []
        with one_blas_thread():
            for cell in cells_near(rows, min(size, _NEIGHBOURS), view, rng, _ANCHORS):
                X, y, w = rows.X[rows.order[cell]], rows.targets[cell], rows.weight[cell]
                unit = float(np.max(kernel.diag(X), initial=0.0)) or 1.0
                K = kernel_block(kernel, X, X, precision(len(X), ridge / unit, w))
                values = y - ridge_left_out(K, y, w, ridge) + bias
                splits.append(by_class(values, y + bias, w))
        return LeftOut(
            np.concatenate([part.decision for part in splits]),
            np.concatenate([part.codes for part in splits]),
            np.concatenate([part.weight for part in splits]),
        )

    return _with_calibration(result, compute, deadline)


def calibrated_stream(
    plan: SparsePlan,
    data: SparseData,
    before: tuple[AdditiveModel, Calibration] | None,
    result: SparseResult,
) -> SparseResult:
    """The result of a stream with its slope; `before` is its state before the batch `data`."""
    if before is None:
        return calibrated(plan, data, data.rows, result, NO_LIMIT)
    model, calibration = before
    sample = first_rows(data.rows, "squared")
    if len(sample.order) < calibration.n_rows:
        return replace(result, calibration=calibration)

    def compute() -> LeftOut | None:
        values = model.decision(as_float64(data.location.X[sample.order]))
        return by_class(values, sample.targets, sample.weight)

    result = _with_calibration(result, compute, NO_LIMIT)
    present = result.calibration
    return (
        result
        if present is not None and present.held_out
        else replace(result, calibration=calibration)
    )


def first_rows(rows: IndexedRows, loss: str) -> IndexedRows:
    """The first distinct rows: their order is random, and depends on their content only."""
    closed_form = loss == "squared" or rows.targets.shape[1] == 1
    count = ROWS if closed_form else ROWS_OF_MANY_OUTPUTS
    starts = np.append(rows.center_rows, len(rows.order))
    end = int(starts[min(count, len(rows.center_rows))])
    return rows.take(np.arange(len(rows.order)) < end).by_center()[0]


def by_class(values: FloatArray, targets: FloatArray, weight: FloatArray) -> LeftOut:
    """Values (n, q) of distinct rows, once for each class that a row has.

    Targets are means of -1 and 1, so the weight of a class is that of its share.
    """
    shares = (1.0 + targets) / 2.0
    if targets.shape[1] == 1:
        shares = np.hstack([1.0 - shares, shares])
    rows, codes = np.nonzero(shares > 1e-9)
    decision = values[rows, 0] if values.shape[1] == 1 else values[rows]
    return LeftOut(decision, codes, (weight[:, None] * shares)[rows, codes])


def _with_calibration(result: SparseResult, compute: Any, deadline: Deadline) -> SparseResult:
    if result.reason.rule == INTERRUPTED.rule:
        return replace(result, calibration=Calibration(SLOPE, 0, held_out=False))
    calibration, reason = calibrate_on(compute, SLOPE, deadline)
    if reason.rule == INTERRUPTED.rule:
        result = replace(result, reason=reason)
    return replace(result, calibration=calibration)


def _kernel_matrix(X: Any, points: FloatArray | None, result: SparseResult) -> FloatArray:
    """The sum of the kernels between the rows, from the centres of the model where they are few."""
    n, total = X.shape[0], np.zeros((X.shape[0], X.shape[0]))
    parts: Any = result.model.parts
    centers = {part.kernel: part.centers for part in parts}
    for kernel in result.kernels:
        basis = centers.get(kernel)
        if points is not None or (basis is not None and _FEW_CENTERS * basis.shape[0] > n):
            K = kernel(X, X if points is None else points)
            total += (K + K.T) / 2
        elif basis is not None:
            total += _through(kernel, X, basis)
    return total


def _through(kernel: Any, X: Any, centers: Any) -> FloatArray:
    """`F Q^-1 F'` with the values F of the columns of the centres and their inner products Q."""
    Q = kernel(centers, centers)
    Q = (Q + Q.T) / 2 + _JITTER * (float(np.mean(np.diag(Q))) or 1.0) * np.eye(len(Q))
    try:
        root = np.linalg.cholesky(Q)
    except np.linalg.LinAlgError as error:
        raise SolverError("the centres are too close to each other.") from error
    half = solve_triangular(root, kernel(X, centers).T, lower=True)
    product: FloatArray = half.T @ half
    return product
