"""What the kernel-boosting estimators share: parameter rules, running a plan, showing its fit.

    fit(X, y)  ->  run_plan(estimator, X, y, ...)
                       prepare(estimator, X, y, ...)  a plan and training data
                       fit_margin(plan, data)         in plans/margin.py
                       set_fitted(estimator, plan, fit)

`prepare` is registered for each estimator in its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from kboost._estimator.base import KernelEstimator, scalar_or_list
from kboost._estimator.callbacks import callback_listeners
from kboost._estimator.parameter_rules import RULES
from kboost._rules import UNIT, Rule, optional
from kboost._typing import FloatArray
from kboost._validation import check_table, check_validation, check_weights
from kboost.core.deadline import now
from kboost.core.iterate import Listener
from kboost.data.sizes import warn_of_size
from kboost.plans.bases import KernelColumns
from kboost.plans.library import COPIES, CenterRows, LibraryPlan
from kboost.plans.margin import fit_margin
from kboost.plans.margin_parts import MarginParts
from kboost.plans.margin_plan import MarginFit, MarginPlan
from kboost.plans.training_data import TrainingData
from kboost.settings import Barrier, ColumnGeneration, EarlyStopping

SOLVER = Rule(
    "'cg' or a ColumnGeneration",
    lambda v: (isinstance(v, str) and v == "cg") or isinstance(v, ColumnGeneration),
)
_NAMES = ("penalty", "C", "nonnegative", "intercept", "column_scaling", "max_columns", "max_iter",
          "max_seconds", "tol", "n_jobs", "random_state", "verbose")  # fmt: skip
MARGIN_RULES = {name: RULES[name] for name in _NAMES} | {"nu": optional(UNIT), "solver": SOLVER}


@dataclass(frozen=True)
class ValidationInput:
    """The validation rows that the user gave to `fit`."""

    X_val: Any = None
    y_val: Any = None
    sample_weight_val: Any = None


class MarginEstimator(KernelEstimator):
    """An estimator that is fitted by running a margin plan."""

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> tuple[Any, Any, FloatArray]:
        """Checked rows, targets and weights."""
        X, y = check_table(self, X, y, reset=True, **options)
        return X, y, check_weights(sample_weight, X.shape[0])

    def _checked_validation(
        self, validation: ValidationInput, *, y_numeric: bool = False
    ) -> tuple[Any, Any, FloatArray] | None:
        """The user's validation rows, checked like training rows; None if there are none."""
        return check_validation(self, **vars(validation), y_numeric=y_numeric)


def run_plan(
    estimator: Any, X: Any, y: Any, sample_weight: Any, validation: ValidationInput
) -> None:
    """Prepare the plan of an estimator, run it and set the fitted attributes."""
    since = now()
    plan, data = prepare(estimator, X, y, sample_weight, validation)
    n_rows, n_centers = len(data.rows.weight), plan.library.n_centers(data.rows)
    count = len(plan.outputs.outputs)
    warn_of_size(type(estimator).__name__, np.sqrt(n_rows * n_centers), count, plan.max_seconds)

    def listen(number: int | None, snapshot: Callable[[], MarginFit]) -> Sequence[Listener]:
        if number is not None:
            return callback_listeners(estimator, number=number)
        return callback_listeners(
            estimator, attributes=lambda: fitted_attributes(estimator, plan, snapshot())
        )

    set_fitted(estimator, plan, fit_margin(plan, data, listen, since=since))


@singledispatch
def prepare(
    estimator: Any, X: Any, y: Any, sample_weight: Any, validation: ValidationInput
) -> tuple[MarginPlan, TrainingData]:
    """Check parameters and input, and return the plan and the training data of a fit.

    Sets the attributes that describe the input (`n_features_in_`, `classes_`).
    """
    raise TypeError(
        "estimator must be a KernelBoostClassifier or a KernelBoostRegressor; "
        f"got {type(estimator).__name__}."
    )


def set_fitted(estimator: Any, plan: MarginPlan, fit: MarginFit) -> None:
    """Set the fitted attributes: scalars for a single output, arrays or lists for several."""
    for name, value in plan.attributes(fit).items():
        setattr(estimator, name, value)
    model, base = fit.model, plan.library.base
    columns = base.attributes(model.parts, estimator.n_features_in_)
    if columns is None:
        estimator._set_model(model, fit.library.kernels, fit.library.centers[:0])
    else:
        estimator._model = model
        estimator.kernels_ = list(getattr(fit.library, "kernels", ()))
        for name, value in columns.items():
            setattr(estimator, name, value)
        estimator._set_coefficients()
    results = fit.results
    estimator.objective_ = _scalar_or_array([result.fit.objective for result in results])
    estimator.dual_gap_ = _scalar_or_array([result.gap for result in results])
    estimator.trace_ = scalar_or_list([result.trace for result in results])
    estimator.stop_reason_ = scalar_or_list([result.reason for result in results])
    # the first step of a trace adds no columns
    estimator.n_iter_ = max(1, *(len(result.trace) - 1 for result in results))


def fitted_attributes(estimator: Any, plan: MarginPlan, fit: MarginFit) -> dict[str, Any]:
    """The attributes of the estimator if it had this fit."""
    fitted = copy(estimator)
    set_fitted(fitted, plan, fit)
    return dict(vars(fitted))


def solver_settings(solver: Any) -> ColumnGeneration | Barrier:
    """The settings that a checked `solver` stands for."""
    if isinstance(solver, str):
        return Barrier() if solver == "barrier" else ColumnGeneration()
    settings: ColumnGeneration | Barrier = solver
    return settings


def margin_parts(
    estimator: Any, base: KernelColumns, *, needs_both_signs: bool = False, nu: float | None = None
) -> MarginParts:
    """The parts that the parameters of a classifier or regressor stand for."""
    solver = solver_settings(estimator.solver)
    early_stopping = EarlyStopping.of(solver.early_stopping) or EarlyStopping()
    return MarginParts(
        base,
        penalty=estimator.penalty,
        nonnegative=bool(estimator.nonnegative),
        intercept=estimator.intercept,
        tol=estimator.tol,
        max_columns=estimator.max_columns,
        max_iter=estimator.max_iter,
        columns_per_step=solver.columns_per_step,
        pricing=getattr(solver, "pricing", "scan"),
        stop_at_errors=getattr(solver, "stop_at_errors", False),
        n_iter_no_change=early_stopping.n_iter_no_change,
        barrier=isinstance(solver, Barrier),
        nu=nu,
        needs_both_signs=needs_both_signs,
    )


def library_plan(
    estimator: Any,
    base: KernelColumns,
    n_input_rows: int,
    *,
    memory_budget: int,
    copies: str = "simplex",
    centers: CenterRows | None = None,
) -> LibraryPlan:
    """How the library of an estimator is made."""
    return LibraryPlan(
        base,
        n_input_rows,
        feature_names=getattr(estimator, "feature_names_in_", None),
        scaling=estimator.column_scaling,
        memory_budget=memory_budget,
        n_jobs=effective_n_jobs(estimator.n_jobs),
        copies=COPIES[copies],
        centers=centers,
    )


def validation_fraction(estimator: Any, validation: ValidationInput) -> float | None:
    """The fraction of rows to hold out; None if there is none, or the user gave rows."""
    early_stopping = EarlyStopping.of(solver_settings(estimator.solver).early_stopping)
    if early_stopping is None:
        return None
    fraction = early_stopping.validation_fraction
    if fraction is None and validation.X_val is None:
        raise ValueError(
            "early_stopping with validation_fraction=None requires X_val and y_val; got neither."
        )
    if fraction is not None and validation.X_val is not None:
        raise ValueError(
            "validation_fraction must be None if X_val and y_val are given; "
            f"got validation_fraction={fraction!r}."
        )
    return fraction


def is_monitored(estimator: Any, validation: ValidationInput) -> bool:
    """Whether rows are held out, so that an early step may be kept."""
    held_out = validation.X_val is not None
    return held_out or validation_fraction(estimator, validation) is not None


def _scalar_or_array(values: list[Any]) -> float | FloatArray | None:
    """One number per output; None if one is unknown."""
    if any(value is None for value in values):
        return None
    array = np.array(values, dtype=np.float64)
    return float(array[0]) if len(array) == 1 else array
