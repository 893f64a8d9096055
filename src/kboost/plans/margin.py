"""The function that runs a margin plan: choose C, hold rows out, solve, calibrate.

An estimator makes a `MarginPlan` from its parameters and `TrainingData` from its input;
`fit_margin` returns the fit. Nothing here depends on an estimator.

    choice     = choose_c(plan, data, half the time)  # the C given, or the best on a path
    rows, held = hold out rows for early stopping
    library    = plan.library.build(rows)
    results    = column generation for each output    # plan.parts: oracle, master, stop;
                                                      # with many rows, from the columns of a pilot
    calibration of probabilities, where the plan asks for it

A limit that strikes before there is a column leaves a constant: the shares of the classes, or the
intercept of the problem without columns. Ctrl-C while C is chosen leaves the model of the path;
while kernels are chosen, a model of few rows with the best kernels so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kboost._typing import FloatArray, IntArray
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import ColumnGenerationMethod, GenerationResult
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.outputs import solve_outputs, until_interrupted
from kboost.core.protocols import Fit, Master, Oracle, Problem
from kboost.core.stopping import (
    INTERRUPTED,
    OUT_OF_TIME,
    UNFINISHED,
    StopRule,
    fewer_centers,
    no_columns,
)
from kboost.core.trace import Trace
from kboost.data.merged_rows import MergedRows, hold_out
from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows
from kboost.metric.folds import LearningRows
from kboost.plans.bases import KernelColumns
from kboost.plans.library import has_columns
from kboost.plans.margin_parts import MarginParts
from kboost.plans.margin_path import CostChoice, choose_c, monitors_of
from kboost.plans.margin_plan import MarginFit, MarginPlan, with_results
from kboost.plans.pilot import WHOLE, Pilot, at_all_rows, has_pilot, pilot_of, starts_anywhere
from kboost.plans.training_data import PRICE, TrainingData, check_prices
from kboost.selection import learned_kernels
from kboost.selection.c_path import HELD_OUT
from kboost.selection.calibration import FittedOutput, calibrate
from kboost.solvers.threads import blas_threads_for

_FEW = 300  # rows of the model that Ctrl-C leaves while kernels are chosen

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
    if not isinstance(plan.C, float):  # to be chosen
        weights = "with C='auto' the largest sample weight"
        check_prices(plan.outputs.problems(data.rows, 1.0), weights)
    with blas_threads_for(len(data.rows.weight)):
        plan, interrupted = with_learned_kernels(plan, data, deadline.share(4))
        if interrupted:
            return _of_few_rows(plan, data, listen)
        choice = choose_c(plan, data, deadline.share(2))
        if choice.interrupted is not None:
            deadline.call_off()
            return calibrated(plan, choice.interrupted, choice.rows, deadline)
        rows, held_out = _held_out(plan, data)
        piloted = held_out is None and has_pilot(plan, rows, deadline)
        library = plan.library.build(rows, deadline, among=WHOLE if piloted else 1)
        problems = plan.outputs.problems(rows, choice.C)
        given = isinstance(plan.C, float)
        check_prices(problems, PRICE if given else f"the chosen C ({choice.C:g}) times a weight")
        fit = MarginFit(library, [], choice.C, choice.tuning)
        pilot = pilot_of(plan, rows, library, deadline) if piloted else None
        known = held_out is None and starts_anywhere(plan, deadline)
        start = partial(_first_columns, pilot, choice if known else None, rows, library)
        results = _solve(plan, fit, problems, held_out, deadline, listen, start)
        results = limited(plan, fit, rows, deadline, results)
        fit = with_results(plan, fit, results)
        return calibrated(plan, fit, rows, deadline)


def with_learned_kernels(
    plan: MarginPlan, data: TrainingData, deadline: Deadline
) -> tuple[MarginPlan, bool]:
    """The plan with the kernels that "auto" stands for, where a metric can be learned.

    True if Ctrl-C ended the choice; the kernels are then the best so far.
    """
    base, rows = plan.library.base, data.rows
    auto = type(base) is KernelColumns and isinstance(base.kernels, str) and base.kernels == "auto"
    if not (auto and isinstance(rows.X, np.ndarray) and plan.library.centers is None):
        return plan, False
    drawn = _sample(rows, learned_kernels.ROWS)
    sample = LearningRows(
        np.asarray(drawn.X, dtype=np.float64),
        plan.outputs.targets(drawn),
        drawn.weight,
        plan.stratify,
    )
    kernels, interrupted = until_interrupted(
        lambda: learned_kernels.learned_library(sample, deadline), deadline
    )
    if not kernels:
        return plan, interrupted
    base = KernelColumns(list(kernels))
    return replace(plan, library=replace(plan.library, base=base)), interrupted


def _sample(rows: MergedRows, count: int) -> MergedRows:
    """At most so many rows, always the same ones."""
    draw = np.random.default_rng(0).permutation(len(rows.weight))[:count]
    return rows.take(np.sort(draw))


def _of_few_rows(plan: MarginPlan, data: TrainingData, listen: Listen) -> MarginFit:
    """The fit that Ctrl-C leaves while kernels are chosen."""
    rows = _sample(data.rows, _FEW)
    if plan.stratify and len(np.unique(rows.codes)) < len(np.unique(data.rows.codes)):
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    sample = TrainingData(rows)
    if not isinstance(plan.C, float):  # one split, not several
        sample = TrainingData(
            *hold_out(rows, HELD_OUT, np.random.RandomState(0), by_code=plan.stratify)
        )
    fit = fit_margin(replace(plan, max_seconds=None), sample, listen)
    return replace(fit, results=[replace(each, reason=INTERRUPTED) for each in fit.results])


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


def _first_columns(
    pilot: Pilot | None, choice: CostChoice | None, rows: MergedRows, library: Any, output: int
) -> IntArray | GenerationResult | None:
    """The columns that the choice of C or a pilot gives a fit; a result is what Ctrl-C left."""
    first: IntArray | GenerationResult | None = None
    if choice is not None:
        first = choice.first_columns(library, output)
    if first is None and pilot is not None and choice is not None:
        first = pilot.columns(output, choice.C)
    return at_all_rows(first, rows) if isinstance(first, GenerationResult) else first


def _parts(
    plan: MarginPlan, library: Any, first: IntArray | None, *, monitored: bool
) -> tuple[Oracle[Any], Master[Any], StopRule]:
    """Oracle, master and stop rule of a fit, from the columns of a pilot if there are any."""
    parts = plan.parts
    if first is not None and isinstance(parts, MarginParts):
        return parts.from_columns(library, first, loose=False)
    return (
        parts.oracle(library),
        parts.master(library, monitored=monitored),
        parts.stop(monitored=monitored),
    )


def _solve(
    plan: MarginPlan,
    fit: MarginFit,
    problems: Sequence[Any],
    held_out: MergedRows | None,
    deadline: Deadline,
    listen: Listen,
    start: Callable[[int], IntArray | GenerationResult | None],
) -> list[GenerationResult]:
    """Column generation for each output on one library."""
    monitored = held_out is not None
    monitors = [None] * len(problems) if held_out is None else monitors_of(plan, held_out)

    def solve(number: int, until: Deadline) -> GenerationResult:
        problem = Problem(fit.library, problems[number], until)
        if not until.remaining or not has_columns(fit.library):
            return without_columns(fit.library.n_rows)
        first = start(number)
        if isinstance(first, GenerationResult):
            return first
        try:
            oracle, master, stop = _parts(plan, fit.library, first, monitored=monitored)
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
        result = method.run_until(stop, deadline=until, listeners=listeners)
        if isinstance(fit.library, KernelLibrary):
            fit.library.release(len(method.current[0]))
        return result

    return solve_outputs(solve, len(problems), deadline, plan.n_jobs)
