"""Stop rules: each returns None for a trace, or the reason to stop.

A rule is a frozen dataclass that is called with the trace. The reason is a value: which rule, and
a sentence that states what to change in order to continue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kboost.core.deadline import Deadline
from kboost.core.trace import Step
from kboost.exceptions import SolverError


@dataclass(frozen=True)
class StopReason:
    """Why a fit ended; `str` gives the sentence."""

    rule: str
    message: str

    def __str__(self) -> str:
        return self.message


_ROUNDING = 1e-6  # relative gap that rounding may leave
INTERRUPTED = StopReason("interrupted", "interrupted; the model holds the columns found so far.")
UNFINISHED = StopReason("unfinished", "not finished; the model of a step on the way.")
EXHAUSTED = StopReason("exhausted", "no column is left that would lower the objective.")
OUT_OF_TIME = StopReason(
    "max_seconds", "max_seconds reached while solving; the last finished step stands."
)


def out_of_time(deadline: Deadline, last: Any) -> StopReason:
    """The time limit was reached after the step with the record `last`."""
    limit = "" if deadline.limit is None else f"={deadline.limit:g}"
    rest = _rest(last) if isinstance(last, Step) else ""
    return StopReason("max_seconds", f"max_seconds{limit} reached{rest}; raise max_seconds.")


def no_columns(deadline: Deadline) -> StopReason:
    """The time limit was reached before there was a column."""
    limit = "" if deadline.limit is None else f"={deadline.limit:g}"
    return StopReason(
        "max_seconds",
        f"max_seconds{limit} reached before the first column; the model is a constant; "
        "raise max_seconds.",
    )


def fewer_centers(deadline: Deadline, kept: int, of: int, reason: StopReason) -> StopReason:
    """The time limit left room for a part of the library only; `reason` ended the fit on it."""
    limit = "" if deadline.limit is None else f"={deadline.limit:g}"
    return StopReason(
        "max_seconds",
        f"max_seconds{limit} left time for {kept:,} of {of:,} centres; with them: {reason.message}",
    )


def imprecise(gap: float) -> StopReason:
    """The solver's precision does not suffice for the columns so far."""
    return StopReason(
        "precision",
        f"the solver's precision ended the fit: a step was solved to a relative gap of {gap:.1e} "
        "only; scale the features, or take column_scaling='floored' where it is None.",
    )


def solver_failed(error: SolverError) -> StopReason:
    """The solver failed on the problem of a step."""
    return StopReason("solver", f"the solver failed, and the last finished step stands: {error}")


class StopRule(Protocol):
    """Called with the trace after every step; None means continue."""

    def __call__(self, trace: Sequence[Any]) -> StopReason | None: ...


@dataclass(frozen=True)
class PriceBelow:
    """TR2: no column is worth more than `tol`.

    A price is not a distance to the optimum: the reason says "optimal" only if the relative gap is
    within `tol` too.
    """

    tol: float

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        last = trace[-1]
        if not (last.converged and last.complete) or last.price > self.tol:
            return None
        if last.gap is not None and last.gap > max(self.tol, _ROUNDING):
            return StopReason(
                "tol",
                f"no remaining column has a price above tol={self.tol:g}; the objective is within "
                f"{last.gap:.1e} of the optimum; lower tol, take a smaller C, or "
                "column_scaling='floored' where it is None, to come closer.",
            )
        gap = "" if last.gap is None else f"; the objective is within {last.gap:.1e} of the optimum"
        return StopReason(
            "tol",
            f"optimal{_as_far(last)}: no remaining column has a price above tol={self.tol:g}{gap}.",
        )


@dataclass(frozen=True)
class ErrorPriceBelow:
    """TR1: no column centred at an error point is worth more than `tol`."""

    tol: float

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        last = trace[-1]
        if not last.converged or last.error_price is None or last.error_price > self.tol:
            return None
        return StopReason(
            "stop_at_errors",
            f"TR1: no column centred at an error point has a price above tol={self.tol:g}; "
            "columns at other points may have; set stop_at_errors=False to go on.",
        )


@dataclass(frozen=True)
class GapBelow:
    """The certificate is tight enough, whatever the prices are."""

    tol: float

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        gap = trace[-1].gap
        if gap is None or gap > self.tol:
            return None
        return StopReason(
            "gap",
            f"optimal{_as_far(trace[-1])}: the relative gap {gap:.1e} is within tol={self.tol:g}.",
        )


@dataclass(frozen=True)
class MaxColumns:
    """The model is as large as it may be."""

    limit: int
    has_tol: bool = True  # whether there is a `tol` that could be raised instead

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        last = trace[-1]
        if last.n_columns < self.limit:
            return None
        return StopReason(
            "max_columns",
            f"max_columns={self.limit} reached{_rest(last)}; "
            f"raise max_columns{_or_tol(self.has_tol)}.",
        )


@dataclass(frozen=True)
class MaxIterations:
    """Columns were added often enough."""

    limit: int
    has_tol: bool = True

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        last = trace[-1]
        if last.iteration < self.limit:
            return None
        return StopReason(
            "max_iter",
            f"max_iter={self.limit} reached{_rest(last)}; raise max_iter{_or_tol(self.has_tol)}.",
        )


@dataclass(frozen=True)
class ValidationStall:
    """TR3: the validation error has not improved for `patience` steps with a few columns."""

    patience: int
    least_columns: int = 0  # steps with fewer columns do not count

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        errors = [step.validation_error for step in trace]
        measured = [e for e in errors if e is not None]
        best = errors.index(min(measured)) if measured else len(trace)
        counted = sum(step.n_columns >= self.least_columns for step in trace[best + 1 :])
        if counted < self.patience:
            return None
        return StopReason(
            "validation",
            f"TR3: the validation error {errors[best]:.4g} of step {best} was not improved in "
            f"{self.patience} steps; the model of that step is kept.",
        )


@dataclass(frozen=True)
class AnyOf:
    """Stop for the reason of the first rule that gives one, in the order given."""

    rules: tuple[StopRule, ...]

    def __call__(self, trace: Sequence[Step]) -> StopReason | None:
        return next((reason for rule in self.rules if (reason := rule(trace))), None)


def _rest(last: Step) -> str:
    """What is left to gain, where columns were priced, and for the problem to solve."""
    return f"; best remaining price {last.price:.3g}" if last.converged and last.n_priced else ""


def _or_tol(has_tol: bool) -> str:
    return " or tol" if has_tol else ""


def _as_far(last: Step) -> str:
    """What the certificate is relative to, where the library cannot be searched completely."""
    return " as far as the search could see (the library is infinite)" if last.relative else ""
