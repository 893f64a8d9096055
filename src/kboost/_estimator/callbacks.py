"""scikit-learn's callbacks (`set_callbacks`, from version 1.9 on); before that, nothing happens.

A fit is a task. Its subtasks are the steps, or, with more than two classes, the binary problems,
whose subtasks are the steps (rounds count as steps). Their number is not known in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from kboost.core.iterate import Listener
from kboost.core.stopping import StopReason

try:
    from sklearn import callback as _callback
except ImportError:  # before scikit-learn 1.9
    _callback = None

Method = TypeVar("Method", bound=Callable[..., Any])


class _NoCallbacks:
    """The base in place of the mixin; `object` itself cannot precede another base."""


CallbackSupportMixin: Any = _NoCallbacks if _callback is None else _callback.CallbackSupportMixin


def with_callbacks(method: Method) -> Method:
    """Tear the callbacks down when the method ends, also after an error."""
    return method if _callback is None else cast(Method, _callback.with_callbacks(method))


REQUESTED = StopReason(
    "callback", "a callback requested the stop; the model holds the steps made so far."
)

__all__ = ["CallbackSupportMixin", "callback_listeners", "fit_task", "with_callbacks"]


class _CallbackContext:
    """Calls the callbacks of an estimator with what it was given to fit."""

    def __init__(self, estimator: Any, context: Any, given: dict[str, Any]) -> None:
        self._estimator, self._context, self._given = estimator, context, given
        self._steps = 0

    def begin(self) -> None:
        self._context.call_on_fit_task_begin(estimator=self._estimator, **self._given)

    def end(self, attributes: Callable[[], dict[str, Any]] | None) -> bool:
        return bool(
            self._context.call_on_fit_task_end(
                estimator=self._estimator, reconstruction_attributes=attributes, **self._given
            )
        )

    def part(self, name: str, number: int, **options: Any) -> _CallbackContext:
        context = self._context.subcontext(name, task_id=number, **options)
        return _CallbackContext(self._estimator, context, self._given)

    def next_step(self) -> _CallbackContext:
        self._steps += 1
        return self.part("step", self._steps - 1)


@contextmanager
def fit_task(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[None]:
    """The task of a whole fit, for a method under `with_callbacks`; free without callbacks.

    The context has to be there before the estimator's attributes are guarded: scikit-learn finds
    it there to take the callbacks down, also after an error.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        yield
        return
    context = estimator._init_callback_context(max_subtasks=None, sequential_subtasks=False)
    metadata = None if sample_weight is None else {"sample_weight": _read_only(sample_weight)}
    given = {"X": _read_only(X), "y": _read_only(y), "metadata": metadata}
    estimator._fit_task = context_ = _CallbackContext(estimator, context, given)
    try:
        context_.begin()
        yield
        vars(estimator).pop("_fit_task", None)
        context_.end(dict)  # the estimator is its own fitted self
    finally:
        vars(estimator).pop("_fit_task", None)


def _read_only(values: Any) -> Any:
    """A view that callbacks cannot write to; the fit goes on to read the array."""
    if not isinstance(values, np.ndarray):
        return values
    view = values.view()
    view.flags.writeable = False
    return view


class _OutputListener:
    """Passes the steps of one output on to the callbacks."""

    def __init__(
        self,
        parent: _CallbackContext,
        context: _CallbackContext,
        attributes: Callable[[], dict[str, Any]] | None,
    ) -> None:
        self._context, self._attributes = context, attributes
        self._is_part = context is not parent
        self._begun = False

    def on_step(self, trace: Sequence[Any]) -> StopReason | None:
        if self._is_part and not self._begun:
            self._context.begin()
        self._begun = True
        step = self._context.next_step()
        step.begin()
        return REQUESTED if step.end(self._attributes) else None

    def on_end(self) -> None:
        if self._is_part and self._begun:
            self._context.end(None)


def callback_listeners(
    estimator: Any,
    *,
    number: int | None = None,
    kind: str = "one against the rest",
    attributes: Callable[[], dict[str, Any]] | None = None,
) -> list[Listener]:
    """The listeners that pass steps on to the estimator's callbacks, which may stop the fit.

    `number` is that of an output of this `kind` among several; `attributes` make the fitted
    attributes of the current step, where that is possible.
    """
    fit_context = getattr(estimator, "_fit_task", None)
    if fit_context is None:
        return []
    context = fit_context
    if number is not None:
        context = fit_context.part(kind, number, max_subtasks=None, sequential_subtasks=False)
    return [_OutputListener(fit_context, context, attributes)]
