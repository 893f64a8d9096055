"""Progress of a fit on a terminal: terms, objective, gap, validation error, time left.

The screen is drawn several times a second, so that the clock runs between the steps.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table

from kboost.cli._console import styled
from kboost.core.progress import TimeEstimate
from kboost.core.trace import Step
from kboost.report.page import in_terms
from kboost.selection.c_path import Tried


def seconds_left(
    first: Step, last: Step, *, tol: float, max_columns: int | None, max_seconds: float | None
) -> float | None:
    """Estimate from the number of columns (quadratic cost) or from the decrease of the gap."""
    guesses = []
    if max_columns and last.n_columns > 0:
        share = min(1.0, last.n_columns / max_columns) ** 2
        guesses.append(last.seconds * (1 - share) / share)
    if first.gap and last.gap and tol < last.gap < first.gap:
        guesses.append(last.seconds * math.log(last.gap / tol) / math.log(first.gap / last.gap))
    if max_seconds is not None:
        guesses.append(max(0.0, max_seconds - last.seconds))
    return min(guesses, default=None)


class Progress(logging.Handler):
    """A log handler that shows the steps in the log records of a fit."""

    def __init__(self, estimator: Any, words: str = "") -> None:
        super().__init__(logging.INFO)
        self._words = words
        params = estimator.get_params(deep=False)
        seconds = params.get("max_seconds")
        self._limits = {
            "tol": float(params.get("tol") or 0.0),
            "max_columns": params.get("max_columns"),
            "max_seconds": None if seconds == "auto" else seconds,
        }
        self._started = time.monotonic()
        self._first: Step | None = None
        self.last: Step | None = None
        self.tried: Tried | None = None
        self.estimate: TimeEstimate | None = None  # logged by the fit itself
        self.now = ""  # other lines of the log: a family of kernels, a fold, its error

    def emit(self, record: logging.LogRecord) -> None:
        """Record a step."""
        what = record.args[0] if isinstance(record.args, tuple) and record.args else None
        if isinstance(what, Tried):
            self.tried = what
        elif isinstance(what, TimeEstimate):
            self.estimate = what
        elif isinstance(what, Step):
            if what.iteration == 0:
                self._first, self.estimate = what, None
            self.last = what
        elif what is not None:
            self.now = in_terms(str(what))

    def table(self) -> Table:
        """The current state as a table."""
        table = Table.grid(padding=(0, 3))
        for words, value in self.lines():
            table.add_row(styled((f"  {words}", "dim")), value)
        return table

    def lines(self) -> list[tuple[str, str]]:
        """Names and values of the current state."""
        out = [("seconds", f"{time.monotonic() - self._started:.0f}  {self._words}".rstrip())]
        if self.now:
            out.append(("now", self.now))
        if self.tried is not None:
            out.append(("choosing C", f"{self.tried.C:.3g}, held-out error {self.tried.error:.4g}"))
        last, seconds = self.last, None if self.estimate is None else self.estimate.seconds
        if last is not None:
            out.append(("terms", f"{last.n_columns:,}"))
            out.append(("objective", f"{last.objective:.6g}"))
            out.append(("gap", "not known" if last.gap is None else f"{last.gap:.1e}"))
            if last.validation_error is not None:
                out.append(("validation error", f"{last.validation_error:.4g}"))
            if seconds is None:
                seconds = seconds_left(self._first or last, last, **self._limits)
        if seconds is not None:
            out.append(("time left", f"about {seconds:.0f} s" if seconds >= 1 else "a moment"))
        return out


@contextmanager
def shown(console: Console, estimator: Any, *, live: bool, words: str = "") -> Iterator[Progress]:
    """Show the progress of a fit on a terminal; otherwise only record it."""
    logger = logging.getLogger("kboost")
    progress, level = Progress(estimator, words), logger.level
    logger.addHandler(progress)
    logger.setLevel(logging.INFO)
    try:
        if live and console.is_terminal:
            with Live(console=console, transient=True, get_renderable=progress.table):
                yield progress
        else:
            yield progress
    finally:
        logger.removeHandler(progress)
        logger.setLevel(level)


@contextmanager
def clock(console: Console, words: str) -> Iterator[None]:
    """Show progress and time on a terminal; elsewhere print one line."""
    if not console.is_terminal:
        console.print(styled((f"  {words}", "dim")))
        yield
        return
    started = time.monotonic()
    with Live(
        console=console,
        transient=True,
        get_renderable=lambda: styled((f"  {time.monotonic() - started:.0f} s  {words}", "dim")),
    ):
        yield
