"""What happened, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.protocols import Fit, Proposal


def relative_gap(objective: float, bound: float | None) -> float | None:
    """`(objective - bound) / max(|objective|, |bound|)`; 0/0 is 0, no bound is None."""
    if bound is None:
        return None
    size = max(abs(objective), abs(bound))
    return max(0.0, objective - bound) / size if size > 0 else 0.0


@dataclass(frozen=True)
class Step:
    """One round of the loop, as it stood before the stop rules looked at it."""

    iteration: int  # columns were added this many times before
    n_columns: int  # columns generated so far
    objective: float
    bound: float | None  # best lower bound of the optimum so far
    price: float  # best price of the columns not yet taken
    n_priced: int
    seconds: float  # since the start
    settled: bool = True
    validation_error: float | None = None

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
        """The next step of a trace; the bound is the best so far, it need not be monotone."""
        bounds = [b for b in (trace[-1].bound if trace else None, proposal.bound) if b is not None]
        return cls(
            iteration=len(trace),
            n_columns=n_columns,
            objective=fit.objective,
            bound=max(bounds, default=None),
            price=proposal.price,
            n_priced=proposal.n_priced,
            seconds=seconds,
            settled=fit.settled,
            validation_error=validation_error,
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

    def values(self, name: str) -> FloatArray:
        """One field of every step, NaN where it was not known."""
        raw = [getattr(step, name) for step in self]
        return np.array([np.nan if value is None else value for value in raw], dtype=np.float64)
