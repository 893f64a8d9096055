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
    NOT_NEGATIVE,
    POSITIVE,
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
from kboost.core.protocols import Deadline, Master, Oracle, Problem
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
from kboost.formulations import MarginRows
from kboost.kernels.adapters import as_kernels
from kboost.masters.interior import InteriorLPMaster
from kboost.masters.lp import LPMaster
from kboost.oracles.scan import ScanOracle
from kboost.oracles.stratified import StratifiedOracle

SMALL = 200  # rows; below, simplex from the start is as fast

RULES: dict[str, Rule] = {
    "penalty": one_of("l1"),
    "C": POSITIVE,
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
}
# For estimators that take them.
PRICING_RULES: dict[str, Rule] = {
    "pricing": one_of("scan", "stratified"),
    "stop_at_errors": BOOLEAN,
}


@dataclass(frozen=True)
class Task:
    """One problem to solve: what it makes of the rows, and its error on rows held out."""

    formulate: Callable[[MergedRows], MarginRows]
    error: Callable[[MergedRows], Callable[[FloatArray], float]]


class KernelBoostBase(BaseEstimator):
    """The engine behind the estimators' `fit`; targets are the subclasses' business."""

    pricing: str = "scan"  # for estimators that do not take it
    stop_at_errors: bool = False

    def _learn(self, rows: MergedRows, tasks: Sequence[Task], n_input_rows: int) -> bool:
        """Grow one model a task on the merged rows and keep them; says whether Ctrl-C ended it."""
        held = None
        with show_progress(self.verbose):
            if self.validation_fraction is not None:
                rng = check_random_state(self.random_state)
                by_code = isinstance(self, ClassifierMixin)
                rows, held = hold_out(rows, self.validation_fraction, rng, by_code=by_code)
            bank = self._make_bank(rows, n_input_rows)
            problems = [task.formulate(rows) for task in tasks]
            watches = [None if held is None else Watch(held.X, task.error(held)) for task in tasks]
            grown = self._grow(bank, problems, watches)
        self._keep(bank, grown)
        return any(g.reason is INTERRUPTED for g in grown)

    def _make_bank(self, rows: MergedRows, n_input_rows: int) -> Bank:
        """Kernels resolved on the rows, lined up with the distinct x as centres."""
        precomputed = isinstance(self.kernels, str) and self.kernels == "precomputed"
        kernels = as_kernels(
            self.kernels,
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
        )

    def _grow(
        self, bank: Bank, problems: Sequence[Any], watches: Sequence[Watch | None]
    ) -> list[Grown]:
        """One model a problem (rows as a formulation made them), all on one bank."""
        per_step = self._columns_per_step(bank.n_rows)
        master = self._master(bank.n_rows, per_step)
        oracle = self._oracle(per_step)
        deadline = Deadline.after(self.max_seconds)
        jobs = [
            (Problem(bank, rows, deadline), oracle, master, self._stop(), watch)
            for rows, watch in zip(problems, watches, strict=True)
        ]
        if len(jobs) > 1 and effective_n_jobs(self.n_jobs) > 1:
            workers = Parallel(n_jobs=self.n_jobs, prefer="threads")
            return list(workers(delayed(grow)(*job) for job in jobs))
        grown: list[Grown] = []
        for job in jobs:
            grown.append(grow(*job))
            if grown[-1].reason is INTERRUPTED:
                break
        if len(grown) < len(jobs) or not all(g.trace for g in grown):
            raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
        return grown

    def _master(self, n_rows: int, per_step: int) -> Master:
        """Simplex where each step counts or is cheap; else from the inside to the optimum."""
        each_step_counts = (
            self.max_columns is not None
            or self.validation_fraction is not None
            or self.pricing == "stratified"
            or self.stop_at_errors
        )
        if each_step_counts or n_rows <= SMALL:
            return LPMaster(self.nonnegative, self.intercept, few_rows=per_step)
        return InteriorLPMaster(self.nonnegative, self.intercept)

    def _oracle(self, per_step: int) -> Oracle:
        if self.pricing == "stratified":
            return StratifiedOracle(per_step, self.max_columns, self.tol, self.stop_at_errors)
        return ScanOracle(per_step, self.max_columns)

    def _columns_per_step(self, n_rows: int) -> int:
        if self.columns_per_step != "auto":
            return int(self.columns_per_step)
        # Many columns a step save solves; a small model wants each column to count.
        limit = n_rows // 20 if self.max_columns is None else self.max_columns // 10
        return int(np.clip(min(limit, n_rows // 20), 1, 50))

    def _stop(self) -> StopRule:
        rules: list[StopRule] = [PriceBelow(self.tol), GapBelow(self.tol)]
        if self.stop_at_errors:
            rules.append(ErrorPriceBelow(self.tol))
        if self.validation_fraction is not None:
            rules.append(ValidationStall(self.n_iter_no_change))
        if self.max_columns is not None:
            rules.append(MaxColumns(self.max_columns))
        rules.append(MaxIterations(self.max_iter))
        if self.max_seconds is not None:
            rules.append(MaxSeconds(self.max_seconds))
        return AnyOf(tuple(rules))

    def _keep(self, bank: Bank, grown: Sequence[Grown]) -> None:
        """Set the fitted attributes; a single problem gives scalars, several give arrays."""
        grouped = AdditiveModel.stack([(g.hypotheses, g.fit) for g in grown])
        place = {kernel: p for p, kernel in enumerate(bank.kernels)}
        parts = sorted(cast(tuple[KernelPart, ...], grouped.parts), key=lambda p: place[p.kernel])
        model = self._model = AdditiveModel(tuple(parts), grouped.bias)
        single = len(grown) == 1
        self.kernels_ = list(bank.kernels)
        self.n_columns_ = model.n_columns
        counts = {part.kernel: len(part.coef) for part in parts}
        self.columns_per_kernel_ = {repr(k): counts.get(k, 0) for k in bank.kernels}
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
