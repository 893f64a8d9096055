"""A kind of fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from benchmarks.faults.outcome import Outcome
from benchmarks.faults.subjects import SUBJECTS, Subject

Begin = Callable[[], None]
Attempt = Callable[[Subject, Random, Begin], Outcome]


def any_subject(subject: Subject) -> bool:
    return True


def with_kernels(subject: Subject) -> bool:
    """Whether kernels of one's own can be given."""
    return subject.kernels is not None


def with_parameter(name: str) -> Callable[[Subject], bool]:
    return lambda subject: subject.takes(name)


def no_signals(draw: Random, seconds: float) -> list[tuple[float, int]]:
    return []


@dataclass(frozen=True)
class Kind:
    """What happens in one try, and to which estimators; `signals` come from outside."""

    attempt: Attempt
    applies: Callable[[Subject], bool] = any_subject
    tries: int = 1  # in a round
    signals: Callable[[Random, float], list[tuple[float, int]]] = no_signals
    limit: float = 20.0  # seconds of the processor for one try
    among: Mapping[str, Subject] = field(default_factory=lambda: SUBJECTS)

    def subjects(self) -> list[str]:
        return [name for name, subject in self.among.items() if self.applies(subject)]


def maybe_fitted(subject: Subject, draw: Random, model: Any) -> Any:
    """The model as it is, or fitted before, so that there is something to lose."""
    return subject.fit(model) if draw.random() < 0.5 else model


def one_of_calls(draw: Random, count: int) -> int:
    """The number of the call that fails, of those that an undisturbed fit makes."""
    return draw.randint(1, max(1, min(count, draw.choice([3, count]))))
