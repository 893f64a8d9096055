"""A series of ensembles: between fitting all coefficients and fitting one (SYB III-E, IV-B).

    F = F^1 + F^2 + ...,   F^k an ensemble of L learners fitted to what the sum before it leaves

Each is grown on its own, so memory and time stay those of L learners. For labels an ensemble looks
only at the rows whose margin `y F(x)` is below 1/2, at most 25,000 of the lowest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.model import AdditiveModel
from kboost.core.protocols import Fit
from kboost.core.stopping import INTERRUPTED, StopReason
from kboost.core.trace import Trace
from kboost.core.validation import ValidationMonitor
from kboost.formulations import TargetRows
from kboost.plans.least_squares import (
    SparseFit,
    SparseSpec,
    fit_rows,
    step_size,
    time_left,
)

LOW_MARGIN, MOST_ROWS = 0.5, 25_000
_ALL_DONE = StopReason("margins", "no row has a margin below 1/2; nothing is left to learn from.")


def fit_series(
    spec: SparseSpec,
    learners: int,
    candidates: CandidateColumns,
    rows: TargetRows,
    *,
    labels: bool,
    deadline: Deadline | None = None,
    watch: ValidationMonitor | None = None,
    listeners: Sequence[Listener] = (),
) -> SparseFit:
    """Ensembles of `learners` each until `spec.max_columns` basis vectors are there."""
    started = time.monotonic()
    deadline = Deadline.after(spec.max_seconds) if deadline is None else deadline
    q = rows.targets.shape[1]
    whole = SparseFit([], np.zeros((0, q)), np.zeros(q), 0.0, Trace(), _ALL_DONE)
    kept, lowest, since = whole, np.inf, 0
    decision, number, steps = rows.offset, 0, 0
    size = learners * step_size(spec)
    left = time_left(spec, deadline, size)
    while True:
        chosen = _looked_at(rows.targets, decision, labels=labels)
        if not len(chosen):
            whole = replace(whole, reason=_ALL_DONE)
            break
        room = spec.max_columns - len(whole.coef)
        inner = replace(
            spec,
            max_columns=min(size, room),
            max_iter=spec.max_iter - steps,
            fit_intercept=spec.fit_intercept and number == 0,
            seed=spec.seed + number,
        )
        here = TargetRows(rows.targets[chosen], rows.sample_weight[chosen], decision[chosen])
        before = time.monotonic() - started
        left = replace(left, columns=len(whole.coef), steps=steps, seconds=before)
        fitted = fit_rows(
            inner, candidates.subset(chosen), here, deadline, listeners=listeners, left=left
        )
        whole = _joined(whole, fitted, before)
        model = AdditiveModel.assemble(list(fitted.hypotheses), fitted.coef, fitted.bias)
        decision = decision + model.decision(candidates.rows(slice(0, candidates.n_rows)))
        number, steps = number + 1, steps + len(fitted.trace) - 1
        if watch is not None:
            error = watch.error(whole.hypotheses, _as_fit(whole))
            since = 0 if error < lowest else since + 1
            if since == 0:
                kept, lowest = whole, error
            if since >= spec.n_iter_no_change:
                words = f"the validation error was not improved in {since} ensembles."
                whole = replace(whole, reason=StopReason("validation", words))
                break
        if fitted.reason is INTERRUPTED or fitted.reason.rule not in ("max_columns", "max_iter"):
            break
        if len(whole.coef) >= spec.max_columns or steps >= spec.max_iter:
            name = "max_columns" if len(whole.coef) >= spec.max_columns else "max_iter"
            words = f"{name}={getattr(spec, name)} reached; raise {name}."
            whole = replace(whole, reason=StopReason(name, words))
            break
    if watch is None:
        return whole
    return replace(kept, trace=whole.trace, reason=whole.reason)


def _looked_at(targets: FloatArray, decision: FloatArray, *, labels: bool) -> IntArray:
    """The rows the next ensemble learns from, in their order."""
    if not labels:
        return np.arange(len(targets))
    margin = np.min(targets * decision, axis=1)
    low: BoolArray = margin < LOW_MARGIN
    chosen = np.flatnonzero(low)
    if len(chosen) > MOST_ROWS:
        lowest = np.argsort(margin[chosen], kind="stable")[:MOST_ROWS]
        chosen = np.sort(chosen[lowest])
    return chosen


def _joined(whole: SparseFit, new: SparseFit, before: float) -> SparseFit:
    """The sum with one more ensemble, whose fit began `before` seconds after the start."""
    steps, columns = max(0, len(whole.trace) - 1), len(whole.coef)
    later = [
        replace(
            step,
            iteration=step.iteration + steps,
            n_columns=step.n_columns + columns,
            seconds=step.seconds + before,
        )
        for step in list(new.trace)[1 if whole.trace else 0 :]  # it starts where the last ended
    ]
    return SparseFit(
        [*whole.hypotheses, *new.hypotheses],
        np.concatenate([whole.coef, new.coef]),
        whole.bias + new.bias,
        new.objective,
        Trace([*whole.trace, *later]),
        new.reason,
    )


def _as_fit(whole: SparseFit) -> Fit:
    none = np.zeros(0)
    return Fit(whole.coef, whole.bias, none, none, whole.objective)
