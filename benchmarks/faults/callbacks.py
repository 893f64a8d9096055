"""scikit-learn's callbacks that fail, interrupt, ask to stop, or change the data."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from benchmarks.faults.kind import Begin, Kind, one_of_calls
from benchmarks.faults.outcome import LOSS, InjectedError, Outcome, attempt
from benchmarks.faults.subjects import Subject, X


class _Callback:
    """Acts at its k-th event."""

    def __init__(self, act: str, at: int) -> None:
        self.act, self.at, self.events = act, at, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing."""

    def on_fit_task_begin(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None
    ) -> None:
        self._event(X, y)

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any = None, y: Any = None
    ) -> bool:
        return self._event(X, y)

    def _event(self, X: Any, y: Any) -> bool:
        self.events += 1
        if self.events < self.at:
            return False
        if self.act == "raises":
            raise InjectedError("the callback's own error")
        if self.act == "interrupts" and self.events == self.at:
            raise KeyboardInterrupt
        if self.act == "changes":
            X[:] = X[::-1].copy()
            if y is not None:
                y[:] = y[::-1].copy()
        return self.act == "stops"


def _acting(act: str) -> Kind:
    def acting(subject: Subject, draw: Random, begin: Begin) -> Outcome:
        callback = _Callback(act, 1 << 60)
        model = subject.fit(subject.make().set_callbacks(callback))
        expected, calls = model.predict(X), callback.events
        if draw.random() < 0.5:
            model = subject.make().set_callbacks(callback)
        callback.events, callback.at = 0, max(2, one_of_calls(draw, calls))
        begin()
        outcome = attempt(subject, model, recover=lambda: setattr(callback, "at", 1 << 60))
        if act == "changes" and not np.array_equal(model.predict(X), expected):
            return Outcome(LOSS, "the callback's data went into the model")
        return outcome

    return Kind(acting, _has_callbacks)


def _has_callbacks(subject: Subject) -> bool:
    return hasattr(subject.kind(), "set_callbacks")


KINDS = {
    "callback raises": _acting("raises"),
    "callback interrupts": _acting("interrupts"),
    "callback changes X and y": _acting("changes"),
    "callback asks to stop": _acting("stops"),
}
