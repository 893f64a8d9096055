"""The basis of a least-squares model grown by column generation: a table of parts.

    selection  columns_per_step  update    oracle            master
    any of six        1          full/one  forward, novelty  growing Cholesky: basis vectors
    any of six      S > 1        full/one  ensemble          growing Cholesky: base learners
    any of six       any         joint     ensemble          preconditioned CG: basis vectors

A series of ensembles is a chain of such fits; see plans/series.py.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost._typing import FloatArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.column_generation import grow
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener
from kboost.core.progress import TimeRemaining
from kboost.core.protocols import Hypothesis, Problem
from kboost.core.stopping import (
    EXHAUSTED,
    INTERRUPTED,
    OUT_OF_TIME,
    AnyOf,
    MaxColumns,
    MaxIterations,
    StopReason,
    StopRule,
    ValidationStall,
)
from kboost.core.trace import Trace
from kboost.core.validation import ValidationMonitor
from kboost.formulations import TargetRows
from kboost.masters.growing_cholesky import CholeskyMaster
from kboost.masters.losses import LOSSES
from kboost.masters.preconditioned_cg import PCGMaster
from kboost.oracles.ensemble import EnsembleOracle
from kboost.oracles.forward_selection import ForwardOracle
from kboost.oracles.online_novelty import NoveltyOracle
from kboost.settings import ALD, RAN, Joint, One
from kboost.settings.sparse_kernel import SELECTIONS, UPDATES, Selection, Update, short_form

_SMALLEST_STEP, _STEPS, _GROWTH = 16, 12, 0.35  # of joint steps
_ENSEMBLE_ROWS = 10  # rows drawn per basis vector of a base learner
_LATE = "max_seconds was reached before the coefficients were final; raise max_seconds."


@dataclass(frozen=True)
class BasisPlan:
    """How a basis grows, with every number resolved."""

    selection: Selection
    update: Update
    ridge: float
    loss: str = "squared"
    intercept: bool = True
    max_columns: int = 1000
    max_iter: int = 100_000
    n_iter_no_change: int = 5
    memory_budget: int = 1 << 30
    seed: int = 0

    @property
    def step_size(self) -> int:
        """Basis vectors per step."""
        if isinstance(self.update.columns_per_step, str):
            return max(_SMALLEST_STEP, self.max_columns // _STEPS)
        return self.update.columns_per_step

    def time_remaining(self, deadline: Deadline, ensemble: int | None = None) -> TimeRemaining:
        """The listener that estimates the time of such a fit."""
        quadratic = not isinstance(self.update, One)
        return TimeRemaining(self.max_columns, self.max_iter, deadline, quadratic, ensemble)


@dataclass(frozen=True)
class BasisFit:
    """The basis, its coefficients, and how the fit went."""

    hypotheses: Sequence[Hypothesis]
    coef: FloatArray  # (m, q)
    bias: FloatArray  # (q,)
    objective: float
    trace: Trace
    reason: StopReason
    decision: FloatArray | None = None  # values at the rows (n, q), of a single ensemble


def grow_basis(
    plan: BasisPlan,
    candidates: CandidateColumns,
    rows: TargetRows,
    deadline: Deadline = NO_LIMIT,
    monitor: ValidationMonitor | None = None,
    listeners: Sequence[Listener] = (),
    remaining: TimeRemaining | None = None,
    *,
    quiet: bool = False,
) -> BasisFit:
    """Grow a model of these rows; they are the rows of the candidates, in a random order.

    `remaining` estimates the time where this fit is a part of a larger one. A `quiet` fit is a
    trial, whose steps only a debugger wants to see.
    """
    problem = Problem(candidates, rows, deadline)
    if not quiet:
        listeners = [*listeners, remaining or plan.time_remaining(deadline)]
    stop, level = stop_rule(plan, monitor), logging.DEBUG if quiet else logging.INFO
    result = grow(
        problem, _oracle(plan), _master(plan), stop, monitor, listeners=listeners, level=level
    )
    fit, reason = result.fit, result.reason
    if reason is EXHAUSTED and isinstance(plan.selection, ALD | RAN):
        reason = replace(reason, message=_end_of_pass(plan.selection))
    late = not deadline.remaining and reason.rule != OUT_OF_TIME.rule
    remark = _LATE if late else None if fit.solver_gap is None else _not_converged(fit.solver_gap)
    if remark is not None and reason is not INTERRUPTED:
        reason = replace(reason, message=f"{reason.message} {remark}")
    return BasisFit(
        result.hypotheses, fit.coef, fit.bias, fit.objective, result.trace, reason, fit.decision
    )


def stop_rule(plan: BasisPlan, monitor: ValidationMonitor | None) -> StopRule:
    """The held-out error, where there is a monitor, and the limits."""
    rules: list[StopRule] = []
    if monitor is not None:
        rules.append(ValidationStall(plan.n_iter_no_change))
    rules += [
        MaxColumns(plan.max_columns, has_tol=False),
        MaxIterations(plan.max_iter, has_tol=False),
    ]
    return AnyOf(tuple(rules))


def _end_of_pass(selection: ALD | RAN) -> str:
    return f"the pass over the rows is complete; no other row passes {selection!r}."


def _not_converged(gain: float) -> str:
    return (
        "The solver reached its iteration limit before the optimal coefficients: by its last "
        f"gradient {min(gain, 1.0):.0%} of the objective may be left to gain; raise ridge, or "
        "lower max_columns."
    )


def _oracle(plan: BasisPlan) -> Any:
    selection, size = plan.selection, plan.step_size
    name: Any = short_form(selection, SELECTIONS)
    if isinstance(selection, ALD | RAN):
        return NoveltyOracle(name, selection.threshold, size, plan.max_columns, plan.seed)
    joint = isinstance(plan.update, Joint)
    if size == 1 and not joint:
        candidates = getattr(selection, "n_candidates", None)
        return ForwardOracle(name, candidates, plan.max_columns, plan.seed)
    n_drawn = plan.update.n_init_rows
    if n_drawn is None and not joint:
        n_drawn = _ENSEMBLE_ROWS * size
    return EnsembleOracle(
        name,
        size,
        n_drawn,
        growth=_GROWTH if joint and plan.update.columns_per_step == "auto" else 0.0,
        draw="residual" if joint else "even",
        evaluate=not joint,
        ridge=plan.ridge,
        curvature=LOSSES[plan.loss].bound,
        max_columns=plan.max_columns,
        seed=plan.seed,
    )


def _master(plan: BasisPlan) -> Any:
    loss, update = LOSSES[plan.loss], plan.update
    budget = plan.memory_budget // 2  # for the columns; the other half is work space
    if isinstance(update, Joint):
        return PCGMaster(loss, plan.ridge, plan.intercept, plan.max_columns, budget)
    name: Any = short_form(update, UPDATES)
    combination: Any = update.combination
    return CholeskyMaster(
        loss,
        plan.ridge,
        plan.intercept,
        name,
        combine=plan.step_size > 1,
        combination=combination,
        shrinkage=update.shrinkage if isinstance(update, One) else 1.0,
        capacity=plan.max_columns,
        budget=budget,
    )
