"""Models that follow C on some rows and are judged on others: what `C="auto"` and a path share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.grow import Grown
from kboost.core.path import Follower
from kboost.core.watch import Watch

Loss = Callable[[FloatArray], float]  # of decisions (n, n_outputs)


@dataclass(frozen=True)
class Point:
    """The models at one C, one an output, and their errors together."""

    C: float
    grown: Sequence[Grown]
    error: float  # on the rows learnt from
    held_error: float | None  # on the rows held out


@dataclass(frozen=True)
class Judge:
    """The error of all outputs together on rows held out."""

    watches: Sequence[Watch]  # one an output
    loss: Loss

    def error(self, grown: Sequence[Grown]) -> float:
        """Of these models."""
        pairs = zip(self.watches, grown, strict=True)
        decisions = [watch.decision(g.hypotheses, g.fit) for watch, g in pairs]
        return self.loss(np.column_stack(decisions))


@dataclass(frozen=True)
class Part:
    """Models, one an output, that go from one C to the next and stay warm."""

    followers: Sequence[Follower]
    first: float  # the C at which a first column is worth its price
    loss: Loss
    judge: Judge | None = None

    def to(self, C: float) -> Point:
        """The models at this C."""
        grown = [follower.to(C) for follower in self.followers]
        error = self.loss(np.column_stack([g.fit.decision for g in grown]))
        return Point(C, grown, error, None if self.judge is None else self.judge.error(grown))
