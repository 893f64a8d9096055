"""A margin plan and its fit: what to solve, with which parts, and what came of it.

Estimators make plans; plans/margin.py runs them. Nothing here depends on an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost._typing import FloatArray
from kboost.core.column_generation import GenerationResult
from kboost.core.model import AdditiveModel
from kboost.data.merged_rows import MergedRows
from kboost.masters.margin import MarginPenalty
from kboost.plans.library import LibraryPlan
from kboost.plans.margin_parts import Parts, PathParts
from kboost.plans.training_data import OutputSet
from kboost.selection.c_path import Tuning
from kboost.selection.calibration import Calibration
from kboost.selection.left_out import Norm


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
