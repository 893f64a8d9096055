"""A model followed along rising slack costs (a path over C).

At each factor column generation continues with the same search and the same warm run, so a path
costs little more than its last point. Columns proposed but not taken at one factor are restored
to the candidates: at the next factor they may be worth their price.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from kboost._typing import FloatArray
from kboost.core.column_generation import ColumnGenerationMethod, GenerationResult
from kboost.core.protocols import PathMaster, PathOracle, Problem
from kboost.core.stopping import INTERRUPTED, OUT_OF_TIME, UNFINISHED, StopRule
from kboost.exceptions import OutOfTimeError, SolverError


class PathFitter:
    """One output solved at one factor of its slack costs after another.

    `polish` asks for the final form of each model (a vertex, for a linear program).
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
        self._generation = ColumnGenerationMethod(self._search, self._run)
        self._deadline, self._stop, self._polish = problem.deadline, stop, polish

    def first_factor(self, edges: Callable[[FloatArray], FloatArray]) -> float:
        """The factor at which the first column is worth its price; `edges` prices the library.

        Call it before the first `solve`.
        """
        return self._run.first_factor(edges(self._run.fit.weights))

    def as_it_stands(self) -> GenerationResult:
        """The model on the way to a factor."""
        hypotheses, fit = self._generation.current
        trace = self._generation.trace
        return GenerationResult(hypotheses[: len(fit.coef)], fit, trace, UNFINISHED)

    def solve(self, factor: float) -> GenerationResult:
        """The model at this factor; raises if time, Ctrl-C or the solver ends it before."""
        if self._generation.pending is not None:
            self._search.restore(self._generation.pending)
        self._run.scale_slack_costs(factor)
        result = self._generation.run_until(
            self._stop, deadline=self._deadline, polish=self._polish, level=logging.DEBUG
        )
        if result.reason is INTERRUPTED:
            raise KeyboardInterrupt
        if result.reason.rule == OUT_OF_TIME.rule:
            raise OutOfTimeError(str(result.reason))
        if result.reason.rule == "solver":  # the warm run has a step that it could not solve
            raise SolverError(str(result.reason))
        return result
