"""Defaults for the run of a master."""

from __future__ import annotations

from kboost._typing import FloatArray
from kboost.core.protocols import Fit


class BaseRun:
    """A run without a certificate whose fits need no final form.

    A subclass sets `fit` and gives `extend`, and `price` or `price_of`.
    """

    fit: Fit
    at_once = False  # whether a fit that continues may be given all its columns in one step

    def bound(self, edges: FloatArray) -> float | None:
        """Lower bound of the optimum over the library: none."""
        return None

    def finish(self) -> Fit:
        """The last fit, unchanged."""
        return self.fit

    def check_optimum(self) -> None:
        """Raise if the optimum is not a usable model; a fit that a limit ended is not checked."""

    def complete(self, fit: Fit) -> Fit:
        """An earlier fit, unchanged."""
        return fit

    def cut_short(self, fit: Fit) -> Fit:
        """The same as `complete`."""
        return self.complete(fit)
