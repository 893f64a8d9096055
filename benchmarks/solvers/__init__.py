"""Solvers, a file each: ours and the peers.

A file has a class `Solver`, made from parameters that JSON can hold, with two methods:

    prepare(data)          what is not timed: imports, and whatever the comparison takes as given
    fit(data) -> Model     what is timed

A model answers `predict(X)` and `facts()`. Where the objective can be compared it also answers
`decision(X)` and `penalty()`, and the judge computes the objective from these two.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from benchmarks.datasets import Data, FloatArray


class Model(Protocol):
    """What a fit leaves behind."""

    def predict(self, X: FloatArray) -> FloatArray: ...

    def facts(self) -> dict[str, Any]:
        """What the solver says of itself: columns, gap, objective, reason, ..."""
        ...


class Solver(Protocol):
    """Ours or a peer."""

    def prepare(self, data: Data) -> None: ...

    def fit(self, data: Data) -> Model: ...


def build(name: str, **parameters: Any) -> Solver:
    """The solver `name` with its parameters."""
    solver: Solver = import_module(f"benchmarks.solvers.{name}").Solver(**parameters)
    return solver
