"""A single computation run by the driver, which catches Ctrl-C inside it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Generic, TypeVar

from kboost.core.iterate import Method, iterate
from kboost.core.stopping import StopReason

ResultT = TypeVar("ResultT")


def interruptible(
    compute: Callable[[], tuple[ResultT, StopReason]], otherwise: ResultT
) -> tuple[ResultT, StopReason]:
    """The result with its reason; `otherwise` if Ctrl-C, or the end of the time, comes first."""
    method = _OneStep(compute, otherwise)
    reason = iterate(method, level=logging.DEBUG)
    return method.result, reason


class _OneStep(Method[str], Generic[ResultT]):
    """One step computes everything."""

    def __init__(
        self, compute: Callable[[], tuple[ResultT, StopReason]], otherwise: ResultT
    ) -> None:
        self._compute, self.result = compute, otherwise
        self.trace: list[str] = []

    def advance(self) -> StopReason:
        self.result, reason = self._compute()
        return reason
