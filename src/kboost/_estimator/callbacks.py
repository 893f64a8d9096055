"""scikit-learn's callbacks (`set_callbacks`, from 1.9 on); before that, nothing of this happens.

A fit is a task. Its subtasks are the steps of the loop, or, with more than two classes, the
classes or their duels, whose subtasks are the steps (rounds count as steps). How many there will
be is not known, and not said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from kboost.core.stopping import StopReason, StopRule
from kboost.core.trace import Step

try:
    from sklearn import callback as _callback
except ImportError:  # before scikit-learn 1.9
    _callback = None

Method = TypeVar("Method", bound=Callable[..., Any])


class _NoCallbacks:
    """What stands in for the mixin; `object` itself cannot come before another base."""


CallbackSupportMixin: Any = _NoCallbacks if _callback is None else _callback.CallbackSupportMixin


def with_callbacks(method: Method) -> Method:
    """Let the callbacks be taken down when the method ends, whatever happens."""
    return method if _callback is None else cast(Method, _callback.with_callbacks(method))


ASKED = StopReason("callback", "a callback asked to stop; the model holds what was found so far.")

__all__ = ["CallbackSupportMixin", "fit_task", "told", "with_callbacks"]


class _Teller:
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

    def part(self, name: str, number: int, **options: Any) -> _Teller:
        context = self._context.subcontext(name, task_id=number, **options)
        return _Teller(self._estimator, context, self._given)

    def next_step(self) -> _Teller:
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
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    estimator._fit_task = teller = _Teller(
        estimator, context, {"X": X, "y": y, "metadata": metadata}
    )
    try:
        teller.begin()
        yield
        vars(estimator).pop("_fit_task", None)
        teller.end(dict)  # the estimator is its own fitted self
    finally:
        vars(estimator).pop("_fit_task", None)


def told(
    estimator: Any,
    stop: StopRule,
    *,
    number: int | None = None,
    among: str = "one against the rest",
    attributes: Callable[[], dict[str, Any]] | None = None,
) -> StopRule:
    """The rule, and beside it the estimator's callbacks, who hear of each step and may stop it.

    `number` is that of a class, or of what `among` says, among several; `attributes` make the
    model of the step, if one can be made.
    """
    whole = getattr(estimator, "_fit_task", None)
    if whole is None:
        return stop
    teller, started = whole, number is None
    if number is not None:
        options = {"max_subtasks": None, "sequential_subtasks": False}
        teller = whole.part(among, number, **options)

    def rule(trace: Sequence[Step]) -> StopReason | None:
        nonlocal started
        if not started:
            teller.begin()
            started = True
        step = teller.next_step()
        step.begin()
        asked = ASKED if step.end(attributes) else None
        reason = stop(trace) or asked
        if reason is not None and teller is not whole:
            teller.end(None)
        return reason

    return rule
