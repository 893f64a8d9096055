"""What came of a try: a model, one sentence, or a loss."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.faults.subjects import Subject, X

MODEL, SENTENCE, LOSS = "model", "sentence", "loss"
_LONGEST = 600  # characters of a sentence
NAMED = (ValueError, TypeError, MemoryError, OSError, RuntimeError, Warning)  # errors with a name


@dataclass(frozen=True)
class Outcome:
    """The verdict with its words."""

    verdict: str
    words: str = ""
    figures: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"verdict": self.verdict, "words": self.words, **self.figures}


class InjectedError(Exception):
    """The error of a part that is not the library's: it must come out as it is."""


def attempt(
    subject: Subject,
    model: Any,
    *,
    data: Any = None,
    recover: Callable[[], None] = lambda: None,
    rules: tuple[str, ...] | None = None,
) -> Outcome:
    """Fit under a fault and judge what is left; `recover` ends the fault.

    `rules` are the reasons that are true, if not all are.
    """
    before = dict(vars(model))
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            subject.fit(model, data)
    except KeyboardInterrupt as error:
        recover()
        return after_interrupt(model, before, error, subject)
    except BaseException as error:
        recover()
        return after_error(model, before, error, subject)
    recover()
    if rules is not None and not any(reason.rule in rules for reason in reasons(model)):
        return Outcome(LOSS, f"the reason is not one of {rules}: {words_of(model)}")
    return usable(model)


def after_interrupt(
    model: Any, before: dict[str, Any], error: BaseException, subject: Subject
) -> Outcome:
    """The verdict after KeyboardInterrupt."""
    if same(vars(model), before):
        return sentence(error) if str(error) else Outcome(LOSS, "an interrupt without words")
    rules = {reason.rule for reason in reasons(model)}
    if rules and "interrupted" not in rules:
        return Outcome(LOSS, f"interrupted, and the reason is: {words_of(model)}")
    return usable(model)


def after_error(
    model: Any, before: dict[str, Any], error: BaseException, subject: Subject
) -> Outcome:
    """The verdict after another exception."""
    if isinstance(error, Warning):  # raised by the user's filter, after the model was kept
        return usable(model) if not same(vars(model), before) else sentence(error)
    if not same(vars(model), before):
        changed = sorted(set(vars(model)) ^ set(before)) or "values"
        return Outcome(LOSS, f"half a state after {error!r}: {changed}")
    found = sentence(error)
    return found if found.verdict == LOSS else fits_again(subject, model, found)


def sentence(error: BaseException) -> Outcome:
    """Whether an error is one clear sentence."""
    words = str(error)
    if isinstance(error, InjectedError | RecursionError | SystemExit | TimeoutError):
        return Outcome(SENTENCE, repr(error))
    raw = type(error) is RuntimeError and words != "can't start new thread"  # that is Python's own
    known = isinstance(error, (*NAMED, KeyboardInterrupt)) and not raw
    clear = " " in words and "\n" not in words and len(words) <= _LONGEST
    told = re.sub(re.escape(tempfile.gettempdir()) + r"/\w+", "FOLDER", words)
    return Outcome(SENTENCE if known and clear else LOSS, f"{type(error).__name__}: {told}"[:400])


def fits_again(subject: Subject, model: Any, found: Outcome) -> Outcome:
    """The outcome, unless the estimator cannot be fitted any more."""
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            subject.fit(model)
    except Exception as error:
        return Outcome(LOSS, f"does not fit again, {error!r}, after {found.words}")
    again = usable(model)
    return found if again.verdict == MODEL else again


def usable(model: Any) -> Outcome:
    """Whether a model predicts."""
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            predicted = np.asarray(model.predict(X))
            shares = getattr(model, "predict_proba", lambda rows: np.ones((len(rows), 1)))(X)
    except Exception as error:
        return Outcome(LOSS, f"the model does not predict: {error!r}")
    if len(predicted) != len(X) or not np.isfinite(np.asarray(predicted, dtype=float)).all():
        return Outcome(LOSS, "predictions are not finite")
    if not np.allclose(np.sum(shares, axis=1), 1.0):
        return Outcome(LOSS, "probabilities do not sum to 1")
    return Outcome(MODEL, words_of(model))


def reasons(model: Any) -> list[Any]:
    given = getattr(model, "stop_reason_", [])
    return list(given) if isinstance(given, list) else [given]


def words_of(model: Any) -> str:
    return "; ".join(dict.fromkeys(str(reason) for reason in reasons(model)))[:400]


def same(now: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether all attributes are the same objects."""
    return now.keys() == before.keys() and all(now[name] is before[name] for name in now)
