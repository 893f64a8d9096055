"""A series of ensembles: between fitting all coefficients and fitting one (SYB III-E, IV-B).

    F = F^1 + F^2 + ...,   F^k an ensemble of L base learners, fitted to the residual of F^1..F^k-1

Each ensemble is grown separately, so memory and time stay those of L learners. For labels an
ensemble uses only the rows whose margin `y F(x)` is below 1/2, at most `max_rows` of the lowest.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kboost._typing import IntArray
from kboost.columns.candidates import CandidateColumns
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.model import AdditiveModel
from kboost.core.protocols import Fit
from kboost.core.stopping import AnyOf, StopReason
from kboost.core.trace import Step, Trace
from kboost.core.validation import ValidationMonitor
from kboost.formulations import TargetRows
from kboost.plans.basis import BasisFit, BasisPlan, grow_basis, stop_rule
from kboost.settings import Series

LOW_MARGIN = 0.5
_LEARNT = StopReason("margins", "every row has a margin of at least 1/2; no row is left to fit.")


def fit_series(
    plan: BasisPlan,
    settings: Series,
    candidates: CandidateColumns,
    rows: TargetRows,
    *,
    labels: bool,
    deadline: Deadline = NO_LIMIT,
    monitor: ValidationMonitor | None = None,
    listeners: Sequence[Listener] = (),
) -> BasisFit:
    """Fit ensembles until `plan.max_columns` basis vectors are taken."""
    series = EnsembleSeries(plan, settings, candidates, rows, labels, deadline, monitor, listeners)
    stop = AnyOf((series.inner_reason, stop_rule(plan, monitor)))
    reason = iterate(series, stop, deadline=deadline)
    return replace(series.kept, trace=series.sum.trace, reason=reason)


class EnsembleSeries(Method[Step]):
    """One step is one ensemble; its record counts the columns and steps of all so far."""

    def __init__(
        self,
        plan: BasisPlan,
        settings: Series,
        candidates: CandidateColumns,
        rows: TargetRows,
        labels: bool,
        deadline: Deadline,
        monitor: ValidationMonitor | None,
        listeners: Sequence[Listener],
    ) -> None:
        self._plan, self._candidates, self._rows, self._labels = plan, candidates, rows, labels
        self._deadline, self._monitor, self._listeners = deadline, monitor, listeners
        self._size, self._max_rows = settings.learners * plan.step_size, settings.max_rows
        self._remaining = plan.time_remaining(deadline, self._size)
        self._decision = rows.offset
        self._started = time.monotonic()
        self._reason: StopReason | None = None  # of the last ensemble
        q = rows.targets.shape[1]
        self.sum = BasisFit([], np.zeros((0, q)), np.zeros(q), 0.0, Trace(), _LEARNT)
        self.kept = self.sum
        self.trace: list[Step] = []

    def advance(self) -> Step | StopReason:
        chosen = self._training_rows()
        if not len(chosen):
            return _LEARNT
        seconds = time.monotonic() - self._started
        ensemble = self._fit_ensemble(chosen, seconds)
        self._reason = ensemble.reason
        model = AdditiveModel.assemble(list(ensemble.hypotheses), ensemble.coef, ensemble.bias)
        self._decision = self._decision + model.decision(
            self._candidates.rows(slice(0, self._candidates.n_rows))
        )
        self.sum = _joined(self.sum, ensemble, seconds)
        return Step(
            iteration=self._n_steps,
            n_columns=len(self.sum.coef),
            objective=self.sum.objective,
            bound=None,
            price=0.0,
            n_priced=0,
            seconds=time.monotonic() - self._started,
            validation_error=self._held_out_error(),
        )

    def keep(self) -> None:
        self.kept = self.sum

    def inner_reason(self, trace: Sequence[Step]) -> StopReason | None:
        """The reason of the last ensemble, unless it was complete."""
        complete = self._reason is None or self._reason.rule in ("max_columns", "max_iter")
        return None if complete else self._reason

    @property
    def _n_steps(self) -> int:
        return max(0, len(self.sum.trace) - 1)

    def _training_rows(self) -> IntArray:
        """The rows of the next ensemble, in their order."""
        targets = self._rows.targets
        if not self._labels:
            return np.arange(len(targets))
        margin = np.min(targets * self._decision, axis=1)
        chosen = np.flatnonzero(margin < LOW_MARGIN)
        lowest = np.argsort(margin[chosen], kind="stable")[: self._max_rows]
        return np.sort(chosen[lowest])

    def _fit_ensemble(self, chosen: IntArray, seconds: float) -> BasisFit:
        plan, rows, columns = self._plan, self._rows, len(self.sum.coef)
        inner = replace(
            plan,
            max_columns=min(self._size, plan.max_columns - columns),
            max_iter=plan.max_iter - self._n_steps,
            intercept=plan.intercept and not self.trace,
            seed=plan.seed + len(self.trace),
        )
        targets = TargetRows(
            rows.targets[chosen], rows.sample_weight[chosen], self._decision[chosen]
        )
        return grow_basis(
            inner,
            self._candidates.subset(chosen),
            targets,
            self._deadline,
            listeners=self._listeners,
            remaining=replace(
                self._remaining, columns=columns, steps=self._n_steps, seconds=seconds
            ),
        )

    def _held_out_error(self) -> float | None:
        if self._monitor is None:
            return None
        none, total = np.zeros(0), self.sum
        fit = Fit(total.coef, total.bias, none, none, total.objective)
        return self._monitor.error(total.hypotheses, fit)


def _joined(total: BasisFit, new: BasisFit, seconds: float) -> BasisFit:
    """The sum with one more ensemble, whose fit began so many seconds after the start."""
    steps, columns = max(0, len(total.trace) - 1), len(total.coef)
    later = [
        replace(
            step,
            iteration=step.iteration + steps,
            n_columns=step.n_columns + columns,
            seconds=step.seconds + seconds,
        )
        for step in list(new.trace)[1 if total.trace else 0 :]  # its first is our last
    ]
    return BasisFit(
        [*total.hypotheses, *new.hypotheses],
        np.concatenate([total.coef, new.coef]),
        total.bias + new.bias,
        new.objective,
        Trace([*total.trace, *later]),
        new.reason,
    )
