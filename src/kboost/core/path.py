"""One model followed along a rising price of errors.

At each factor the loop of grow.py goes on with the same search and the same warm run, so a path
costs little more than its last point. Columns on offer when a point was reached go back on the
shelf: at the next factor they may be worth their price.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from kboost._errors import OutOfTimeError
from kboost._typing import FloatArray
from kboost.core.column_generation import ColumnGeneration, GenerationResult
from kboost.core.protocols import PathMaster, PathOracle, Problem
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, StopRule


class PathFitter:
    """A search and a run that are asked for one factor of the slack prices after another.

    `polish` asks for the final form of each model (a vertex, say).
    """

    def __init__(
        self,
        problem: Problem[Any, Any],
        oracle: PathOracle,
        master: PathMaster,
        stop: StopRule,
        *,
        polish: bool,
    ) -> None:
        self._search, self._run = oracle.start(problem), master.start(problem)
        self._growth = ColumnGeneration(self._search, self._run)
        self._stop, self._polish = stop, polish

    def first_factor(self, edges: Callable[[FloatArray], FloatArray]) -> float:
        """The factor at which the first column is worth its price; `edges` prices a library.

        To be asked before the first step.
        """
        return self._run.first_factor(edges(self._run.fit.weights))

    def to(self, factor: float) -> GenerationResult:
        """The model at this factor; raises where time or Ctrl-C ends it before it is reached."""
        if self._growth.refused is not None:
            self._search.restore(self._growth.refused)
        self._run.scale_slack_costs(factor)
        grown = self._growth.until(self._stop, finish=self._polish, level=logging.DEBUG)
        if grown.reason is INTERRUPTED:
            raise KeyboardInterrupt
        if grown.reason.rule == OUT_OF_TIME.rule:
            raise OutOfTimeError(str(grown.reason))
        return grown
