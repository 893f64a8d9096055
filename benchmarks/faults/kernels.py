"""A kernel function of the user's own that fails at its k-th call."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from benchmarks.faults.kind import Begin, Kind, one_of_calls, with_kernels
from benchmarks.faults.outcome import InjectedError, Outcome, attempt
from benchmarks.faults.subjects import Subject
from kboost.kernels import Linear


class Failing:
    """A Gaussian; from its k-th call on, or once, `fail` changes its values."""

    def __init__(self, at: int, fail: Callable[[Any], Any], *, once: bool) -> None:
        self.at, self.fail, self.once, self.calls = at, fail, once, 0

    def __call__(self, A: Any, B: Any) -> Any:
        self.calls += 1
        distances = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
        values = np.exp(-np.maximum(distances, 0.0))
        due = self.calls == self.at if self.once else self.calls >= self.at
        return self.fail(values) if due else values

    def recover(self) -> None:
        self.at = 1 << 60


def _raise(values: Any) -> Any:
    raise InjectedError("the kernel's own error")


def _interrupt(values: Any) -> Any:
    raise KeyboardInterrupt


def _nan(values: Any) -> Any:
    values[-1, -1] = np.nan
    return values


def _infinite(values: Any) -> Any:
    values[0, 0] = np.inf
    return values


def _failing(fail: Callable[[Any], Any]) -> Kind:
    def failing(subject: Subject, draw: Random, begin: Begin) -> Outcome:
        kernel = Failing(1 << 60, fail, once=draw.random() < 0.5)
        model = subject.fit(subject.make(kernels=[kernel, Linear()]))
        at = one_of_calls(draw, kernel.calls)
        if draw.random() < 0.5:
            model = subject.make(kernels=[kernel, Linear()])
        kernel.calls, kernel.at = 0, at
        begin()
        return attempt(subject, model, recover=kernel.recover)

    return Kind(failing, with_kernels, tries=2)


KINDS = {
    "kernel raises": _failing(_raise),
    "kernel interrupts": _failing(_interrupt),
    "kernel returns NaN": _failing(_nan),
    "kernel returns infinity": _failing(_infinite),
    "kernel returns a wrong shape": _failing(lambda values: values[:, 1:]),
    "kernel returns None": _failing(lambda values: None),
    "kernel returns text": _failing(lambda values: values.astype(str)),
}
