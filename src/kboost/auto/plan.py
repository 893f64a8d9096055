"""What may compete in the search for a model of a table, and how it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kboost.auto.certified import Problem
from kboost.auto.scored_candidate import Scorer
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.rounds import ROUNDS


@dataclass(frozen=True)
class AutoPlan:
    """What may compete, and how it is judged."""

    scorer: Scorer  # larger is better; values are on the original scale of the target
    prefer: str = "accuracy"
    families: Sequence[MetricFamily] = FAMILIES
    rounds: int = ROUNDS
    blend: bool = True
    scales: bool = True  # whether transforms of the target compete
    engine: bool = True  # whether the final fit has all columns, in cells where rows are many
    problem: Problem | None = None  # of column generation, which competes for a small model
    random_state: Any = 0
    n_jobs: int | None = None
