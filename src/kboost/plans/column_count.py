"""The number of basis vectors by what held-out rows gain from more of them.

A quarter of the rows is held out, a basis of the full size grows on the others, and the held-out
loss is recorded after every step; with few rows that is done several times. The least number within
half a percent of the lowest mean loss is taken, times the root of the ratio of the rows: more rows
carry more basis vectors, and 20 sqrt(n) is the limit. A trial costs less than a fit, and is made up
to a few thousand rows only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kboost.core.deadline import Deadline
from kboost.core.trace import Step
from kboost.core.validation import ValidationMonitor
from kboost.data.indexed_rows import IndexedRows
from kboost.formulations import TargetRows
from kboost.kernels.base import Kernel
from kboost.masters.losses import LOSSES
from kboost.plans.basis import BasisPlan, grow_basis
from kboost.plans.sparse import SparseData, SparsePlan

FEWEST, MOST = 80, 4000  # rows
_HELD_OUT = 0.25
_JUDGES = 400  # held-out rows of all trials
_MOST_TRIALS = 4
_NEAR = 1.005  # of the lowest loss
COUNTING = 4.0  # the share of the time left that the trials may take


def with_columns(
    plan: SparsePlan,
    basis_plan: BasisPlan,
    data: SparseData,
    rows: IndexedRows,
    kernels: tuple[Kernel, ...],
    deadline: Deadline,
) -> BasisPlan:
    """The plan with the least number of basis vectors almost as good on held-out rows as the most.

    Without time for all trials the plan stays as it is.
    """
    n, most = len(rows.center_rows), basis_plan.max_columns
    n_trials = min(_MOST_TRIALS, int(np.ceil(_JUDGES / (_HELD_OUT * n))))
    rng = np.random.RandomState(basis_plan.seed)
    trials: list[list[Step]] = []
    ratio = 1.0
    for _ in range(n_trials):
        training, held_out = rows.hold_out(_HELD_OUT, rng, labels=plan.labels)
        if not len(held_out.order) or not len(training.order):
            return basis_plan
        ratio = np.sqrt(len(training.center_rows) / n)
        candidates = data.location.candidates(kernels, training, None, [])
        limit = min(candidates.n_columns, int(np.ceil(most * ratio)))
        trial = replace(basis_plan, max_columns=limit, n_iter_no_change=basis_plan.max_iter)
        problem = TargetRows.of(training.targets, training.weight)
        monitor = loss_monitor(plan, data, held_out)
        trace = list(grow_basis(trial, candidates, problem, deadline, monitor, quiet=True).trace)
        if not trace or trace[-1].n_columns < limit:  # no time for all
            return basis_plan
        trials.append(trace)
    steps = list(zip(*trials, strict=False))
    errors = np.array([[step.validation_error for step in same] for same in steps]).mean(axis=1)
    if not np.isfinite(errors).all():
        return basis_plan
    chosen = steps[int(np.argmax(errors <= _NEAR * errors.min()))]
    count = max(step.n_columns for step in chosen)
    return replace(basis_plan, max_columns=min(most, max(1, int(np.ceil(count / ratio)))))


def loss_monitor(plan: SparsePlan, data: SparseData, held_out: IndexedRows) -> ValidationMonitor:
    """The mean of the plan's loss at these rows; squares are whole, not halved."""
    value, share = LOSSES[plan.loss].value, held_out.weight / held_out.weight.sum()
    factor = 2.0 if plan.loss == "squared" else 1.0
    return ValidationMonitor(
        data.location.held_out(held_out.order),
        lambda decision: factor * float(share @ value(held_out.targets, decision).sum(axis=1)),
    )
