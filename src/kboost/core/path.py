"""One model followed along a rising price of errors.

At each factor the loop of grow.py goes on with the same search and the same warm run, so a path
costs little more than its last point.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Hypothesis, Oracle, PathMaster, Problem
from kboost.core.stopping import EXHAUSTED, StopReason, StopRule
from kboost.core.trace import Step, Trace


class Follower:
    """A search and a run that are asked for one factor of the slack prices after another."""

    def __init__(
        self, problem: Problem, oracle: Oracle, master: PathMaster, stop: StopRule
    ) -> None:
        self._search, self._run = oracle.start(problem), master.start(problem)
        self._stop = stop
        self.hypotheses: list[Hypothesis] = []
        self.trace = Trace()
        self.reason: StopReason = EXHAUSTED

    def first_factor(self, edges: Callable[[FloatArray], FloatArray]) -> float:
        """The factor at which the first column is worth its price; `edges` prices a library."""
        return self._run.first_factor(edges(self._run.fit.weights))

    def to(self, factor: float, *, polish: bool) -> Fit:
        """The model at this factor; `polish` asks for its final form (a vertex, say)."""
        started = time.monotonic()
        self._run.recap(factor)
        self.trace = Trace()
        while True:
            proposal = self._search.propose(self._run)
            step = Step.after(
                self.trace,
                self._run.fit,
                proposal,
                n_columns=len(self.hypotheses),
                seconds=time.monotonic() - started,
            )
            self.trace.append(step)
            if reason := self._stop(self.trace):
                break
            if self._run.fit.settled and not proposal.hypotheses:
                reason = EXHAUSTED
                break
            self._run.extend(proposal)
            self.hypotheses.extend(proposal.hypotheses)
        self.reason = reason
        return self._run.finish() if polish else self._run.fit
