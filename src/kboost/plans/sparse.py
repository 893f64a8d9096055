"""A sparse kernel machine as a plan: what to fit, where the rows are, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs

from kboost._typing import FloatArray, IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import Deadline
from kboost.core.iterate import Listener
from kboost.core.model import AdditiveModel
from kboost.core.stopping import StopReason
from kboost.core.trace import Trace
from kboost.data.indexed_rows import IndexedRows
from kboost.kernels.base import Kernel
from kboost.local.cell import CellPlan
from kboost.local.cells import CellFit, fit_cells
from kboost.local.choice import LocalChoice
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows
from kboost.selection.calibration import Calibration
from kboost.selection.kernels import SelectionSample
from kboost.settings import Cells, EarlyStopping
from kboost.settings.sparse_kernel import Selection, Update
from kboost.solvers.threads import threads_for


@dataclass(frozen=True)
class SparsePlan:
    """The parameters of an estimator, checked, with short forms replaced by their objects."""

    kernels: Any
    ridge: float | str
    loss: str
    selection: Selection
    update: Update
    cells: Cells | str | None  # "auto" decides
    intercept: bool
    max_columns: int | None
    max_iter: int | None
    early_stopping: EarlyStopping | None
    memory_budget: int
    random_state: Any
    labels: bool  # targets are -1 and 1
    calibrate: bool = True  # whether labels need probabilities

    @property
    def needs_calibration(self) -> bool:
        """Whether probabilities require a slope: the log loss has its own."""
        return self.labels and self.calibrate and self.loss != "log"

    @property
    def is_precomputed(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def points(self, numbers: IntArray) -> FloatArray | None:
        """The centres of precomputed kernels, which are row numbers; None for other kernels."""
        return numbers[:, None].astype(np.float64) if self.is_precomputed else None


class Location(Protocol):
    """Where the rows are, and what is computed there."""

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows, or a table that stands for them."""

    def candidates(
        self,
        kernels: Sequence[Kernel],
        rows: IndexedRows,
        points: FloatArray | None,
        nugget: Sequence[float],
    ) -> CandidateColumns:
        """The candidate columns over the rows."""

    def held_out(self, order: IntArray) -> Any:
        """The rows of these numbers, for a `ValidationMonitor`."""

    def executor(self) -> Executor:
        """The workers of the metric search."""

    def fit_cells(
        self,
        plan: CellPlan,
        rows: LocalRows,
        rng: np.random.Generator,
        deadline: Deadline,
        listeners: Sequence[Listener],
    ) -> CellFit:
        """Fit the cells where their rows are."""


@dataclass(frozen=True)
class InMemory:
    """Rows of this process; those of a memory map are read as they are needed."""

    X: Any
    n_jobs: int | None = None
    lazy: bool = False

    def candidates(
        self,
        kernels: Sequence[Kernel],
        rows: IndexedRows,
        points: FloatArray | None,
        nugget: Sequence[float],
    ) -> CandidateColumns:
        return CandidateColumns(
            kernels,
            self.X,
            order=rows.order,
            center_rows=rows.center_rows,
            points=points,
            nugget=nugget,
            lazy=self.lazy,
            n_jobs=max(effective_n_jobs(self.n_jobs), threads_for(len(rows.order))),
        )

    def held_out(self, order: IntArray) -> Any:
        return as_float64(self.X[order])

    def executor(self) -> Executor:
        return Executor(effective_n_jobs(self.n_jobs))

    def fit_cells(
        self,
        plan: CellPlan,
        rows: LocalRows,
        rng: np.random.Generator,
        deadline: Deadline,
        listeners: Sequence[Listener],
    ) -> CellFit:
        n_jobs = effective_n_jobs(self.n_jobs)
        return fit_cells(plan, rows, rng=rng, deadline=deadline, n_jobs=n_jobs, listeners=listeners)


def location_of(X: Any, n_jobs: int | None = None) -> Location:
    """Where rows are: a distributed table knows it, all others are in memory."""
    if hasattr(X, "location"):
        location: Location = X.location()
        return location
    return InMemory(X, n_jobs)


@dataclass(frozen=True)
class SparseData:
    """Checked training rows."""

    rows: IndexedRows
    location: Location
    feature_names: Any = None

    def sample(self, plan: SparsePlan, rows: IndexedRows, seed: int, size: int) -> SelectionSample:
        """A few of the rows, to choose kernels on."""
        X = self.location.X
        drawn = np.sort(np.random.default_rng(seed).permutation(len(rows.order))[:size])
        return SelectionSample(
            as_float64(X[rows.order[drawn]]),
            rows.targets[drawn],
            rows.weight[drawn],
            names=self.feature_names,
            width=X.shape[0],
            points=plan.points(rows.order[drawn]),
        )


@dataclass(frozen=True)
class SparseResult:
    """The fitted model, and how the fit went."""

    model: AdditiveModel
    kernels: Sequence[Kernel]
    no_centers: Any  # centers of an empty model
    ridge: float
    objective: float | None
    reason: StopReason
    trace: Trace
    n_iter: int
    n_cells: int | None = None
    choice: LocalChoice | None = None
    calibration: Calibration | None = None  # of a classifier without probabilities of its own


def as_float64(rows: Any) -> Any:
    """Dense rows in float64; others as they are."""
    return rows.astype(np.float64) if isinstance(rows, np.ndarray) else rows
