"""`partial_fit` of the sparse kernel machines: rows come in batches and are not kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_random_state

from kboost._typing import FloatArray
from kboost.columns.hypothesis import KernelPart
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED, StopReason
from kboost.core.trace import Trace
from kboost.data.indexed_rows import indexed_rows
from kboost.kernels.rows import as_dense
from kboost.plans.sparse import SparsePlan, SparseResult
from kboost.selection.kernels import ROWS, SelectionSample, choose
from kboost.settings import ALD, RAN
from kboost.streaming.recursive_least_squares import RecursiveLeastSquares

MOST_COLUMNS = 1000  # of a stream without max_columns

Batch = tuple[Any, FloatArray, FloatArray]  # X, targets, weight


def add_batch(
    plan: SparsePlan,
    stream: RecursiveLeastSquares | None,
    batch: Batch,
    feature_names: Any = None,
    listeners: Sequence[Listener] = (),
) -> tuple[RecursiveLeastSquares, SparseResult]:
    """The stream with the batch added, and its model; None starts a stream.

    Kernels and ridge are chosen on the first batch. The stream given stays as it is.
    """
    if plan.is_precomputed:
        raise ValueError(
            "partial_fit requires kernels that can be evaluated at new rows; "
            "got kernels='precomputed'."
        )
    batch = _merged(*batch)
    stream = _start(plan, batch, feature_names) if stream is None else stream.copy()
    update = StreamUpdate(stream, [batch])
    reason = iterate(update, listeners=listeners)
    if reason is INTERRUPTED:
        raise KeyboardInterrupt("interrupted before the batch was added; nothing has changed.")
    return stream, _result(stream, _in_format_of(stream, batch[0][:0]), reason)


@dataclass(frozen=True)
class BatchStep:
    """The record of a batch."""

    iteration: int
    n_columns: int
    seconds: float

    def __str__(self) -> str:
        return f"batch {self.iteration:3d}  {self.n_columns:5d} columns  {self.seconds:.1f} s"


class StreamUpdate(Method[BatchStep]):
    """One step adds one batch to the stream."""

    def __init__(self, stream: RecursiveLeastSquares, batches: Sequence[Batch]) -> None:
        self._stream, self._batches = stream, iter(batches)
        self._started = time.monotonic()
        self.trace: list[BatchStep] = []

    def advance(self) -> BatchStep | StopReason:
        batch = next(self._batches, None)
        if batch is None:
            size = self._stream.size
            return StopReason("batch", f"the batch was added; the basis has {size} vectors.")
        self._stream.add(_in_format_of(self._stream, batch[0]), *batch[1:])
        seconds = time.monotonic() - self._started
        return BatchStep(self._stream.n_batches, self._stream.size, seconds)


def _merged(X: Any, targets: FloatArray, weight: FloatArray) -> Batch:
    """The batch in its order; equal rows are merged, rows without weight dropped."""
    rows = indexed_rows(X, targets, weight)
    order = np.argsort(rows.order)
    return X[rows.order[order]], rows.targets[order], rows.weight[order]


def _in_format_of(stream: RecursiveLeastSquares, X: Any) -> Any:
    """Dense or sparse, as the first batch was."""
    if issparse(X) == stream.is_sparse:
        return X
    return csr_matrix(X) if stream.is_sparse else as_dense(X)


def _start(plan: SparsePlan, batch: Batch, feature_names: Any) -> RecursiveLeastSquares:
    X, targets, weight = batch
    rng = check_random_state(plan.random_state)
    drawn = np.sort(rng.permutation(X.shape[0])[:ROWS])
    sample = SelectionSample(X[drawn], targets[drawn], weight[drawn], feature_names)
    choice = choose(plan.kernels, plan.ridge, sample)
    kernels, ridge = choice.kernels, choice.ridge
    test = plan.selection if isinstance(plan.selection, ALD | RAN) else ALD()
    return RecursiveLeastSquares(
        kernels,
        ridge,
        targets.shape[1],
        intercept=plan.intercept,
        useful=isinstance(test, RAN),
        threshold=test.threshold,
        max_columns=plan.max_columns or MOST_COLUMNS,
        is_sparse=bool(issparse(X)),
    )


def _result(stream: RecursiveLeastSquares, no_centers: Any, reason: StopReason) -> SparseResult:
    parts = []
    for p, kernel in enumerate(stream.kernels):
        centers, coef = stream.part(p)
        if centers is not None:
            parts.append(KernelPart(kernel, centers, coef, np.arange(len(coef))))
    return SparseResult(
        model=AdditiveModel(tuple(parts), stream.bias),
        kernels=stream.kernels,
        no_centers=no_centers,
        ridge=stream.ridge,
        objective=None,  # earlier rows are not kept
        reason=reason,
        trace=Trace(),
        n_iter=stream.n_batches,
    )
