"""What the kernel-boosting estimators share: parameters, the library, the loop, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kboost._typing import FloatArray
from kboost._validation import (
    BOOLEAN,
    COUNT,
    FRACTION,
    INTEGER,
    NOT_NEGATIVE,
    POSITIVE,
    SEED,
    Rule,
    check_table,
    either,
    one_of,
    optional,
)
from kboost.columns.bank import Bank
from kboost.columns.hypothesis import KernelPart, stack_rows
from kboost.core.grow import Grown, grow
from kboost.core.model import AdditiveModel
from kboost.core.path import Follower
from kboost.core.protocols import Deadline, Master, Oracle, PathMaster, Problem
from kboost.core.stopping import (
    INTERRUPTED,
    AnyOf,
    ErrorPriceBelow,
    GapBelow,
    MaxColumns,
    MaxIterations,
    MaxSeconds,
    PriceBelow,
    StopRule,
    ValidationStall,
)
from kboost.core.watch import Watch
from kboost.estimators._progress import show_progress
from kboost.estimators._rows import MergedRows, hold_out
from kboost.estimators._tuning import Part, follow_path, split_parts
from kboost.formulations import MarginRows
from kboost.kernels.adapters import as_kernels
from kboost.masters.interior import InteriorLPMaster
from kboost.masters.lp import LPMaster
from kboost.masters.qp import QPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle
from kboost.solvers.threads import blas_threads_for

PATH_TOL, PATH_STEPS = 0.05, 60  # how well, and in how many steps, each C of a path is solved
HIGHEST_PRICE = 1e12
DEFAULT_C = 1.0  # where there are too few rows to choose by
COPIES = {"l1": 32, "l2": 4}  # of a column, at most, in a master and its solver, as measured
SMALL = 200  # rows; below, simplex from the start is as fast

RULES: dict[str, Rule] = {
    "penalty": one_of("l1", "l2"),
    "C": either(POSITIVE, "auto"),
    "nonnegative": BOOLEAN,
    "intercept": one_of("free", "penalized", "none"),
    "column_scaling": one_of("unit", None),
    "columns_per_step": either(COUNT, "auto"),
    "max_columns": optional(COUNT),
    "max_iter": COUNT,
    "max_seconds": optional(POSITIVE),
    "tol": NOT_NEGATIVE,
    "validation_fraction": optional(FRACTION),
    "n_iter_no_change": COUNT,
    "memory_budget": COUNT,
    "n_jobs": optional(INTEGER),
    "random_state": SEED,
    "verbose": Rule("an integer", lambda v: INTEGER.holds(v) or BOOLEAN.holds(v)),
    "pricing": one_of("scan", "stratified"),
    "stop_at_errors": BOOLEAN,
}


@dataclass(frozen=True)
class Task:
    """One problem to solve: what it makes of the rows, and its error on rows held out."""

    formulate: Callable[[MergedRows, float], MarginRows]  # at some C
    error: Callable[[MergedRows], Callable[[FloatArray], float]]


class KernelBoostBase(BaseEstimator):
    """The engine behind the estimators' `fit`; targets are the subclasses' business."""

    def _learn(self, rows: MergedRows, tasks: Sequence[Task], n_input_rows: int) -> bool:
        """Grow one model a task on the merged rows and keep them; says whether Ctrl-C ended it."""
        deadline, held = Deadline.after(self.max_seconds), None
        with show_progress(self.verbose), blas_threads_for(len(rows.weight)):
            C = self._choose_c(rows, tasks, n_input_rows)
            if self.validation_fraction is not None:
                rng = check_random_state(self.random_state)
                by_code = isinstance(self, ClassifierMixin)
                rows, held = hold_out(rows, self.validation_fraction, rng, by_code=by_code)
                if not len(held.weight):
                    raise ValueError(
                        "validation_fraction must leave rows on both sides; "
                        f"got validation_fraction={self.validation_fraction!r}."
                    )
            bank = self._make_bank(rows, n_input_rows, deadline)
            problems = [task.formulate(rows, C) for task in tasks]
            check_prices(problems)
            watches = [None if held is None else Watch(held.X, task.error(held)) for task in tasks]
            grown = self._grow(bank, problems, watches, deadline)
        self._keep(bank, grown)
        return any(g.reason is INTERRUPTED for g in grown)

    def _choose_c(self, rows: MergedRows, tasks: Sequence[Task], n_input_rows: int) -> float:
        """The C given, or the one a path on held-out rows finds; `C_` and `tuning_` say which."""
        self.tuning_ = None
        if isinstance(self.C, str):
            deadline = Deadline.after(None if self.max_seconds is None else self.max_seconds / 2)
            parts, first = self._parts(rows, tasks, n_input_rows, deadline)
            self.tuning_ = follow_path(parts, first)
        tuned = self.tuning_
        self.C_ = float(tuned.C[tuned.best]) if tuned is not None else DEFAULT_C
        if not isinstance(self.C, str):
            self.C_ = float(self.C)
        return self.C_

    def _parts(
        self, rows: MergedRows, tasks: Sequence[Task], n_input_rows: int, deadline: Deadline
    ) -> tuple[list[Part], float]:
        """Models to follow along C on parts of the rows, and the C to begin with."""
        rng = check_random_state(self.random_state)
        stop = AnyOf((PriceBelow(PATH_TOL), GapBelow(PATH_TOL), MaxIterations(PATH_STEPS)))
        parts, first = [], np.inf
        for learn, judge in split_parts(rows, rng, by_code=isinstance(self, ClassifierMixin)):
            bank = self._make_bank(learn, n_input_rows, deadline)
            per_step = self._columns_per_step(bank.n_rows)
            master = self._path_master(bank, loose=PATH_TOL / 2)
            problems = [Problem(bank, task.formulate(learn, 1.0), deadline) for task in tasks]
            followers = [Follower(p, ScanOracle(per_step), master, stop) for p in problems]
            first = min(first, *(follower.first_factor(bank.edges) for follower in followers))
            watches = [Watch(judge.X, task.error(judge)) for task in tasks]
            parts.append(Part(followers, watches, self._joint_error(judge, tasks)))
        return parts, first

    def _joint_error(
        self, held: MergedRows, tasks: Sequence[Task]
    ) -> Callable[[FloatArray], float]:
        """The error of all outputs together on rows held out."""
        single = tasks[0].error(held)
        return lambda decisions: single(decisions[:, 0])

    def _make_bank(self, rows: MergedRows, n_input_rows: int, deadline: Deadline) -> Bank:
        """Kernels resolved on the rows, lined up with the distinct x as centres."""
        precomputed = isinstance(self.kernels, str) and self.kernels == "precomputed"
        kernels = as_kernels(
            self._library(),
            rows.X,
            sample_weight=rows.weight,
            feature_names=getattr(self, "feature_names_in_", None),
            width=n_input_rows,
        )
        return Bank(
            kernels,
            rows.X,
            centers=rows.first[:, None] if precomputed else rows.centers,
            center_of_row=rows.center_of_row,
            sample_weight=rows.weight,
            scaling=self.column_scaling,
            memory_budget=self.memory_budget,
            n_jobs=effective_n_jobs(self.n_jobs),
            copies=COPIES[self.penalty],
            before_block=deadline.check,
        )

    def _library(self) -> Any:
        """The kernels asked for."""
        return self.kernels

    def _grow(
        self,
        bank: Bank,
        problems: Sequence[Any],
        watches: Sequence[Watch | None],
        deadline: Deadline,
    ) -> list[Grown]:
        """One model a problem (rows as a formulation made them), all on one bank."""
        per_step = self._columns_per_step(bank.n_rows)
        master, oracle = self._master(bank), self._oracle(per_step)

        def one(rows: MarginRows, watch: Watch | None, until: Deadline) -> Grown:
            return grow(Problem(bank, rows, until), oracle, master, self._stop(until), watch)

        jobs = list(zip(problems, watches, strict=True))
        if len(jobs) > 1 and effective_n_jobs(self.n_jobs) > 1:
            workers = Parallel(n_jobs=self.n_jobs, prefer="threads")
            try:
                return list(workers(delayed(one)(*job, deadline) for job in jobs))
            except KeyboardInterrupt:
                deadline.call_off()  # the threads look at it
                raise
        grown: list[Grown] = []
        for place, job in enumerate(jobs):  # one after the other, each with its share of the time
            grown.append(one(*job, deadline.share(len(jobs) - place)))
            if grown[-1].reason is INTERRUPTED:
                break
        if len(grown) < len(jobs) or not all(g.trace for g in grown):
            raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
        return grown

    def _master(self, bank: Bank) -> Master:
        """Simplex where each step counts or is cheap; else from the inside to the optimum."""
        each_step_counts = (
            self.max_columns is not None
            or self.validation_fraction is not None
            or self.pricing == "stratified"
            or self.stop_at_errors
        )
        if self.penalty == "l1" and each_step_counts:
            return LPMaster(self.nonnegative, self.intercept)
        return self._path_master(bank)

    def _path_master(self, bank: Bank, **options: Any) -> PathMaster:
        """The master that gets to the whole optimum, or along a path of C, with least work."""
        if self.penalty == "l2":
            return QPMaster(self.nonnegative, self.intercept)
        if bank.n_rows <= SMALL:
            return LPMaster(self.nonnegative, self.intercept)
        return InteriorLPMaster(self.nonnegative, self.intercept, **options)

    def _oracle(self, per_step: int) -> Oracle:
        if self.pricing == "stratified":
            return StratifiedOracle(per_step, self.max_columns, self.tol, self.stop_at_errors)
        return ScanOracle(per_step, self.max_columns)

    def _columns_per_step(self, n_rows: int) -> int:
        if self.columns_per_step != "auto":
            return int(self.columns_per_step)
        # Many columns a step save solves; a small model wants each column to count.
        limit = n_rows // 20 if self.max_columns is None else self.max_columns // 10
        # One kernel at a time, and columns of a simple one soon say the same: then fewer.
        most = 10 if self.pricing == "stratified" else 50
        return int(np.clip(min(limit, n_rows // 20), 1, most))

    def _stop(self, deadline: Deadline) -> StopRule:
        rules: list[StopRule] = [PriceBelow(self.tol), GapBelow(self.tol)]
        if self.stop_at_errors:
            rules.append(ErrorPriceBelow(self.tol))
        if self.validation_fraction is not None:
            rules.append(ValidationStall(self.n_iter_no_change))
        if self.max_columns is not None:
            rules.append(MaxColumns(self.max_columns))
        rules.append(MaxIterations(self.max_iter))
        if self.max_seconds is not None:
            rules.append(MaxSeconds(self.max_seconds, deadline))
        return AnyOf(tuple(rules))

    def _keep(self, bank: Bank, grown: Sequence[Grown]) -> None:
        """Set the fitted attributes; a single problem gives scalars, several give arrays."""
        grouped = AdditiveModel.stack([(g.hypotheses, g.fit) for g in grown])
        place = {kernel: p for p, kernel in enumerate(bank.kernels)}
        parts = sorted(cast(tuple[KernelPart, ...], grouped.parts), key=lambda p: place[p.kernel])
        model = self._model = AdditiveModel(tuple(parts), grouped.bias)
        single = len(grown) == 1
        self._level = grown[0].fit.level
        self.kernels_ = list(bank.kernels)
        self.n_columns_ = model.n_columns
        counts = {part.kernel: len(part.coef) for part in parts}
        names = numbered([repr(kernel) for kernel in bank.kernels])
        self.columns_per_kernel_ = {
            name: counts.get(kernel, 0) for name, kernel in zip(names, bank.kernels, strict=True)
        }
        centers = [part.centers for part in parts]
        self.centers_ = stack_rows(centers) if centers else bank.centers[:0]
        self.coef_ = model.coef[:, 0] if single else model.coef.T
        self.intercept_ = float(model.bias[0]) if single else model.bias
        self.objective_ = _pick(np.array([g.fit.objective for g in grown]), single)
        self.dual_gap_ = _pick(np.array([g.gap for g in grown], dtype=np.float64), single)
        self.trace_ = grown[0].trace if single else [g.trace for g in grown]
        self.n_iter_ = max(len(g.trace) for g in grown)
        self.stop_reason_ = str(grown[0].reason) if single else [str(g.reason) for g in grown]

    def _decision(self, X: Any) -> FloatArray:
        """The model's values, (n,) or (n, n_outputs)."""
        check_is_fitted(self, "coef_")
        values = self._model.decision(check_table(self, X, reset=False))
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return tags


def _pick(values: FloatArray, single: bool) -> float | FloatArray:
    return float(values[0]) if single else values


def numbered(names: Sequence[str]) -> list[str]:
    """Names with equal ones told apart: a, a #2, a #3."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return out


def check_prices(problems: Sequence[MarginRows]) -> None:
    """Refuse prices of errors that leave the solvers no digits."""
    highest = max(float(rows.caps.max()) for rows in problems)
    if not highest < HIGHEST_PRICE:
        raise ValueError(
            f"C times the largest sample weight must be below {HIGHEST_PRICE:g}; got {highest:g}."
        )
