"""What happened, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Proposal


def relative_gap(objective: float, bound: float | None) -> float | None:
    """`(objective - bound) / max(|objective|, |bound|)`; 0/0 is 0, no bound is None."""
    if bound is None:
        return None
    size = max(abs(objective), abs(bound))
    return max(0.0, objective - bound) / size if size > 0 else 0.0


def better_bound(one: float | None, other: float | None) -> float | None:
    """The higher of two lower bounds that are known."""
    return max((bound for bound in (one, other) if bound is not None), default=None)


@dataclass(frozen=True)
class Step:
    """One round of the loop, as it was before the stop rules were called."""

    iteration: int  # columns were added this many times before
    n_columns: int  # columns generated so far
    objective: float
    bound: float | None  # best lower bound of the optimum so far
    price: float  # best price of the columns not yet taken, among those priced
    n_priced: int
    seconds: float  # since the start, to a microsecond
    converged: bool = True
    validation_error: float | None = None
    complete: bool = True  # whether the whole library was priced
    error_price: float | None = (
        None  # best price of the columns at error points, among those priced
    )
    relative: bool = False  # price and bound are those of a search of an infinite library

    @property
    def gap(self) -> float | None:
        return relative_gap(self.objective, self.bound)

    @classmethod
    def after(
        cls,
        trace: Sequence[Step],
        fit: Fit,
        proposal: Proposal,
        *,
        n_columns: int,
        seconds: float,
        validation_error: float | None = None,
    ) -> Step:
        """The next step of a trace; the bound is the best so far, it need not be monotone.

        A bound relative to a search holds for its own step only: a column found later may
        break it.
        """
        before = trace[-1].bound if trace and not proposal.relative else None
        return cls(
            iteration=len(trace),
            n_columns=n_columns,
            objective=fit.objective,
            bound=better_bound(before, proposal.bound),
            price=proposal.price,
            n_priced=proposal.n_priced,
            seconds=round(seconds, 6),
            converged=fit.converged,
            validation_error=validation_error,
            complete=proposal.complete,
            error_price=proposal.error_price,
            relative=proposal.relative,
        )

    def __str__(self) -> str:
        words = [f"step {self.iteration:3d}", f"{self.n_columns:5d} columns"]
        words.append(f"objective {self.objective:.6g}")
        if self.gap is not None:
            words.append(f"gap {self.gap:.1e}")
        if self.validation_error is not None:
            words.append(f"validation error {self.validation_error:.4f}")
        words.append(f"{self.seconds:.1f} s")
        return "  ".join(words)


class Trace(list[Step]):
    """The steps of a fit; `trace.values("objective")` is one quantity as an array."""

    def certify(self, bound: float | None) -> None:
        """Add to the last step a bound that was found after it."""
        self[-1] = replace(self[-1], bound=better_bound(self[-1].bound, bound))

    def values(self, name: str) -> FloatArray:
        """One field of every step, NaN where it was not known."""
        raw = [getattr(step, name) for step in self]
        return np.array([np.nan if value is None else value for value in raw], dtype=np.float64)
