"""Models that follow C on training rows and are evaluated on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost.core.column_generation import GenerationResult
from kboost.core.path import PathFitter
from kboost.core.validation import ValidationMonitor
from kboost.plans.training_data import Loss


@dataclass(frozen=True)
class PathPoint:
    """The models at one C, one per output, and their joint errors."""

    C: float
    results: Sequence[GenerationResult]
    error: float  # on the training rows
    held_out_error: float | None


@dataclass(frozen=True)
class Validator:
    """The joint error of all outputs on held-out rows."""

    monitors: Sequence[ValidationMonitor]  # one per output
    loss: Loss  # of decisions (n, n_outputs)

    def error(self, results: Sequence[GenerationResult]) -> float:
        """The error of these models."""
        pairs = zip(self.monitors, results, strict=True)
        decisions = [monitor.decision(r.hypotheses, r.fit) for monitor, r in pairs]
        return self.loss(np.column_stack(decisions))


@dataclass(frozen=True)
class PathFit:
    """Models, one per output, that go from one C to the next and stay warm."""

    fitters: Sequence[PathFitter]
    first_cost: float  # at which the first column becomes worth its price
    loss: Loss  # on the training rows, of decisions (n, n_outputs)
    validator: Validator | None = None

    def solve(self, C: float) -> PathPoint:
        """The models at this C."""
        results = [fitter.solve(C) for fitter in self.fitters]
        error = self.loss(np.column_stack([result.fit.decision for result in results]))
        held_out_error = None if self.validator is None else self.validator.error(results)
        return PathPoint(C, results, error, held_out_error)

    def as_it_stands(self, C: float) -> PathPoint | None:
        """The models on the way to this C; None while one of them has no column."""
        results = [fitter.as_it_stands() for fitter in self.fitters]
        if not all(result.fit.coef.any() for result in results):
            return None
        return PathPoint(C, results, float("nan"), None)
