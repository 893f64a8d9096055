"""The fit of one set of rows in the SYB family, without an estimator: a table of parts.

    selection  basis_per_step  update    oracle            master
    any of six        1        full/one  forward, novelty  forward: columns are basis vectors
    any of six      S > 1      full/one  ensemble          forward: columns are base learners
    any of six      any        joint     ensemble          joint: columns are basis vectors

A series of ensembles is a chain of such fits; see plans/series.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost._typing import FloatArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.column_generation import grow
from kboost.core.deadline import Deadline
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

_SMALLEST_STEP, _STEPS, _GROWTH = 16, 12, 0.35  # of joint steps
_THRESHOLDS = {"ald": "ald_threshold", "ran": "ran_threshold"}
_LATE = "max_seconds was over before the coefficients were done; raise max_seconds."
_ENSEMBLE_ROWS = 10  # rows drawn a basis vector of a learner


@dataclass(frozen=True)
class SparseSpec:
    """What is to be done with rows: the parameters of the estimators, checked and resolved."""

    selection: str = "max-res"
    basis_per_step: int | None = None  # None: as the update likes it
    update: str = "joint"
    loss: str = "squared"
    ridge: float = 1e-3
    fit_intercept: bool = True
    n_candidates: int | None = 60
    n_init_rows: int | None = None
    ald_threshold: float = 1e-2
    ran_threshold: float = 1e-4
    combination: str = "boost"
    shrinkage: float = 1.0
    max_columns: int = 1000
    max_iter: int = 100_000
    max_seconds: float | None = None
    n_iter_no_change: int = 5
    memory_budget: int = 1 << 30
    seed: int = 0


@dataclass(frozen=True)
class SparseFit:
    """What came of it."""

    hypotheses: Sequence[Hypothesis]
    coef: FloatArray  # (m, q)
    bias: FloatArray  # (q,)
    objective: float
    trace: Trace
    reason: StopReason


def fit_rows(
    spec: SparseSpec,
    candidates: CandidateColumns,
    rows: TargetRows,
    deadline: Deadline | None = None,
    watch: ValidationMonitor | None = None,
    listeners: Sequence[Listener] = (),
    left: TimeRemaining | None = None,
) -> SparseFit:
    """Grow a model of these rows; the candidates have the same rows, in random order.

    `left` says what this is a part of.
    """
    deadline = Deadline.after(spec.max_seconds) if deadline is None else deadline
    problem = Problem(candidates, rows, deadline)
    listeners = [*listeners, left or time_left(spec, deadline)]
    stop = _stop(spec, watch)
    grown = grow(problem, _oracle(spec), _master(spec), stop, watch, listeners=listeners)
    fit, reason = grown.fit, grown.reason
    if reason is EXHAUSTED and spec.selection in _THRESHOLDS:
        reason = replace(reason, message=_after_the_pass(spec))
    late = not deadline.remaining and reason.rule != OUT_OF_TIME.rule
    words = _LATE if late else None if fit.solver_gap is None else _short_of_it(fit.solver_gap)
    if words is not None and reason is not INTERRUPTED:
        reason = replace(reason, message=f"{reason.message} {words}")
    return SparseFit(grown.hypotheses, fit.coef, fit.bias, fit.objective, grown.trace, reason)


def _after_the_pass(spec: SparseSpec) -> str:
    name = _THRESHOLDS[spec.selection]
    return f"every row had its turn, and no other one passes {name}={getattr(spec, name):g}."


def _short_of_it(left: float) -> str:
    return (
        "The coefficients are not the best for these basis vectors, as the iteration came to its "
        f"limit: by its last gradient {min(left, 1.0):.0%} of the objective may be left to gain; "
        "raise ridge, or lower max_columns."
    )


def step_size(spec: SparseSpec) -> int:
    """Basis vectors a step."""
    if spec.basis_per_step is not None:
        return spec.basis_per_step
    if spec.update != "joint":
        return 1
    return max(_SMALLEST_STEP, spec.max_columns // _STEPS)


def _oracle(spec: SparseSpec) -> Any:
    size = step_size(spec)
    if spec.selection in _THRESHOLDS:
        threshold = getattr(spec, _THRESHOLDS[spec.selection])
        return NoveltyOracle(spec.selection, threshold, size, spec.max_columns, spec.seed)  # type: ignore[arg-type]
    joint = spec.update == "joint"
    if size == 1 and not joint:
        return ForwardOracle(spec.selection, spec.n_candidates, spec.max_columns, spec.seed)  # type: ignore[arg-type]
    drawn = spec.n_init_rows
    if drawn is None and not joint:
        drawn = _ENSEMBLE_ROWS * size
    return EnsembleOracle(
        spec.selection,  # type: ignore[arg-type]
        size,
        drawn,
        growth=_GROWTH if joint and spec.basis_per_step is None else 0.0,
        draw="residual" if joint else "even",
        evaluate=not joint,
        ridge=spec.ridge,
        curvature=LOSSES[spec.loss].bound,
        max_columns=spec.max_columns,
        seed=spec.seed,
    )


def _master(spec: SparseSpec) -> Any:
    loss = LOSSES[spec.loss]
    capacity = spec.max_columns
    # half of the budget holds the columns, the rest the work on them
    if spec.update == "joint":
        return PCGMaster(loss, spec.ridge, spec.fit_intercept, capacity, spec.memory_budget // 2)
    return CholeskyMaster(
        loss,
        spec.ridge,
        spec.fit_intercept,
        spec.update,  # type: ignore[arg-type]
        combine=step_size(spec) > 1,
        combination=spec.combination,  # type: ignore[arg-type]
        shrinkage=spec.shrinkage,
        capacity=capacity,
        budget=spec.memory_budget // 2,
    )


def time_left(spec: SparseSpec, deadline: Deadline, ensemble: int | None = None) -> TimeRemaining:
    """What estimates the time that such a fit still takes."""
    quadratic = spec.update != "one"
    return TimeRemaining(spec.max_columns, spec.max_iter, deadline, quadratic, ensemble)


def _stop(spec: SparseSpec, watch: ValidationMonitor | None) -> StopRule:
    rules: list[StopRule] = []
    if watch is not None:
        rules.append(ValidationStall(spec.n_iter_no_change))
    rules += [
        MaxColumns(spec.max_columns, has_tol=False),
        MaxIterations(spec.max_iter, has_tol=False),
    ]
    return AnyOf(tuple(rules))
