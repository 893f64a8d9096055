"""Models that follow C on some rows and are judged on others: what `C="auto"` and a path share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.column_generation import GenerationResult
from kboost.core.path import PathFitter
from kboost.core.validation import ValidationMonitor

Loss = Callable[[FloatArray], float]  # of decisions (n, n_outputs)


@dataclass(frozen=True)
class PathPoint:
    """The models at one C, one an output, and their errors together."""

    C: float
    grown: Sequence[GenerationResult]
    error: float  # on the rows learnt from
    held_error: float | None  # on the rows held out


@dataclass(frozen=True)
class Validator:
    """The error of all outputs together on rows held out."""

    watches: Sequence[ValidationMonitor]  # one an output
    loss: Loss

    def error(self, grown: Sequence[GenerationResult]) -> float:
        """Of these models."""
        pairs = zip(self.watches, grown, strict=True)
        decisions = [watch.decision(g.hypotheses, g.fit) for watch, g in pairs]
        return self.loss(np.column_stack(decisions))


@dataclass(frozen=True)
class PathFit:
    """Models, one an output, that go from one C to the next and stay warm."""

    followers: Sequence[PathFitter]
    first: float  # the C at which a first column is worth its price
    loss: Loss
    judge: Validator | None = None

    def to(self, C: float) -> PathPoint:
        """The models at this C."""
        grown = [follower.solve(C) for follower in self.followers]
        error = self.loss(np.column_stack([g.fit.decision for g in grown]))
        return PathPoint(C, grown, error, None if self.judge is None else self.judge.error(grown))
