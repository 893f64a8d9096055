"""The loop of multiple kernel learning: machine, weights, machine, ... until the gap is closed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kboost._errors import OutOfTimeError
from kboost.core.stopping import INTERRUPTED, StopReason, StopRule
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
OUT_OF_TIME = StopReason(
    "max_seconds", "max_seconds reached; the best kernel weights so far stand; raise max_seconds."
)
_PATIENCE = 25  # steps that move neither bound
_log = logging.getLogger("kboost")


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


def learn(machine: MixtureSVM, method: str, p: float, stop: StopRule) -> Learned:
    """Kernel weights of bounded p-norm (1, but for the method "lp").

    At p = 1 the closed form of "lp" needs thousands of turns, so Newton's method takes its place.
    """
    started = time.monotonic()
    P = machine.n_kernels
    search = LpSearch(machine, p) if p > 1 else METHODS.get(method, HessianSearch)(machine)
    best = point = machine.at(np.full(P, P ** (-1.0 / p)))
    bound, trace = 0.0, Trace()
    while True:
        best = min(best, point, key=lambda one: one.upper)
        bound = max(bound, point.below(p), getattr(search, "bound", 0.0))
        trace.append(_step(trace, best, bound, p, time.monotonic() - started))
        _log.info("%s  %d machines", trace[-1], machine.n_solved)
        reason = stop(trace) or _stalled(trace)
        if reason is not None:
            break
        try:
            following = search.step(point) if P > 1 else None
        except KeyboardInterrupt:
            reason = INTERRUPTED
            break
        except OutOfTimeError:
            reason = OUT_OF_TIME
            break
        if following is None:
            reason = _at_rest(trace)
            break
        point = following
    return Learned(best, trace, reason, machine.n_solved)


def _step(trace: Trace, best: MKLPoint, bound: float, p: float, seconds: float) -> Step:
    """Columns are kernels here; the price is what the gradient promises, relative."""
    promised = (dual_norm(best.powers, p) - float(best.theta @ best.powers)) / 2
    return Step(
        iteration=len(trace),
        n_columns=int(np.count_nonzero(best.theta)),
        objective=best.upper,
        bound=min(bound, best.upper),
        price=max(0.0, promised) / best.upper if best.upper > 0 else 0.0,
        n_priced=len(best.theta),
        seconds=seconds,
    )


def _stalled(trace: Trace) -> StopReason | None:
    if len(trace) <= _PATIENCE:
        return None
    before, now = trace[-1 - _PATIENCE], trace[-1]
    moved = before.objective > now.objective or (before.bound or 0.0) < (now.bound or 0.0)
    return None if moved else _at_rest(trace)


def _at_rest(trace: Trace) -> StopReason:
    return StopReason(
        "stalled",
        "no step lowers the objective any more, as far as rounding shows; it is within "
        f"{trace[-1].gap:.1e} of the optimum.",
    )
