"""`verbose=1`: the engine's log on standard error while a fit runs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kboost.core.trace import Step


@contextmanager
def show_progress(verbose: int) -> Iterator[None]:
    """Show the kboost log for the time of a fit; does nothing at `verbose=0`."""
    if not verbose:
        yield
        return
    logger = logging.getLogger("kboost")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("kboost  %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@dataclass(frozen=True)
class TimeLeft:
    """Not a reason to stop: after each step it logs how long the columns to come will take.

    The time of a fit grows with the square of the columns, or in proportion to them.
    """

    max_columns: int
    quadratic: bool = True

    def __call__(self, trace: Sequence[Step]) -> None:
        """Log the estimate, at most until the last column."""
        last = trace[-1]
        if 0 < last.n_columns < self.max_columns:
            share = (last.n_columns / self.max_columns) ** (2 if self.quadratic else 1)
            left = last.seconds * (1 - share) / share
            logging.getLogger("kboost").info(
                "%d of %d columns, about %.0f s left", last.n_columns, self.max_columns, left
            )
