"""Ours at each C of a grid; the fit of the lowest validation error is kept, of two the smaller."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.datasets import Data
from benchmarks.solvers import kboost


class Solver(kboost.Solver):
    """As `kboost`, with `grid` in place of C; the data must have a validation part."""

    def __init__(self, grid: Sequence[float], **parameters: Any) -> None:
        super().__init__(**parameters)
        self.grid = grid

    def fit(self, data: Data) -> Model:
        tried = [self._fit(data, C) for C in self.grid]
        best = min(tried, key=lambda one: (one[1]["validation_error"], one[1]["columns"]))
        return Model(*best, [{name: one[1][name] for name in Model.SHORT} for one in tried])

    def _fit(self, data: Data, C: float) -> tuple[kboost.Model, dict[str, Any]]:
        self.parameters["C"] = C
        self.prepare(data)
        start = time.process_time()
        model = super().fit(data)
        return model, {**model.facts(), "C": C, "fit_cpu_seconds": time.process_time() - start}


class Model:
    """The model kept, and in short what was tried; `fit_cpu_seconds` is of the fit kept."""

    SHORT = ("C", "validation_error", "columns", "fit_cpu_seconds")

    def __init__(self, model: kboost.Model, facts: dict[str, Any], tried: list[Any]) -> None:
        self.predict = model.predict
        self._facts = {**facts, "tried": tried}

    def facts(self) -> dict[str, Any]:
        return self._facts
