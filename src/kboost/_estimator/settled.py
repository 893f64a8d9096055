"""The end of a fit, once the model is learned: calls of callbacks, and warnings.

An error there, of a callback or of a signal handler, restores the estimator as it was before.
A warning that the user's filter raises comes after a complete fit, and leaves the model. So does
Ctrl-C, and the reason says so: it is never that of an undisturbed fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kboost.core.stopping import INTERRUPTED

_OF_CALLBACKS = ("_callback", "_skl_callbacks")  # scikit-learn tears the callbacks down by these


@contextmanager
def settled(estimator: Any) -> Iterator[None]:
    """Restore the attributes if an error is raised inside; after Ctrl-C change the reason to it."""
    before = vars(estimator).copy()
    try:
        yield
    except Warning:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            _say_interrupted(estimator, before)
        else:
            kept = {k: v for k, v in vars(estimator).items() if k.startswith(_OF_CALLBACKS)}
            vars(estimator).clear()
            vars(estimator).update(before | kept)
        raise


def _say_interrupted(estimator: Any, before: dict[str, Any]) -> None:
    """Set the reason of a model that was learned."""
    reason: Any = vars(estimator).get("stop_reason_")
    learned = any(before.get(name) is not value for name, value in _fitted(estimator))
    if reason is not None and learned:
        listed = reason if isinstance(reason, list) else [reason]
        if all(each.rule != INTERRUPTED.rule for each in listed):
            several = [INTERRUPTED] * len(listed)
            estimator.stop_reason_ = several if isinstance(reason, list) else INTERRUPTED


def _fitted(estimator: Any) -> list[tuple[str, Any]]:
    """The attributes of a fit."""
    return [item for item in vars(estimator).items() if not item[0].startswith(_OF_CALLBACKS)]
