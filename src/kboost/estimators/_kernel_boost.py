"""What the kernel-boosting estimators share: parameters, the library, the loop, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, Self, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kboost._estimator.callbacks import (
    CallbackSupportMixin,
    callback_listeners,
    fit_task,
    with_callbacks,
)
from kboost._estimator.explanation import ExplainMixin
from kboost._estimator.parameter_rules import RULES
from kboost._estimator.progress import show_progress
from kboost._rules import check_params
from kboost._typing import FloatArray, IntArray
from kboost._validation import check_table, check_weights, unchanged_on_error
from kboost.columns.float32 import to_float32
from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import ColumnGeneration, GenerationResult
from kboost.core.deadline import NO_MODEL_YET, Deadline
from kboost.core.model import AdditiveModel
from kboost.core.path import PathFitter
from kboost.core.protocols import EdgePricer, Master, PathMaster, PathOracle, Problem
from kboost.core.stopping import (
    INTERRUPTED,
    UNFINISHED,
    AnyOf,
    ErrorPriceBelow,
    GapBelow,
    MaxColumns,
    MaxIterations,
    PriceBelow,
    StopRule,
    ValidationStall,
)
from kboost.core.trace import Trace
from kboost.core.validation import ValidationMonitor
from kboost.data.merged_rows import MergedRows, hold_out
from kboost.exceptions import OutOfTimeError
from kboost.formulations import MarginRows
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.masters.interior_point import InteriorLPMaster
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from kboost.plans.training_data import Task, TrainingData, check_prices
from kboost.selection.c_path import Tuning, split_parts, tune
from kboost.selection.path_fit import PathFit, Validator
from kboost.solvers.threads import blas_threads_for, one_blas_thread

PATH_TOL, PATH_STEPS = 0.05, 60  # how well, and in how many steps, each C of a path is solved
DEFAULT_C = 1.0  # where there are too few rows to choose by
COPIES = {"l1": 32, "l2": 4}  # of a column, at most, in a master and its solver, as measured
PREDICT_RULES = {"predict_dtype": RULES["predict_dtype"]}
ALIKE = {"l1": 0.95, "l2": 1.0}  # a 2-norm optimum is dense: it takes them all in the end
SMALL = 200  # rows; below, simplex from the start is as fast


class KernelBoostBase(ExplainMixin, CallbackSupportMixin, BaseEstimator):
    """The engine behind the estimators' `fit`; targets are the subclasses' business."""

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> Self:
        """Check, grow, keep; after Ctrl-C keep what there is and raise it again."""
        with fit_task(self, X, y, sample_weight):
            with unchanged_on_error(self):
                stopped = self._learn(self._prepare(X, y, sample_weight, **validation))
            if stopped:
                raise KeyboardInterrupt
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any, **validation: Any) -> TrainingData:
        """Check parameters and input; what there is to learn."""
        raise NotImplementedError

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        """What `fit` was given, checked."""
        X, y = check_table(self, X, y, reset=True, **options)
        return X, y, check_weights(sample_weight, X.shape[0])

    def _learn(self, data: TrainingData) -> bool:
        """Grow one model a task and keep them; says whether Ctrl-C ended it."""
        rows, held = data.rows, data.held
        deadline = Deadline.after(self.max_seconds)
        with show_progress(self.verbose), blas_threads_for(len(rows.weight)):
            C = self._choose_c(data)
            if self.validation_fraction is not None:
                rows, held = self._hold_out(rows)
            library = self._make_library(rows, data.n_input_rows, deadline)
            problems = data.problems(rows, C)
            check_prices(problems)
            watches = None if held is None else self._judge(data.tasks, held).watches
            grown = self._grow(library, problems, watches, deadline)
            self._keep(library, grown)
            stopped = self._conclude(rows, problems, grown, deadline)
        return stopped or any(g.reason is INTERRUPTED for g in grown)

    def _conclude(
        self,
        rows: MergedRows,
        problems: Sequence[MarginRows],
        grown: Sequence[GenerationResult],
        deadline: Deadline,
    ) -> bool:
        """What is left to do when the models are there; says whether Ctrl-C ended it."""
        return False

    def _hold_out(self, rows: MergedRows) -> tuple[MergedRows, MergedRows]:
        """Rows to learn from, and the `validation_fraction`."""
        rng = check_random_state(self.random_state)
        by_code = isinstance(self, ClassifierMixin)
        rows, held = hold_out(rows, self.validation_fraction, rng, by_code=by_code)
        if not len(held.weight):
            raise ValueError(
                "validation_fraction must leave rows on both sides; "
                f"got validation_fraction={self.validation_fraction!r}."
            )
        return rows, held

    def _choose_c(self, data: TrainingData) -> float:
        """The C given, or the one a path on held-out rows finds; `C_` and `tuning_` say which."""
        self.tuning_ = tuned = self._tune(data) if isinstance(self.C, str) else None
        self.C_ = float(tuned.C[tuned.best]) if tuned is not None else DEFAULT_C
        if not isinstance(self.C, str):
            self.C_ = float(self.C)
        return self.C_

    def _tune(self, data: TrainingData) -> Tuning | None:
        """A loose path on parts of the rows; all their libraries together obey the budget."""
        deadline = Deadline.after(None if self.max_seconds is None else self.max_seconds / 2)
        rng = check_random_state(self.random_state)
        stop = AnyOf((PriceBelow(PATH_TOL), GapBelow(PATH_TOL), MaxIterations(PATH_STEPS)))
        splits = split_parts(data, rng, by_code=isinstance(self, ClassifierMixin))
        parts = []
        for learn, held in splits:
            library = self._make_library(learn, data.n_input_rows, deadline, among=len(splits))
            oracle = self._tuning_oracle(self._columns_per_step(library.n_rows))
            master = self._path_master(library, path_gap=PATH_TOL / 2)
            problems = [Problem(library, rows, deadline) for rows in data.problems(learn, 1.0)]
            followers = [PathFitter(p, oracle, master, stop, polish=False) for p in problems]
            parts.append(self._part(library, followers, data.tasks, learn, held))
        return tune(parts, len(data.rows.weight))

    def _follow(self, data: TrainingData, library: KernelLibrary, deadline: Deadline) -> PathFit:
        """A path on all the rows: at each C what `fit` would solve, by the same parts."""
        oracle = self._oracle(self._columns_per_step(library.n_rows))
        master = cast(PathMaster, self._master(library))
        stop = self._stop()
        problems = [Problem(library, rows, deadline) for rows in data.problems(data.rows, 1.0)]
        followers = [PathFitter(p, oracle, master, stop, polish=True) for p in problems]
        return self._part(library, followers, data.tasks, data.rows, data.held)

    def _part(
        self,
        library: KernelLibrary,
        followers: Sequence[PathFitter],
        tasks: Sequence[Task],
        learn: MergedRows,
        held: MergedRows | None,
    ) -> PathFit:
        first = min(follower.first_factor(library.edges) for follower in followers)
        judge = None if held is None else self._judge(tasks, held)
        return PathFit(followers, first, self._joint_error(learn, tasks), judge)

    def _judge(self, tasks: Sequence[Task], held: MergedRows) -> Validator:
        watches = [ValidationMonitor(held.X, task.error(held)) for task in tasks]
        return Validator(watches, self._joint_error(held, tasks))

    def _joint_error(
        self, held: MergedRows, tasks: Sequence[Task]
    ) -> Callable[[FloatArray], float]:
        """The error of all outputs together on rows held out."""
        single = tasks[0].error(held)
        return lambda decisions: single(decisions[:, 0])

    def _make_library(
        self, rows: MergedRows, n_input_rows: int, deadline: Deadline, *, among: int = 1
    ) -> KernelLibrary:
        """Kernels resolved on the rows, lined up with the distinct x as centres.

        It is one of `among` that share the budget.
        """
        pool, center_of_row = self._pooled(rows)
        precomputed = isinstance(self.kernels, str) and self.kernels == "precomputed"

        def resolve(kernels: Any) -> Sequence[Kernel]:
            return as_kernels(
                kernels,
                pool.X,
                sample_weight=pool.weight,
                feature_names=getattr(self, "feature_names_in_", None),
                width=n_input_rows,
            )

        options = {
            "centers": pool.first[:, None] if precomputed else pool.centers,
            "center_of_row": center_of_row,
            "measured_on": None if pool is rows else (pool.X, pool.weight),
            "sample_weight": rows.weight,
            "scaling": self.column_scaling,
            "memory_budget": self.memory_budget // among,
            "n_jobs": effective_n_jobs(self.n_jobs),
            "copies": COPIES[self.penalty],
            "before_block": deadline.check,
        }
        return self._lined_up(rows, resolve, options)

    def _pooled(self, rows: MergedRows) -> tuple[MergedRows, IntArray]:
        """The rows whose x are the centres and the sample, and which of these each row is at."""
        return rows, rows.center_of_row

    def _library(self) -> Any:
        """The kernels asked for."""
        return self.kernels

    def _lined_up(
        self, rows: MergedRows, resolve: Callable[[Any], Sequence[Kernel]], options: dict[str, Any]
    ) -> KernelLibrary:
        """The library to search; `options` are those of a library."""
        return KernelLibrary(resolve(self._library()), rows.X, **options)

    def _grow(
        self,
        library: KernelLibrary,
        problems: Sequence[Any],
        watches: Sequence[ValidationMonitor] | None,
        deadline: Deadline,
    ) -> list[GenerationResult]:
        """One model a problem (rows as a formulation made them), all on one library."""
        watched = watches is not None
        oracle = self._oracle(self._columns_per_step(library.n_rows))
        master = self._master(library, watched=watched)

        def one(
            number: int, rows: MarginRows, watch: ValidationMonitor | None, until: Deadline
        ) -> GenerationResult:
            problem = Problem(library, rows, until)
            growth = ColumnGeneration(oracle.start(problem), master.start(problem), watch)
            stop = self._stop(watched=watched)
            if len(problems) > 1:
                listeners = callback_listeners(self, number=number)
            else:
                listeners = callback_listeners(self, attributes=lambda: self._now(library, growth))
            return growth.run_until(stop, deadline=until, listeners=listeners)

        each: Sequence[ValidationMonitor | None] = watches or [None] * len(problems)
        jobs = list(zip(range(len(problems)), problems, each, strict=True))
        grown: list[GenerationResult] = []
        if len(jobs) > 1 and effective_n_jobs(self.n_jobs) > 1:
            workers = Parallel(n_jobs=self.n_jobs, prefer="threads")
            try:
                grown = list(workers(delayed(one)(*job, deadline) for job in jobs))
            except KeyboardInterrupt:
                deadline.call_off()  # the threads look at it
                raise
            return _begun(grown, len(jobs))
        for place, job in enumerate(jobs):  # one after the other, each with its share of the time
            grown.append(one(*job, deadline.share(len(jobs) - place)))
            if grown[-1].reason is INTERRUPTED:
                break
        return _begun(grown, len(jobs))

    def _master(self, library: KernelLibrary, *, watched: bool = False) -> Master[EdgePricer]:
        """Simplex where each step counts or is cheap; else from the inside to the optimum."""
        each_step_counts = (
            self.max_columns is not None
            or watched
            or self.pricing == "stratified"
            or self.stop_at_errors
        )
        if self.penalty == "l1" and each_step_counts:
            return LPMaster(self.nonnegative, self.intercept)
        return self._path_master(library)

    def _path_master(self, library: KernelLibrary, **options: Any) -> PathMaster:
        """The master that gets to the whole optimum, or along a path of C, with least work."""
        if self.penalty == "l2":
            return QPMaster(self.nonnegative, self.intercept)
        if library.n_rows <= SMALL:
            return LPMaster(self.nonnegative, self.intercept)
        return InteriorLPMaster(self.nonnegative, self.intercept, **options)

    def _oracle(self, per_step: int) -> PathOracle:
        if self.pricing == "stratified":
            return StratifiedOracle(per_step, self.max_columns, self.tol, self.stop_at_errors)
        return ScanOracle(per_step, self.max_columns, ALIKE[self.penalty])

    def _tuning_oracle(self, per_step: int) -> PathOracle:
        """Who searches on the way to a good C."""
        return ScanOracle(per_step, max_correlation=ALIKE[self.penalty])

    def _columns_per_step(self, n_rows: int) -> int:
        if self.columns_per_step != "auto":
            return int(self.columns_per_step)
        # Many columns a step save solves; a small model wants each column to count.
        limit = n_rows // 20 if self.max_columns is None else self.max_columns // 10
        # One kernel at a time, and columns of a simple one soon say the same: then fewer.
        most = 10 if self.pricing == "stratified" else 50
        return int(np.clip(min(limit, n_rows // 20), 1, most))

    def _stop(self, *, watched: bool = False) -> StopRule:
        rules: list[StopRule] = [PriceBelow(self.tol), GapBelow(self.tol)]
        if self.stop_at_errors:
            rules.append(ErrorPriceBelow(self.tol))
        if watched:
            rules.append(ValidationStall(self.n_iter_no_change))
        if self.max_columns is not None:
            rules.append(MaxColumns(self.max_columns))
        rules.append(MaxIterations(self.max_iter))
        return AnyOf(tuple(rules))

    def _keep(self, library: KernelLibrary, grown: Sequence[GenerationResult]) -> None:
        """Set the fitted attributes; a single problem gives scalars, several give arrays."""
        grouped = AdditiveModel.stack([(g.hypotheses, g.fit) for g in grown])
        model = self._model = AdditiveModel(self._show(library, grouped.parts), grouped.bias)
        single = len(grown) == 1
        self.n_columns_ = model.n_columns
        self.coef_ = model.coef[:, 0] if single else model.coef.T
        self.intercept_ = float(model.bias[0]) if single else model.bias
        self.objective_ = _pick(np.array([g.fit.objective for g in grown]), single)
        self.dual_gap_ = _pick(np.array([g.gap for g in grown], dtype=np.float64), single)
        self.trace_ = grown[0].trace if single else [g.trace for g in grown]
        self.n_iter_ = max(len(g.trace) for g in grown)
        self.stop_reason_ = str(grown[0].reason) if single else [str(g.reason) for g in grown]

    def _now(self, library: KernelLibrary, growth: ColumnGeneration[EdgePricer]) -> dict[str, Any]:
        """The attributes of the model as it stands."""
        hypotheses, fit = growth.current
        model = copy(self)
        model._keep(library, [GenerationResult(hypotheses, fit, Trace(), UNFINISHED)])
        return dict(vars(model))

    def _show(self, library: KernelLibrary, parts: Sequence[Any]) -> tuple[Any, ...]:
        """Set the attributes that show the columns; the parts in the order of the kernels."""
        place = {kernel: p for p, kernel in enumerate(library.kernels)}
        ordered: list[KernelPart] = sorted(parts, key=lambda part: place[part.kernel])
        self.kernels_ = list(library.kernels)
        counts = {part.kernel: len(part.coef) for part in ordered}
        names = unique_names([repr(kernel) for kernel in library.kernels])
        self.columns_per_kernel_ = {
            name: counts.get(kernel, 0) for name, kernel in zip(names, library.kernels, strict=True)
        }
        centers = [part.centers for part in ordered]
        self.centers_ = stack_rows(centers) if centers else library.centers[:0]
        return tuple(ordered)

    def _decision(self, X: Any) -> FloatArray:
        """The model's values, (n,) or (n, n_outputs)."""
        check_is_fitted(self, "coef_")
        check_params({"predict_dtype": self.predict_dtype}, PREDICT_RULES)
        rows = check_table(self, X, reset=False)
        model: AdditiveModel = self._model
        if self.predict_dtype == "float32":
            model = AdditiveModel(tuple(map(to_float32, model.parts)), model.bias)
        several = len(model.chunks(*rows.shape)) > 1
        with one_blas_thread() if several else nullcontext():
            values = model.decision(rows, effective_n_jobs(self.n_jobs))
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return tags


def _begun(grown: list[GenerationResult], count: int) -> list[GenerationResult]:
    """All `count` models if each has a first step; what kept them from it is raised."""
    if any(not g.trace and g.reason is not INTERRUPTED for g in grown):
        raise OutOfTimeError(NO_MODEL_YET)
    if len(grown) < count or not all(g.trace for g in grown):
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    return grown


def _pick(values: FloatArray, single: bool) -> float | FloatArray:
    return float(values[0]) if single else values
