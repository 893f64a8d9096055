"""What the sparse kernel machines share: rows, kernels, the fit, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
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
from kboost._rules import (
    BOOLEAN,
    COUNT,
    FRACTION,
    POSITIVE,
    UNIT,
    check_params,
    either,
    one_of,
    optional,
)
from kboost._typing import FloatArray
from kboost._validation import check_table, check_weights, unchanged_on_error
from kboost.columns.candidates import CandidateColumns
from kboost.columns.float32 import to_float32
from kboost.columns.hypothesis import stack_rows
from kboost.core.deadline import Deadline
from kboost.core.model import AdditiveModel
from kboost.core.stopping import INTERRUPTED
from kboost.core.trace import Trace
from kboost.core.validation import ValidationMonitor
from kboost.data.indexed_rows import IndexedRows
from kboost.data.kernel_checks import check_psd, nugget_of, sample_rows
from kboost.formulations import TargetRows
from kboost.kernels.base import Kernel
from kboost.kernels.names import unique_names
from kboost.local.cells import CellFit, CellSpec, cell_size, fit_cells
from kboost.local.choice import (
    LocalChoice,
    choose_local,
    choose_local_ridge,
    given,
)
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows
from kboost.plans.least_squares import SparseFit, SparseSpec, fit_rows
from kboost.plans.series import fit_series
from kboost.selection.kernels import ROWS, SelectionSample, choose, sample_size
from kboost.solvers.threads import blas_threads_for, one_blas_thread, threads_for

_CUT_SHORT = " max_seconds cut the choice of kernels and ridge short."
_COLUMNS = 20.0  # by default so many times the square root of the rows

SPARSE_RULES = {
    "selection": one_of("random", "mp", "max-res", "boost", "ald", "ran"),
    "basis_per_step": either(COUNT, "auto"),
    "update": one_of("full", "one", "joint"),
    "ridge": either(POSITIVE, "auto"),
    "n_candidates": optional(COUNT),
    "n_init_rows": optional(COUNT),
    "ald_threshold": POSITIVE,
    "ran_threshold": POSITIVE,
    "combination": one_of("boost", "mp"),
    "shrinkage": UNIT,
    "series": optional(COUNT),
    "cells": optional(either(COUNT, "auto")),
    "partitions": COUNT,
    "fit_intercept": BOOLEAN,
    "max_columns": optional(COUNT),
    "max_iter": optional(COUNT),
    "max_seconds": optional(POSITIVE),
    "validation_fraction": optional(FRACTION),
    **{
        name: RULES[name]
        for name in (
            "n_iter_no_change",
            "memory_budget",
            "random_state",
            "predict_dtype",
            "n_jobs",
            "verbose",
        )
    },
}


class SparseKernelBase(ExplainMixin, CallbackSupportMixin, BaseEstimator):
    """The engine behind `fit`; targets are the subclasses' business."""

    n_cells_: int | None
    choice_: LocalChoice | None

    def _fit(
        self, X: Any, rows: IndexedRows, n_input_rows: int, deadline: Deadline, *, lazy: bool
    ) -> bool:
        """Choose kernels, grow, keep; says whether Ctrl-C ended it."""
        self.__dict__.pop("_stream", None)  # a stream that was begun is over
        self._check_combination()
        rng = check_random_state(self.random_state)
        seed = int(rng.randint(2**31 - 1))
        if size := cell_size(self, X, len(rows.center_rows)):
            self._fit_in_cells(X, rows, size, seed, deadline)
            return False
        with show_progress(self.verbose), blas_threads_for(len(rows.order)):
            held = None
            if self.validation_fraction is not None:
                rows, held = self._hold_out(rows, rng)
            until = deadline.share(2)
            size = sample_size(self.kernels, self.ridge, until)
            sample = self._sample(X, rows, n_input_rows, seed, size)
            choice = choose(self.kernels, self.ridge, sample, until)
            candidates = self._candidates(choice.kernels, X, rows, lazy)
            spec = self._spec(choice.ridge, candidates, seed)
            watch = None if held is None else self._watch(X, held)
            problem = TargetRows.of(rows.targets, rows.weight)
            fitted = self._grow(spec, candidates, problem, deadline, watch)
            if not fitted.trace:
                raise KeyboardInterrupt(
                    "interrupted before there was a model; nothing has changed."
                )
            self._keep(candidates, spec, fitted)
            whole = choice.finished and len(sample.weight) == min(ROWS, len(rows.order))
            self.stop_reason_ += "" if whole else _CUT_SHORT
        return fitted.reason is INTERRUPTED

    def _fit_in_cells(
        self, X: Any, rows: IndexedRows, size: int, seed: int, deadline: Deadline
    ) -> None:
        rows, inside = rows.by_center()
        rng = np.random.default_rng(seed)
        share = rows.weight / rows.weight.sum()
        bias = share @ rows.targets if self.fit_intercept else np.zeros(rows.targets.shape[1])
        local = LocalRows(X, rows.order, rows.targets - bias, rows.weight)
        with show_progress(self.verbose), one_blas_thread():  # cells are small
            until, resolved = deadline.share(2), True
            if isinstance(self.kernels, str) and self.kernels == "auto":
                choice, finished = self._choose_local(local, size, rng, until)
            else:
                half = until.share(2)
                count = sample_size(self.kernels, 1.0, half)
                sample = self._sample(X, rows, X.shape[0], seed, count)
                kernels, _, resolved = choose(self.kernels, 1.0, sample, half)
                resolved = resolved and len(sample.weight) == min(ROWS, len(rows.order))
                check_psd(kernels)
                if isinstance(self.ridge, str):
                    choice, finished = choose_local_ridge(local, size, kernels, rng, until)
                else:
                    choice, finished = given(kernels, float(self.ridge)), True
            ridge = choice.ridge if isinstance(self.ridge, str) else float(self.ridge)
            spec = CellSpec(
                size, choice.kernel, ridge, self.partitions, self.max_columns, self.selection
            )
            fitted = self._fit_cells(spec, local, rng, deadline)
        self._show(AdditiveModel(tuple(fitted.parts), bias), (choice.kernel,), X[:0])
        self.ridge_, self.objective_ = ridge, fitted.objective + inside
        self.n_cells_, self.choice_ = fitted.n_cells, choice
        self.trace_, self.n_iter_, self.stop_reason_ = Trace(), 1, str(fitted.reason)
        self.stop_reason_ += "" if finished and resolved else _CUT_SHORT

    # Where rows are: the ways in which rows on other machines differ

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        """What `fit` was given, checked."""
        X, y = check_table(self, X, y, reset=True, keep_dtype=True, **options)
        return X, y, check_weights(sample_weight, X.shape[0])

    def _candidates(
        self, kernels: Sequence[Kernel], X: Any, rows: IndexedRows, lazy: bool
    ) -> CandidateColumns:
        return CandidateColumns(
            kernels,
            X,
            order=rows.order,
            center_rows=rows.center_rows,
            points=self._points(rows.order[rows.center_rows]),
            nugget=self._nugget(kernels, X, rows),
            lazy=lazy,
            n_jobs=max(effective_n_jobs(self.n_jobs), threads_for(len(rows.order))),
        )

    def _choose_local(
        self, rows: LocalRows, size: int, rng: np.random.Generator, deadline: Deadline
    ) -> tuple[LocalChoice, bool]:
        return choose_local(rows, size, rng, Executor(effective_n_jobs(self.n_jobs)), deadline)

    def _fit_cells(
        self, spec: CellSpec, rows: LocalRows, rng: np.random.Generator, deadline: Deadline
    ) -> CellFit:
        n_jobs = effective_n_jobs(self.n_jobs)
        return fit_cells(spec, rows, rng=rng, deadline=deadline, n_jobs=n_jobs)

    def _grow(
        self,
        spec: SparseSpec,
        candidates: CandidateColumns,
        problem: TargetRows,
        deadline: Deadline,
        watch: ValidationMonitor | None,
    ) -> SparseFit:
        if self.series is None:
            return fit_rows(
                spec, candidates, problem, deadline, watch, listeners=callback_listeners(self)
            )
        return fit_series(
            spec,
            self.series,
            candidates,
            problem,
            labels=self._labels_are_signs,
            deadline=deadline,
            watch=watch,
            listeners=callback_listeners(self),
        )

    _labels_are_signs = False  # targets are -1 and 1

    def _check_combination(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.cells is None and self.partitions != 1:
            raise ValueError(
                "partitions must be 1 without cells, of which they are made; "
                f"got partitions={self.partitions!r} and cells=None."
            )
        if self.series is not None and self.update == "joint":
            raise ValueError(
                "update must be 'full' or 'one' with series, whose ensembles are of base learners; "
                f"got update='joint' and series={self.series!r}."
            )
        if self.update != "one" and self.shrinkage != 1.0:
            raise ValueError(
                "shrinkage must be 1.0 unless update='one', where one coefficient is set a step; "
                f"got shrinkage={self.shrinkage!r} and update={self.update!r}."
            )

    def _spec(self, ridge: float, candidates: CandidateColumns, seed: int) -> SparseSpec:
        size = None if isinstance(self.basis_per_step, str) else int(self.basis_per_step)
        return SparseSpec(
            selection=self.selection,
            basis_per_step=size,
            update=self.update,
            loss=self.loss,
            ridge=ridge,
            fit_intercept=bool(self.fit_intercept),
            n_candidates=self.n_candidates,
            n_init_rows=self.n_init_rows,
            ald_threshold=self.ald_threshold,
            ran_threshold=self.ran_threshold,
            combination=self.combination,
            shrinkage=self.shrinkage,
            max_columns=self._limit(candidates.n_columns, candidates.n_rows),
            max_iter=10**9 if self.max_iter is None else int(self.max_iter),
            max_seconds=self.max_seconds,
            n_iter_no_change=self.n_iter_no_change,
            memory_budget=self.memory_budget,
            seed=seed,
        )

    def _limit(self, n_columns: int, n_rows: int) -> int:
        """Of the columns of a model."""
        if self.max_columns is not None:
            return int(self.max_columns)
        return int(min(n_columns, np.ceil(_COLUMNS * np.sqrt(n_rows))))

    def _hold_out(
        self, rows: IndexedRows, rng: np.random.RandomState
    ) -> tuple[IndexedRows, IndexedRows]:
        learn, held = rows.hold_out(self.validation_fraction, rng, labels=self._labels_are_signs)
        if not len(held.order):
            raise ValueError(
                "validation_fraction must leave rows on both sides; "
                f"got validation_fraction={self.validation_fraction!r}."
            )
        return learn, held

    def _sample(
        self, X: Any, rows: IndexedRows, n_input_rows: int, seed: int, size: int
    ) -> SelectionSample:
        """A few rows to choose kernels on."""
        drawn = np.random.default_rng(seed).permutation(len(rows.order))[:size]
        drawn = np.sort(drawn)
        some = X[rows.order[drawn]]
        some = some.astype(np.float64) if isinstance(some, np.ndarray) else some
        return SelectionSample(
            some,
            rows.targets[drawn],
            rows.weight[drawn],
            names=getattr(self, "feature_names_in_", None),
            width=n_input_rows,
            points=self._points(rows.order[drawn]),
        )

    def _points(self, numbers: Any) -> Any:
        """Centres by number, where kernels are precomputed."""
        precomputed = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return numbers[:, None].astype(np.float64) if precomputed else None

    def _nugget(self, kernels: Sequence[Kernel], X: Any, rows: IndexedRows) -> list[float]:
        """For matrices that are rounded, one a kernel."""
        centers = rows.order[rows.center_rows]
        some = centers[sample_rows(len(centers))]
        points = self._points(some)
        if points is None:
            return []
        m = min(len(centers), self._limit(len(kernels) * len(centers), len(rows.order)))
        few, single = X[some].astype(np.float64), X.dtype == np.float32
        return [nugget_of(kernel, few, points, m, single=single) for kernel in kernels]

    def _watch(self, X: Any, held: IndexedRows) -> ValidationMonitor:
        share = held.weight / held.weight.sum()
        rows = X[held.order]
        rows = rows.astype(np.float64) if isinstance(rows, np.ndarray) else rows
        return ValidationMonitor(rows, lambda decision: self._error(held.targets, decision, share))

    def _error(self, targets: FloatArray, decision: FloatArray, share: FloatArray) -> float:
        """Of rows held out."""
        raise NotImplementedError

    def _keep(self, candidates: CandidateColumns, spec: SparseSpec, fitted: SparseFit) -> None:
        model = AdditiveModel.assemble(list(fitted.hypotheses), fitted.coef, fitted.bias)
        place = {kernel: p for p, kernel in enumerate(candidates.kernels)}
        parts: list[Any] = sorted(model.parts, key=lambda part: place[part.kernel])
        empty = candidates.points(np.zeros(0, dtype=np.intp))
        self._show(AdditiveModel(tuple(parts), model.bias), candidates.kernels, empty)
        self.ridge_ = spec.ridge
        self.objective_ = fitted.objective
        self.trace_ = fitted.trace
        self.n_iter_ = max(1, len(fitted.trace) - 1)
        self.stop_reason_ = str(fitted.reason)
        self.n_cells_, self.choice_ = None, None

    def _show(self, model: AdditiveModel, kernels: Sequence[Kernel], no_centers: Any) -> None:
        """Set the attributes that show the model."""
        parts: Sequence[Any] = model.parts
        single = len(model.bias) == 1
        counts = {kernel: 0 for kernel in kernels}
        for part in parts:
            counts[part.kernel] += len(part.coef)
        self._model = model
        self.kernels_ = list(kernels)
        names = unique_names([repr(kernel) for kernel in kernels])
        self.columns_per_kernel_ = dict(zip(names, counts.values(), strict=True))
        centers = [part.centers for part in parts] or [no_centers]
        self.centers_ = stack_rows(centers) if len(centers) > 1 else centers[0]
        self.n_columns_ = model.n_columns
        self.coef_ = model.coef[:, 0] if single else model.coef.T
        self.intercept_ = float(model.bias[0]) if single else model.bias
        self.dual_gap_ = None  # nothing is proved about columns that were not looked at

    def _decision(self, X: Any) -> FloatArray:
        """The model's values, (n,) or (n, n_outputs)."""
        check_is_fitted(self, "coef_")
        check_params(
            {"predict_dtype": self.predict_dtype}, {"predict_dtype": RULES["predict_dtype"]}
        )
        rows = check_table(self, X, reset=False)
        model: AdditiveModel = self._model
        if self.predict_dtype == "float32":
            model = AdditiveModel(tuple(map(to_float32, model.parts)), model.bias)
        several = len(model.chunks(*rows.shape)) > 1
        with one_blas_thread() if several else nullcontext():
            values = model.decision(rows, effective_n_jobs(self.n_jobs))
        return values

    @with_callbacks
    def _guarded_fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """`fit`, heard by callbacks."""
        with fit_task(self, X, y, sample_weight):
            return self._guarded(lambda: self._learn(X, y, sample_weight))

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Check and fit; says whether Ctrl-C ended it."""
        raise NotImplementedError

    def _guarded(self, work: Any) -> Self:
        """Do it, or leave the estimator as it was; after Ctrl-C raise it again."""
        with unchanged_on_error(self):
            stopped = work()
        if stopped:
            raise KeyboardInterrupt
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.cells is None or self.cells == "auto"
        tags.input_tags.pairwise = isinstance(self.kernels, str) and self.kernels == "precomputed"
        return tags


def is_memory_map(X: Any) -> bool:
    """Whether rows should be read as they are needed."""
    return isinstance(X, np.memmap)
