"""Column generation: the oracle proposes columns, the master takes them and solves again.

    proposal = search.propose(run)        # columns worth adding, with the best price and a bound
    run.extend(proposal)                  # append to the warm solver, solve again

Nothing here depends on the method: a method is the choice of formulation, oracle, master and stop
rule. The certificate covers the whole library: an oracle that did not price all columns in the
last step prices them at the end.

A solver that fails once there are columns ends the steps. The last finished step stands, with the
best bound so far.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from kboost._typing import IntArray
from kboost.core.base_run import BaseRun
from kboost.core.checkpoint import digest
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.protocols import (
    Fit,
    Hypothesis,
    Master,
    MasterRun,
    Oracle,
    Problem,
    Proposal,
    ResumableSearch,
    Search,
)
from kboost.core.stopping import EXHAUSTED, StopReason, StopRule, imprecise, solver_failed
from kboost.core.trace import Step, Trace, relative_gap
from kboost.core.validation import ValidationMonitor
from kboost.exceptions import SolverError

_OPTIMAL = ("tol", "gap", "exhausted")  # stop rules

RunT = TypeVar("RunT", bound=MasterRun)


@dataclass(frozen=True)
class GenerationResult:
    """The columns and coefficients found, the trace, and the reason to stop."""

    hypotheses: list[Hypothesis]
    fit: Fit
    trace: Trace
    reason: StopReason
    certified: bool = True  # False: the library searched is a part of the whole one

    @property
    def model(self) -> AdditiveModel:
        return AdditiveModel.stack([(self.hypotheses, self.fit)])

    @property
    def gap(self) -> float | None:
        """Relative gap between the objective and the best bound over the whole library."""
        bound = self.trace[-1].bound if self.trace and self.certified else None
        return relative_gap(self.fit.objective, bound)


def grow(
    problem: Problem[Any, Any],
    oracle: Oracle[RunT],
    master: Master[RunT],
    stop: StopRule,
    monitor: ValidationMonitor | None = None,
    *,
    listeners: Sequence[Listener] = (),
    level: int = logging.INFO,
) -> GenerationResult:
    """Grow a model column by column until a stop rule gives its reason.

    With a `monitor` the fit of the lowest held-out error is returned, not the last one.
    """
    generation = ColumnGenerationMethod(oracle.start(problem), master.start(problem), monitor)
    return generation.run_until(stop, deadline=problem.deadline, listeners=listeners, level=level)


class ColumnGenerationMethod(Method[Step], Generic[RunT]):
    """A search and a master run, and the columns taken so far."""

    trace: Trace
    _kept: Fit
    _final: Fit | None
    _failure: StopReason | None  # of the solver

    def __init__(
        self, search: Search[RunT], run: RunT, monitor: ValidationMonitor | None = None
    ) -> None:
        self._search, self._run, self._monitor = search, run, monitor
        self._hypotheses: list[Hypothesis] = []
        self._taken: list[IntArray] = []  # columns of each step since `run_until`
        self.pending: Proposal | None = None  # proposed and not yet taken
        self._polish = True
        self.trace = Trace()

    @property
    def current(self) -> tuple[list[Hypothesis], Fit]:
        """The columns and the fit as they stand."""
        return list(self._hypotheses), self._run.fit

    def run_until(
        self,
        stop: StopRule,
        *,
        deadline: Deadline = NO_LIMIT,
        listeners: Sequence[Listener] = (),
        polish: bool = True,
        level: int = logging.INFO,
    ) -> GenerationResult:
        """Continue until a rule gives its reason; `polish` asks for the final form of the fit."""
        self._started = time.monotonic()
        self.trace, self.pending, self._taken = Trace(), None, []
        self._kept, self._final, self._failure = self._run.fit, None, None
        self._polish = polish and self._monitor is None
        reason = iterate(self, stop, deadline=deadline, listeners=listeners, level=level)
        reason = self._failure or reason
        run: Any = self._run
        if reason.rule in _OPTIMAL and isinstance(run, BaseRun):
            run.check_optimum()
        fit = self._final
        if fit is None:
            complete = self._run.cut_short if self._polish else self._run.complete
            fit = complete(self._kept)
        return GenerationResult(self._hypotheses[: len(fit.coef)], fit, self.trace, reason)

    def advance(self) -> Step | StopReason:
        if self._failure is not None:
            return self._failure
        if self.pending is not None:
            if reason := _no_progress(self._run.fit, self.pending):
                return reason
            try:
                self._extend(self.pending)
            except SolverError as error:
                return self._failed(error)
        proposal, fit = self._search.propose(self._run), self._run.fit
        self.pending = proposal
        monitor = self._monitor
        return Step.after(
            self.trace,
            fit,
            proposal,
            n_columns=len(self._hypotheses),
            seconds=time.monotonic() - self._started,
            validation_error=None if monitor is None else monitor.error(self._hypotheses, fit),
        )

    def _extend(self, proposal: Proposal) -> None:
        self._run.extend(proposal)
        self._hypotheses.extend(proposal.hypotheses)
        self._taken.append(proposal.ids)

    def identity(self) -> str | None:
        """The problem by its fit so far; a search of an infinite library cannot continue."""
        search, fit = self._search, self._run.fit
        if not isinstance(search, ResumableSearch):
            return None
        return digest(search.n_columns, len(self._hypotheses), fit.weights, fit.objective)

    def state(self) -> Any:
        """The columns of the steps, the proposal, and where the search is."""
        search: Any = self._search
        return {
            "columns": list(self._taken),
            "pending": None if self.pending is None else self.pending.ids,
            "position": search.position(),
            "trace": Trace(self.trace),
        }

    def restore(self, state: Any) -> None:
        """Give the master the columns again: in the same steps, or at once if that is the same.

        If its solver fails now, the fit ends with the steps before.
        """
        search: Any = self._search
        steps, self.trace = state["columns"], state["trace"]
        self._started -= self.trace[-1].seconds
        prices, best = [step.price for step in self.trace], len(steps)
        if self._monitor is not None:
            best = int(np.argmin(self.trace.values("validation_error")))
        elif self._polish and steps and getattr(self._run, "at_once", False):
            steps, prices, best = [np.concatenate(steps)], [max(prices)], 1
        for number, ids in enumerate(steps):
            try:
                self._extend(replace(search.proposed(ids), price=prices[number]))
            except SolverError as error:
                self._failed(error)
                self.trace = Trace(self.trace[: number + 1])
                return
            if number < best:
                self._kept = self._run.fit
        self._taken = list(state["columns"])
        if state["pending"] is not None:
            pending = search.proposed(state["pending"])
            self.pending = replace(pending, price=self.trace[-1].price)
        search.resume(state["position"])

    def keep(self) -> None:
        self._kept = self._run.fit

    def finish(self) -> None:
        if self._polish and self._failure is None:
            try:
                self._final = self._run.finish()
            except SolverError as error:
                self._failed(error)

    def certify(self) -> None:
        if self.trace and not self.trace[-1].complete:
            with suppress(SolverError):
                self.trace.certify(self._search.bound(self._run))

    def _failed(self, error: SolverError) -> StopReason:
        """The reason to stop; raises the error if there is no column that would be lost."""
        if not self._hypotheses:
            raise error
        self._failure = solver_failed(error)
        return self._failure


def _no_progress(fit: Fit, proposal: Proposal) -> StopReason | None:
    """Why another step would change nothing: no column is left, or the solver's precision ends."""
    if fit.solver_gap is not None:
        return imprecise(fit.solver_gap)
    return EXHAUSTED if fit.converged and not proposal.hypotheses else None
