"""The loop of multiple kernel learning: machine, weights, machine, ... until the gap is closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.stopping import StopReason, StopRule
from kboost.core.trace import Step, Trace
from kboost.mkl.hessian import HessianSearch
from kboost.mkl.level import LevelSearch
from kboost.mkl.lp import LpSearch
from kboost.mkl.silp import SilpSearch
from kboost.mkl.simple import SimpleSearch
from kboost.mkl.svm import MixtureSVM, MKLPoint, dual_norm

METHODS: dict[str, Callable[[MixtureSVM], WeightSearch]] = {
    "simple": SimpleSearch,
    "silp": SilpSearch,
    "level": LevelSearch,
    "hessian": HessianSearch,
}
_PATIENCE = 25  # steps that move neither bound


class WeightSearch(Protocol):
    """A method at work."""

    def step(self, point: MKLPoint) -> MKLPoint | None:
        """The next point; None where the method finds none."""


@dataclass(frozen=True)
class Learned:
    """The best point found, and how."""

    point: MKLPoint
    trace: Trace
    reason: StopReason
    n_machines: int


class KernelWeighting(Method[Step]):
    """Kernel weights and support vector machine in turns."""

    trace: Trace

    def __init__(self, machine: MixtureSVM, method: str, p: float) -> None:
        P = machine.n_kernels
        self._machine, self._p = machine, p
        self._search: WeightSearch = (
            LpSearch(machine, p) if p > 1 else METHODS.get(method, HessianSearch)(machine)
        )
        self._started, self._bound = time.monotonic(), 0.0
        self._point = machine.at(np.full(P, P ** (-1.0 / p)))
        self.best = self._point
        self.trace = Trace()

    def advance(self) -> Step | StopReason:
        if self.trace:
            if _stalled(self.trace):
                return _no_descent(self.trace)
            point = self._search.step(self._point) if self._machine.n_kernels > 1 else None
            if point is None:
                return _no_descent(self.trace)
            self._point = point
        self.best = min(self.best, self._point, key=lambda point: point.upper)
        below = self._point.below(self._p)
        self._bound = max(self._bound, below, getattr(self._search, "bound", 0.0))
        return self._record()

    def _record(self) -> Step:
        """Columns are kernels here; the price is the relative descent the gradient promises."""
        best = self.best
        promised = (dual_norm(best.powers, self._p) - float(best.theta @ best.powers)) / 2
        return Step(
            iteration=len(self.trace),
            n_columns=int(np.count_nonzero(best.theta)),
            objective=best.upper,
            bound=min(self._bound, best.upper),
            price=max(0.0, promised) / best.upper if best.upper > 0 else 0.0,
            n_priced=len(best.theta),
            seconds=time.monotonic() - self._started,
        )


def learn(
    machine: MixtureSVM,
    method: str,
    p: float,
    stop: StopRule,
    *,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> Learned:
    """Kernel weights of bounded p-norm (1, but for the method "lp").

    At p = 1 the closed form of "lp" needs thousands of turns, so Newton's method takes its place.
    """
    weighting = KernelWeighting(machine, method, p)
    reason = iterate(weighting, stop, deadline=deadline, listeners=listeners)
    if not weighting.trace:
        raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
    return Learned(weighting.best, weighting.trace, reason, machine.n_solved)


def _stalled(trace: Trace) -> bool:
    """Whether neither objective nor bound moved over the last steps."""
    if len(trace) <= _PATIENCE:
        return False
    before, now = trace[-1 - _PATIENCE], trace[-1]
    moved = before.objective > now.objective or (before.bound or 0.0) < (now.bound or 0.0)
    return not moved


def _no_descent(trace: Trace) -> StopReason:
    return StopReason(
        "stalled",
        "no step lowers the objective within rounding; it is within "
        f"{trace[-1].gap:.1e} of the optimum.",
    )
