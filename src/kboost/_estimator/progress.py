"""`verbose=1`: the engine's log on standard error while a fit runs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _LossyHandler(logging.StreamHandler[Any]):
    """Lines that cannot be written, to a closed pipe or file, are lost; the fit is not."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Do nothing: the default writes to standard error too."""


@contextmanager
def show_progress(verbose: int) -> Iterator[None]:
    """Show the kboost log for the time of a fit; does nothing at `verbose=0`."""
    if not verbose:
        yield
        return
    logger = logging.getLogger("kboost")
    handler = _LossyHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("kboost  %(message)s"))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
