"""Rules for parameters, each a description and a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rule:
    """Description and test of the values that a parameter may have."""

    words: str
    holds: Callable[[Any], bool]


BOOLEAN = Rule("True or False", lambda v: isinstance(v, bool | np.bool_))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not BOOLEAN.holds(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not BOOLEAN.holds(value) and int(value) >= 1


POSITIVE = Rule("positive", lambda v: _is_number(v) and 0 < v < np.inf)
NOT_NEGATIVE = Rule("zero or positive", lambda v: _is_number(v) and 0 <= v < np.inf)
COUNT = Rule("an integer of at least 1", _is_count)
INTEGER = Rule("an integer", lambda v: isinstance(v, Integral) and not BOOLEAN.holds(v))
SEED = Rule(
    "None, a nonnegative integer or a RandomState",
    lambda v: v is None or isinstance(v, np.random.RandomState) or (INTEGER.holds(v) and v >= 0),
)
FRACTION = Rule("strictly between 0 and 1", lambda v: _is_number(v) and 0 < v < 1)
SHARE = Rule("between 0 and 1", lambda v: _is_number(v) and 0 <= v <= 1)
UNIT = Rule("above 0 and at most 1", lambda v: _is_number(v) and 0 < v <= 1)


def one_of(*options: Any) -> Rule:
    """One of the given strings (or None)."""
    words = " or ".join(map(repr, options))
    return Rule(words, lambda v: (v is None or isinstance(v, str)) and v in options)


def optional(rule: Rule) -> Rule:
    """A value that obeys the rule, or None."""
    return Rule(f"{rule.words}, or None", lambda v: v is None or rule.holds(v))


def either(rule: Rule, word: str) -> Rule:
    """A value that obeys the rule, or the given string."""
    return Rule(
        f"{rule.words}, or {word!r}", lambda v: (isinstance(v, str) and v == word) or rule.holds(v)
    )


def check_params(params: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise for the first parameter that breaks its rule."""
    for name, rule in rules.items():
        if not rule.holds(params[name]):
            raise ValueError(f"{name} must be {rule.words}; got {name}={params[name]!r}.")
