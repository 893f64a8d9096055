"""What the two sparse kernel machines share: parameters to a plan, a result to attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kboost._estimator.base import KernelEstimator
from kboost._estimator.callbacks import callback_listeners
from kboost._estimator.parameter_rules import RULES
from kboost._rules import COUNT, POSITIVE, Rule, check_params, either, one_of, optional
from kboost._typing import FloatArray
from kboost._validation import HEAVIEST_SQUARES, check_table, check_weights
from kboost.core.deadline import Deadline
from kboost.data.indexed_rows import indexed_rows
from kboost.local.choice import LocalChoice
from kboost.plans.least_squares import fit
from kboost.plans.probabilities import calibrated_stream
from kboost.plans.sparse import InMemory, Location, SparseData, SparsePlan, SparseResult
from kboost.plans.streaming import add_batch
from kboost.settings import Cells, EarlyStopping
from kboost.settings.early_stopping import EARLY_STOPPING
from kboost.settings.sparse_kernel import SELECTIONS, UPDATES, resolve

_RULES: dict[str, Rule] = {
    "ridge": either(POSITIVE, "auto"),
    "early_stopping": EARLY_STOPPING,
    "intercept": one_of("free", "none"),
    "max_iter": optional(COUNT),
    **{
        name: RULES[name]
        for name in (
            "max_columns", "max_seconds", "memory_budget", "random_state", "n_jobs", "verbose",
        )
    },
}  # fmt: skip


class SparseKernelBase(KernelEstimator):
    """Turns parameters into a plan, runs it, and shows the result."""

    n_cells_: int | None
    choice_: LocalChoice | None

    _limits = frozenset({"max_seconds"})

    def _plan(self, *, labels: bool, loss: str = "squared") -> SparsePlan:
        """The parameters, checked."""
        check_params(self.get_params(deep=False), _RULES)
        is_auto = isinstance(self.cells, str) and self.cells == "auto"
        return SparsePlan(
            kernels=self.kernels,
            ridge=self.ridge if isinstance(self.ridge, str) else float(self.ridge),
            loss=loss,
            selection=resolve("selection", self.selection, SELECTIONS),
            update=resolve("update", self.update, UPDATES),
            cells="auto" if is_auto else Cells.of(self.cells),
            intercept=self.intercept == "free",
            max_columns=None if self.max_columns is None else int(self.max_columns),
            max_iter=None if self.max_iter is None else int(self.max_iter),
            early_stopping=EarlyStopping.of(self.early_stopping),
            memory_budget=int(self.memory_budget),
            random_state=self.random_state,
            labels=labels,
        )

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        """The arguments of `fit`, checked."""
        X, y = check_table(self, X, y, reset=True, keep_dtype=True, **options)
        return X, y, check_weights(sample_weight, X.shape[0], heaviest=HEAVIEST_SQUARES)

    def _location(self, X: Any, *, lazy: bool) -> Location:
        """Where the rows of X are."""
        return InMemory(X, self.n_jobs, lazy)

    def _run(
        self,
        plan: SparsePlan,
        X: Any,
        targets: FloatArray,
        weight: FloatArray,
        deadline: Deadline,
        *,
        lazy: bool,
    ) -> None:
        """Fit the rows and show the model; a stream that was begun ends."""
        self.__dict__.pop("_stream", None)
        names = getattr(self, "feature_names_in_", None)
        rows = indexed_rows(X, targets, weight)
        data = SparseData(rows, self._location(X, lazy=lazy), names)
        self._show(fit(plan, data, deadline, callback_listeners(self)))

    def _add_batch(self, plan: SparsePlan, X: Any, targets: FloatArray, weight: FloatArray) -> None:
        """Add a batch to the stream, or start one, and show its model."""
        stream, names = getattr(self, "_stream", None), getattr(self, "feature_names_in_", None)
        batch = (X, targets, weight)
        calibration = getattr(self, "calibration_", None)
        before = None if stream is None or calibration is None else (self._model, calibration)
        self._stream, result = add_batch(plan, stream, batch, names, callback_listeners(self))
        if plan.needs_calibration:
            rows = indexed_rows(X, targets, weight)
            data = SparseData(rows, self._location(X, lazy=False), names)
            result = calibrated_stream(plan, data, before, result)
        self._show(result)

    def _show(self, result: SparseResult) -> None:
        """Set the fitted attributes."""
        self._set_model(result.model, result.kernels, result.no_centers)
        self.ridge_, self.objective_ = result.ridge, result.objective
        self.dual_gap_ = None  # nothing is proved about columns that were not priced
        self.n_cells_, self.choice_ = result.n_cells, result.choice
        self.trace_, self.n_iter_, self.stop_reason_ = result.trace, result.n_iter, result.reason
        self.__dict__.pop("calibration_", None)
        if result.calibration is not None:
            self.calibration_ = result.calibration

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        auto = isinstance(self.cells, str) and self.cells == "auto"
        tags.input_tags.sparse = self.cells is None or auto
        return tags


def is_memory_map(X: Any) -> bool:
    """Whether rows are read as they are needed."""
    return isinstance(X, np.memmap)
