"""The one loop: ask the oracle, look at the trace, give the master what it offered.

Nothing in it depends on the method; a method is the choice of the four parts. The loop always
ends with a model: when time runs out inside a solver, or on Ctrl-C, the last finished fit stands,
and so it does, or what improves on it, when a solver's precision does not reach any further.
It also ends with a certificate: an oracle that has not looked at the whole library in the last step
does so once more, whatever the reason to stop (but Ctrl-C).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kboost._errors import OutOfTimeError
from kboost.core.model import AdditiveModel
from kboost.core.protocols import (
    Fit,
    Hypothesis,
    Master,
    MasterRun,
    Oracle,
    Problem,
    Proposal,
    Search,
)
from kboost.core.stopping import (
    EXHAUSTED,
    INTERRUPTED,
    OUT_OF_TIME,
    StopReason,
    StopRule,
    imprecise,
)
from kboost.core.trace import Step, Trace, relative_gap
from kboost.core.validation import ValidationMonitor

logger = logging.getLogger("kboost")

RunT = TypeVar("RunT", bound=MasterRun)


@dataclass(frozen=True)
class GenerationResult:
    """A grown model with its history."""

    hypotheses: list[Hypothesis]
    fit: Fit
    trace: Trace
    reason: StopReason

    @property
    def model(self) -> AdditiveModel:
        return AdditiveModel.stack([(self.hypotheses, self.fit)])

    @property
    def gap(self) -> float | None:
        """Relative gap of the fit to the best bound found, over the whole library."""
        bound = self.trace[-1].bound if self.trace else None
        return relative_gap(self.fit.objective, bound)


def grow(
    problem: Problem[Any, Any],
    oracle: Oracle[RunT],
    master: Master[RunT],
    stop: StopRule,
    watch: ValidationMonitor | None = None,
) -> GenerationResult:
    """Grow a model column by column until a stop rule gives its reason.

    With a `watch` the fit of the lowest held-out error is kept instead of the last one.
    """
    return ColumnGeneration(oracle.start(problem), master.start(problem)).until(stop, watch)


class ColumnGeneration(Generic[RunT]):
    """A search and a run at work, and the columns the run has taken from the search."""

    def __init__(self, search: Search[RunT], run: RunT) -> None:
        self._search, self._run = search, run
        self._hypotheses: list[Hypothesis] = []
        self.refused: Proposal | None = None  # on offer when a rule ended the loop

    @property
    def now(self) -> tuple[list[Hypothesis], Fit]:
        """The columns and the fit as they stand."""
        return list(self._hypotheses), self._run.fit

    def until(
        self,
        stop: StopRule,
        watch: ValidationMonitor | None = None,
        *,
        finish: bool = True,
        level: int = logging.INFO,
    ) -> GenerationResult:
        """Go on from here until a rule gives its reason; see `grow`.

        `finish` asks for the final form of the fit, `level` is that of the log.
        """
        started = time.monotonic()
        search, run, hypotheses = self._search, self._run, self._hypotheses
        trace, self.refused = Trace(), None
        kept, reason = run.fit, None
        final: Fit | None = None
        try:
            try:
                while True:
                    proposal = search.propose(run)
                    error = watch.error(hypotheses, run.fit) if watch else None
                    if error is None or trace.improved_by(error):
                        kept = run.fit
                    step = Step.after(
                        trace,
                        run.fit,
                        proposal,
                        n_columns=len(hypotheses),
                        seconds=time.monotonic() - started,
                        validation_error=error,
                    )
                    trace.append(step)
                    logger.log(level, "%s", step)
                    if reason := stop(trace) or _over(run.fit, proposal):
                        self.refused = proposal
                        break
                    run.extend(proposal)
                    hypotheses.extend(proposal.hypotheses)
                if watch is None and finish:
                    final = run.finish()
            except OutOfTimeError:
                reason = reason or OUT_OF_TIME
            if trace and not trace[-1].complete:
                trace.certify(search.bound(run))
        except KeyboardInterrupt:
            reason = INTERRUPTED
        logger.log(level, "%s", reason)
        if final is None:
            judged = watch is not None or not finish
            final = run.complete(kept) if judged else run.cut_short(kept)
        fit = final
        return GenerationResult(hypotheses[: len(fit.coef)], fit, trace, reason)


def _over(fit: Fit, proposal: Proposal) -> StopReason | None:
    """Going on changes nothing, as nothing is left to add or tighten, or nothing for the better."""
    if fit.solver_gap is not None:
        return imprecise(fit.solver_gap)
    return EXHAUSTED if fit.converged and not proposal.hypotheses else None
