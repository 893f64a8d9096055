"""Models that follow C on training rows and are evaluated on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.column_generation import GenerationResult
from kboost.core.path import PathFitter
from kboost.core.validation import ValidationMonitor
from kboost.data.merged_rows import MergedRows
from kboost.plans.training_data import Loss


@dataclass(frozen=True)
class PathPoint:
    """The models at one C, one per output, and their joint errors."""

    C: float
    results: Sequence[GenerationResult]
    error: float  # on the training rows
    held_out: FloatArray | None  # decisions at the held-out rows, (n, n_outputs)
    held_out_error: float | None


@dataclass(frozen=True)
class Validator:
    """All outputs on held-out rows, and their joint error there."""

    rows: MergedRows
    monitors: Sequence[ValidationMonitor]  # one per output
    loss: Loss  # of decisions (n, n_outputs)

    def decisions(self, results: Sequence[GenerationResult]) -> FloatArray:
        """The decisions of these models, (n, n_outputs)."""
        pairs = zip(self.monitors, results, strict=True)
        return np.column_stack([monitor.decision(r.hypotheses, r.fit) for monitor, r in pairs])


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
        if self.validator is None:
            return PathPoint(C, results, error, None, None)
        held_out = self.validator.decisions(results)
        return PathPoint(C, results, error, held_out, self.validator.loss(held_out))

    def as_it_stands(self, C: float) -> PathPoint | None:
        """The models on the way to this C; None while one of them has no column."""
        results = [fitter.as_it_stands() for fitter in self.fitters]
        if not all(result.fit.coef.any() for result in results):
            return None
        return PathPoint(C, results, float("nan"), None, None)
