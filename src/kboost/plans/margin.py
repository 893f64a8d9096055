"""A margin plan and the function that runs it: choose C, hold rows out, solve, calibrate.

An estimator makes a `MarginPlan` from its parameters and `TrainingData` from its input;
`fit_margin` returns the fit. Nothing here depends on an estimator.

    choice     = choose_c(plan, data, half the time)  # the C given, or the best on a path
    rows, held = hold out rows for early stopping
    library    = plan.library.build(rows)
    results    = column generation for each output    # plan.parts: oracle, master, stop
    calibration of probabilities, where the plan asks for it

A limit that strikes before there is a column leaves a constant: the shares of the classes, or the
intercept of the problem without columns. Ctrl-C while C is chosen leaves the model of the path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.utils import check_random_state

from kboost._typing import FloatArray
from kboost.core.column_generation import ColumnGenerationMethod, GenerationResult
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.model import AdditiveModel
from kboost.core.outputs import solve_outputs
from kboost.core.path import PathFitter
from kboost.core.protocols import Fit, Problem
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, UNFINISHED, fewer_centers, no_columns
from kboost.core.trace import Trace
from kboost.core.validation import ValidationMonitor
from kboost.data.merged_rows import MergedRows, hold_out
from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows
from kboost.masters.margin import MarginPenalty
from kboost.metric.folds import LearningRows
from kboost.plans.bases import KernelColumns
from kboost.plans.library import LibraryPlan
from kboost.plans.margin_parts import Parts, PathParts
from kboost.plans.training_data import OutputSet, TrainingData, check_prices
from kboost.selection import learned_kernels
from kboost.selection.c_path import CostPath, Tuning, split_rows, tune
from kboost.selection.calibration import Calibration, FittedOutput, calibrate
from kboost.selection.left_out import Norm
from kboost.selection.path_fit import PathFit, Validator
from kboost.solvers.threads import blas_threads_for

DEFAULT_C = 1.0  # where there are too few rows, or no time, to choose by


@dataclass(frozen=True)
class CalibrationPlan:
    """The norm and penalty of the problem, for the calibration of probabilities."""

    norm: Norm
    penalty: MarginPenalty


@dataclass(frozen=True)
class MarginPlan:
    """What to solve, with which parts, and what to keep of it."""

    outputs: OutputSet
    library: LibraryPlan
    parts: Parts
    C: float | PathParts  # the cost of errors, or the parts of the path that chooses it
    attributes: Callable[[MarginFit], dict[str, Any]]  # fitted attributes of this kind of model
    validation_fraction: float | None = None
    stratify: bool = False  # whether rows are held out class by class
    calibration: CalibrationPlan | None = None
    constant: Callable[[MergedRows], FloatArray] | None = None  # without columns, one per output
    shift: float = 0.0  # taken from the targets before the fit, added to the bias after it
    max_seconds: float | None = None
    random_state: Any = None
    n_jobs: int = 1


@dataclass(frozen=True)
class MarginFit:
    """The models of all outputs on one library, and how C and the probabilities came about."""

    library: Any
    results: Sequence[GenerationResult]
    C: float
    tuning: Tuning | None = None
    calibration: Calibration | None = None

    @property
    def model(self) -> AdditiveModel:
        return AdditiveModel.stack([(result.hypotheses, result.fit) for result in self.results])


Listen = Callable[[int | None, Callable[[], MarginFit]], Sequence[Listener]]


def no_listeners(number: int | None, snapshot: Callable[[], MarginFit]) -> Sequence[Listener]:
    """No listeners."""
    return []


def fit_margin(
    plan: MarginPlan,
    data: TrainingData,
    listen: Listen = no_listeners,
    *,
    since: float | None = None,
) -> MarginFit:
    """Run the plan; its time limit counts from the moment `since`, by default now.

    `listen` makes the listeners of an output from its number (None for a single one) and a
    function that returns the fit as it stands.
    """
    deadline = Deadline.after(plan.max_seconds, since=since)
    with blas_threads_for(len(data.rows.weight)):
        plan = with_learned_kernels(plan, data, deadline.share(4))
        choice = choose_c(plan, data, deadline.share(2))
        if choice.interrupted is not None:
            deadline.call_off()
            return calibrated(plan, choice.interrupted, choice.rows, deadline)
        rows, held_out = _held_out(plan, data)
        library = plan.library.build(rows, deadline)
        problems = plan.outputs.problems(rows, choice.C)
        check_prices(problems)
        fit = MarginFit(library, [], choice.C, choice.tuning)
        results = _solve(plan, fit, problems, held_out, deadline, listen)
        results = limited(plan, fit, rows, deadline, results)
        fit = with_results(plan, fit, results)
        return calibrated(plan, fit, rows, deadline)


def with_learned_kernels(plan: MarginPlan, data: TrainingData, deadline: Deadline) -> MarginPlan:
    """The plan with the kernels that "auto" stands for, where a metric can be learned."""
    base, rows = plan.library.base, data.rows
    auto = type(base) is KernelColumns and isinstance(base.kernels, str) and base.kernels == "auto"
    if not (auto and isinstance(rows.X, np.ndarray) and plan.library.centers is None):
        return plan
    draw = np.random.default_rng(0).permutation(len(rows.weight))[: learned_kernels.ROWS]
    drawn = rows.take(np.sort(draw))
    sample = LearningRows(
        np.asarray(drawn.X, dtype=np.float64),
        plan.outputs.targets(drawn),
        drawn.weight,
        plan.stratify,
    )
    kernels = learned_kernels.learned_library(sample, deadline)
    if not kernels:
        return plan
    return replace(plan, library=replace(plan.library, base=KernelColumns(list(kernels))))


@dataclass(frozen=True)
class CostChoice:
    """C, how it was chosen, and the model of the path where Ctrl-C ended it, with its rows."""

    C: float
    rows: MergedRows
    tuning: Tuning | None = None
    interrupted: MarginFit | None = None


def choose_c(plan: MarginPlan, data: TrainingData, deadline: Deadline) -> CostChoice:
    """The C given, or the best of a path on held-out rows."""
    if isinstance(plan.C, float):
        return CostChoice(plan.C, data.rows)
    rng = check_random_state(plan.random_state)
    splits = split_rows(data, rng, stratify=plan.stratify)
    libraries, fits = [], []
    with suppress(OutOfTimeError):
        for rows, held_out in splits:
            library = plan.library.build(rows, deadline, among=len(splits))
            if not has_columns(library):
                break
            fits.append(start_path(plan, library, rows, deadline, held_out))
            libraries.append(library)
    if not fits:
        return CostChoice(DEFAULT_C, data.rows)
    loss, alike = plan.outputs.held_out_loss, plan.outputs.alike
    path, reason = tune(fits, len(data.rows.weight), loss, alike)
    tuning = path.tuning
    if reason is INTERRUPTED:
        return _interrupted(plan, path, splits[0][0], libraries[0])
    return CostChoice(
        DEFAULT_C if tuning is None else float(tuning.C[tuning.best]), data.rows, tuning
    )


def start_path(
    plan: MarginPlan,
    library: Any,
    rows: MergedRows,
    deadline: Deadline,
    held_out: MergedRows | None = None,
) -> PathFit:
    """A path of C whose points are solved loosely, as far as a choice needs; `plan.C` has parts."""
    parts = cast(PathParts, plan.C)
    oracle, master, stop = parts.path_oracle(library), parts.path_master(library), parts.path_stop()
    fitters = [
        PathFitter(Problem(library, problem, deadline), oracle, master, stop, polish=False)
        for problem in plan.outputs.problems(rows, 1.0)
    ]
    return _path_fit(plan, library, fitters, rows, held_out)


def _interrupted(plan: MarginPlan, path: CostPath, rows: MergedRows, library: Any) -> CostChoice:
    """The choice that Ctrl-C leaves: the model of the first split at the best C so far."""
    point = path.so_far
    if point is None:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    results = [replace(result, reason=INTERRUPTED) for result in point.results]
    fit = with_results(plan, MarginFit(library, [], point.C, path.tuning), results)
    return CostChoice(point.C, rows, path.tuning, fit)


def has_columns(library: Any) -> bool:
    """Whether there was time to make a library; an infinite one has no number of columns."""
    return bool(getattr(library, "n_columns", 1))


def without_columns(n_rows: int) -> GenerationResult:
    """What is left of a problem for which there was no time, up to its constant."""
    zeros = np.zeros(n_rows)
    return GenerationResult([], Fit(np.zeros(0), 0.0, zeros, zeros, np.nan), Trace(), OUT_OF_TIME)


def constants_of(plan: MarginPlan, rows: MergedRows) -> FloatArray:
    """The constant of each output without columns."""
    return np.zeros(len(plan.outputs.outputs)) if plan.constant is None else plan.constant(rows)


def limited(
    plan: MarginPlan,
    fit: MarginFit,
    rows: MergedRows,
    deadline: Deadline,
    results: Sequence[GenerationResult],
) -> list[GenerationResult]:
    """The results as a time limit leaves them: constants, and the reason in words."""
    of, kept = plan.library.n_centers(rows), getattr(fit.library, "n_centers", None)
    constants = constants_of(plan, rows)
    problems = plan.outputs.problems(rows, fit.C)

    def as_left(k: int, result: GenerationResult) -> GenerationResult:
        if result.reason.rule == OUT_OF_TIME.rule and not result.fit.coef.any():
            fit = _constant_fit(result.fit, float(constants[k]), problems[k])
            return replace(result, fit=fit, reason=no_columns(deadline))
        if kept is None or kept == of or result.reason is INTERRUPTED:
            return result
        reason = fewer_centers(deadline, kept, of, result.reason)
        return replace(result, reason=reason, certified=False)

    return [as_left(k, result) for k, result in enumerate(results)]


def _constant_fit(fit: Fit, constant: float, rows: Any) -> Fit:
    decision, objective = np.full_like(fit.decision, constant), np.nan
    if isinstance(rows, MarginRows):
        objective = float(rows.slack_costs @ rows.slack(decision, 0.0))
    return replace(fit, bias=constant, decision=decision, objective=objective)


def follow_path(plan: MarginPlan, data: TrainingData, library: Any, deadline: Deadline) -> PathFit:
    """A path on all rows whose points are what `fit_margin` would find at their C.

    The plan's oracle and master must be able to follow a path.
    """
    oracle: Any = plan.parts.oracle(library)
    master: Any = plan.parts.master(library, monitored=False)
    stop = plan.parts.stop(monitored=False)
    fitters = [
        PathFitter(Problem(library, problem, deadline), oracle, master, stop, polish=True)
        for problem in plan.outputs.problems(data.rows, 1.0)
    ]
    return _path_fit(plan, library, fitters, data.rows, data.held_out)


def with_results(
    plan: MarginPlan, fit: MarginFit, results: Sequence[GenerationResult]
) -> MarginFit:
    """The fit with these results on the scale of the targets."""
    shifted = [
        replace(
            result,
            fit=replace(
                result.fit,
                bias=result.fit.bias + plan.shift,
                decision=result.fit.decision + plan.shift,
            ),
        )
        for result in results
    ]
    return replace(fit, results=shifted)


def calibrated(plan: MarginPlan, fit: MarginFit, rows: MergedRows, deadline: Deadline) -> MarginFit:
    """The fit with its probabilities calibrated on these training rows."""
    if plan.calibration is None:
        return fit
    if any(result.reason is INTERRUPTED for result in fit.results):
        deadline.call_off()
    problems = plan.outputs.problems(rows, fit.C)
    calibration, reason = calibrate(
        rows,
        [
            FittedOutput(problem, result.hypotheses, result.fit)
            for problem, result in zip(problems, fit.results, strict=True)
        ],
        norm=plan.calibration.norm,
        penalty=plan.calibration.penalty,
        rng=check_random_state(plan.random_state),
        deadline=deadline,
    )
    results = fit.results
    if reason.rule == INTERRUPTED.rule:
        results = [replace(result, reason=reason) for result in results]
    return replace(fit, calibration=calibration, results=results)


def _held_out(plan: MarginPlan, data: TrainingData) -> tuple[MergedRows, MergedRows | None]:
    """Training rows and validation rows: the user's, drawn ones or none."""
    fraction = plan.validation_fraction
    if fraction is None:
        return data.rows, data.held_out
    rng = check_random_state(plan.random_state)
    rows, held_out = hold_out(data.rows, fraction, rng, by_code=plan.stratify)
    if not len(held_out.weight):
        raise ValueError(
            "validation_fraction must leave rows on both sides; "
            f"got validation_fraction={fraction!r}."
        )
    return rows, held_out


def _solve(
    plan: MarginPlan,
    fit: MarginFit,
    problems: Sequence[Any],
    held_out: MergedRows | None,
    deadline: Deadline,
    listen: Listen,
) -> list[GenerationResult]:
    """Column generation for each output on one library."""
    monitored = held_out is not None
    oracle = plan.parts.oracle(fit.library)
    master = plan.parts.master(fit.library, monitored=monitored)
    stop = plan.parts.stop(monitored=monitored)
    monitors = [None] * len(problems) if held_out is None else _monitors(plan, held_out)

    def solve(number: int, until: Deadline) -> GenerationResult:
        problem = Problem(fit.library, problems[number], until)
        if not until.remaining or not has_columns(fit.library):
            return without_columns(fit.library.n_rows)
        try:
            parts = oracle.start(problem), master.start(problem)
        except OutOfTimeError:
            return without_columns(fit.library.n_rows)
        method = ColumnGenerationMethod(*parts, monitors[number])

        def snapshot() -> MarginFit:
            hypotheses, current = method.current
            return with_results(
                plan, fit, [GenerationResult(hypotheses, current, Trace(), UNFINISHED)]
            )

        listeners = listen(number if len(problems) > 1 else None, snapshot)
        return method.run_until(stop, deadline=until, listeners=listeners)

    return solve_outputs(solve, len(problems), deadline, plan.n_jobs)


def _monitors(plan: MarginPlan, held_out: MergedRows) -> list[ValidationMonitor]:
    outputs = plan.outputs.outputs
    return [ValidationMonitor(held_out.X, output.held_out_loss(held_out)) for output in outputs]


def _path_fit(
    plan: MarginPlan,
    library: Any,
    fitters: Sequence[PathFitter],
    rows: MergedRows,
    held_out: MergedRows | None,
) -> PathFit:
    validator = None
    if held_out is not None:
        joint_error = plan.outputs.joint_error(held_out)
        validator = Validator(held_out, _monitors(plan, held_out), joint_error)
    first = min(fitter.first_factor(library.edges) for fitter in fitters)
    return PathFit(fitters, first, plan.outputs.joint_error(rows), validator)
