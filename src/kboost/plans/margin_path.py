"""The path of a margin plan over C: to choose C, or to keep the model at each value.

    choose_c       the C given, or the best of a path on held-out rows, solved loosely
    follow_path    a path on all rows, each point the optimum for its C

Ctrl-C while C is chosen leaves the model of the path.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from sklearn.utils import check_random_state

from kboost._typing import IntArray
from kboost.columns.library import KernelLibrary
from kboost.core.deadline import Deadline
from kboost.core.path import PathFitter
from kboost.core.protocols import Problem
from kboost.core.stopping import INTERRUPTED
from kboost.core.validation import ValidationMonitor
from kboost.data.merged_rows import MergedRows
from kboost.exceptions import OutOfTimeError
from kboost.plans.first_columns import columns_in
from kboost.plans.library import has_columns
from kboost.plans.margin_parts import PathParts
from kboost.plans.margin_plan import MarginFit, MarginPlan, with_results
from kboost.plans.training_data import TrainingData
from kboost.selection.c_path import CostPath, Tuning, split_rows, tune
from kboost.selection.path_fit import PathFit, Validator

DEFAULT_C = 1.0  # where there are too few rows, or no time, to choose by


@dataclass(frozen=True)
class CostChoice:
    """C, how it was chosen, and the model of the path where Ctrl-C ended it, with its rows."""

    C: float
    rows: MergedRows
    tuning: Tuning | None = None
    interrupted: MarginFit | None = None
    models: PathModels | None = None

    def first_columns(self, library: Any, output: int) -> IntArray | None:
        """The columns that a fit on `library` begins with; None where C was given."""
        models = self.models
        if models is None or not isinstance(library, KernelLibrary):
            return None
        return columns_in(library, self.rows, models.path.used_at_best(output), models.splits)


@dataclass(frozen=True)
class PathModels:
    """The path that chose C, and the library and rows of each split."""

    path: CostPath
    splits: Sequence[tuple[Any, MergedRows]]


def choose_c(plan: MarginPlan, data: TrainingData, deadline: Deadline) -> CostChoice:
    """The C given, or the best of a path on held-out rows."""
    if isinstance(plan.C, float):
        return CostChoice(plan.C, data.rows)
    rng = check_random_state(plan.random_state)
    n_outputs = len(plan.outputs.outputs)
    splits = split_rows(data, rng, stratify=plan.stratify, n_outputs=n_outputs)
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
    outputs, n_rows = plan.outputs, len(data.rows.weight)
    path, reason = tune(fits, n_rows, outputs.held_out_loss, outputs.alike, outputs.level)
    tuning = path.tuning
    if reason is INTERRUPTED:
        return _interrupted(plan, path, splits[0][0], libraries[0])
    parts = [(library, rows) for library, (rows, _) in zip(libraries, splits, strict=False)]
    C = DEFAULT_C if tuning is None else float(tuning.C[tuning.best])
    return CostChoice(C, data.rows, tuning, models=PathModels(path, parts))


def _interrupted(plan: MarginPlan, path: CostPath, rows: MergedRows, library: Any) -> CostChoice:
    """The choice that Ctrl-C leaves: the model of the first split at the best C so far."""
    point = path.so_far
    if point is None:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    results = [replace(result, reason=INTERRUPTED) for result in point.results]
    fit = with_results(plan, MarginFit(library, [], point.C, path.tuning), results)
    return CostChoice(point.C, rows, path.tuning, fit)


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
        validator = Validator(held_out, monitors_of(plan, held_out), joint_error)
    first = min(fitter.first_factor(library.edges) for fitter in fitters)
    return PathFit(fitters, first, plan.outputs.joint_error(rows), validator)


def monitors_of(plan: MarginPlan, held_out: MergedRows) -> list[ValidationMonitor]:
    """The monitor of each output at the held-out rows."""
    outputs = plan.outputs.outputs
    return [ValidationMonitor(held_out.X, output.held_out_loss(held_out)) for output in outputs]
