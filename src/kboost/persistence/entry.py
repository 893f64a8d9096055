"""One class that a model file may hold: its name there, its fields, and how it is made.

A part of a model is made from its fields, without its constructor, and checked; an estimator must
have the parameters of its constructor, and its other attributes may not hide anything that its
class defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import getattr_static
from typing import Any

from kboost._rules import Rule

Fields = dict[str, Any]

LEFT_OUT = frozenset(  # what belongs to a fit, not to a model
    {
        "_metadata_request",
        "_callback_fit_ctx",
        "_parent_callback_ctx",
        "_skl_callbacks",
        "_skl_callbacks_to_teardown",
        "_sklearn_version",
    }
)


@dataclass(frozen=True)
class Entry:
    """One class that a file may hold."""

    path: str  # where it is imported from
    rules: Mapping[str, Rule] = field(default_factory=dict)  # of a part, its fields
    holds: Callable[[Any], bool] = lambda made: True  # of the part as a whole
    is_estimator: bool = False
    items: Rule | None = None  # of a list or named tuple, which has no other fields

    @property
    def name(self) -> str:
        """Its name in a file."""
        return self.path if self.is_foreign else self.path.rpartition(".")[2]

    @property
    def is_foreign(self) -> bool:
        """Whether it is scikit-learn's, whose attributes may change from version to version."""
        return self.path.startswith("sklearn.")

    @property
    def cls(self) -> Any:
        """The class."""
        return _imported(self.path)

    def state(self, value: Any) -> Fields:
        """What is saved of an object."""
        if self.is_estimator:
            return {k: v for k, v in value.__getstate__().items() if k not in LEFT_OUT}
        if self.items is not None:
            return {"items": list(value)}
        return {name: getattr(value, name) for name in self.rules}

    def make(self, fields: Fields) -> Any:
        """An object with these fields."""
        cls = self.cls
        if self.items is not None:
            return self._sequence(fields)
        if self.is_estimator:
            _check_names(cls, fields)
        else:
            if set(fields) != set(self.rules):
                raise ValueError(f"a {self.name} must have the fields {', '.join(self.rules)}")
            for name, rule in self.rules.items():
                if not rule.holds(fields[name]):
                    raise ValueError(f"{name} of a {self.name} must be {rule.words}")
        made = cls.__new__(cls)
        vars(made).update(fields)
        if not self.holds(made):
            raise ValueError(f"the fields of a {self.name} do not fit together")
        return made

    def _sequence(self, fields: Fields) -> Any:
        items = fields.get("items")
        holds: Any = self.items and self.items.holds
        if set(fields) != {"items"} or not isinstance(items, list) or not all(map(holds, items)):
            raise ValueError(f"a {self.name} must have items of its kind")
        if not issubclass(self.cls, tuple):
            return self.cls(items)
        if len(items) != len(self.cls._fields):
            raise ValueError(f"a {self.name} must have {len(self.cls._fields)} items")
        return self.cls(*items)


@cache
def _imported(path: str) -> Any:
    """A class of the list below; never a name from a file."""
    home, _, name = path.rpartition(".")
    try:
        return getattr(import_module(home), name)
    except ImportError as error:
        raise ValueError(f"it holds a {name}, whose package is not installed") from error


def _check_names(cls: Any, fields: Fields) -> None:
    params = set(cls._get_param_names())
    if missing := params - set(fields):
        raise ValueError(f"a {cls.__name__} must have {', '.join(sorted(missing))}")
    for name in set(fields) - params:
        hidden = getattr_static(cls, name, None)
        if (
            not name.isidentifier()
            or name.startswith("__")
            or name in LEFT_OUT
            or callable(hidden)
            or hasattr(hidden, "__get__")
        ):
            raise ValueError(f"a {cls.__name__} has no attribute {name!r}"[:200])
