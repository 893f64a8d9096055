"""One class that a model file may contain: its name, its fields, and how it is created.

A part of a model is created from its fields without calling its constructor, and checked. An
estimator must have the parameters of its constructor, and its other attributes must not override
anything that its class defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import getattr_static
from typing import Any

from kboost._rules import Rule
from kboost.persistence.errors import FormatError

Fields = dict[str, Any]

NOT_SAVED = frozenset(  # attributes of a fit, not of a model
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
    """One class that a file may contain."""

    path: str  # import path
    rules: Mapping[str, Rule] = field(default_factory=dict)  # for the fields of a part
    holds: Callable[[Any], bool] = lambda part: True  # checks the whole part
    is_estimator: bool = False
    build: Callable[..., Any] | None = None  # completes a checked part
    items: Rule | None = None  # for the items of a list or named tuple, which has no other fields

    @property
    def name(self) -> str:
        """Its name in a file."""
        return self.path if self.is_foreign else self.path.rpartition(".")[2]

    @property
    def is_foreign(self) -> bool:
        """Whether it is a scikit-learn class, whose attributes may change between versions."""
        return self.path.startswith("sklearn.")

    @property
    def cls(self) -> Any:
        """The class."""
        return _imported(self.path)

    def state(self, value: Any) -> Fields:
        """The attributes of an object that are saved."""
        if self.is_estimator:
            return {k: v for k, v in value.__getstate__().items() if k not in NOT_SAVED}
        if self.items is not None:
            return {"items": list(value)}
        return {name: getattr(value, name) for name in self.rules}

    def make(self, fields: Fields) -> Any:
        """Create an object with these fields."""
        cls = self.cls
        if self.items is not None:
            return self._sequence(fields)
        if self.is_estimator:
            _check_names(cls, fields)
        else:
            if set(fields) != set(self.rules):
                raise FormatError(f"a {self.name} must have the fields {', '.join(self.rules)}")
            for name, rule in self.rules.items():
                if not rule.holds(fields[name]):
                    raise FormatError(f"{name} of a {self.name} must be {rule.words}")
        part = cls.__new__(cls)
        vars(part).update(fields)
        if not self.holds(part):
            raise FormatError(f"the fields of a {self.name} are inconsistent")
        if self.is_estimator and not self.is_foreign:
            part.__setstate__(fields)
        return part if self.build is None else self.build(part)

    def _sequence(self, fields: Fields) -> Any:
        items = fields.get("items")
        holds: Any = self.items and self.items.holds
        if set(fields) != {"items"} or not isinstance(items, list) or not all(map(holds, items)):
            raise FormatError(f"the items of a {self.name} have the wrong type")
        if not issubclass(self.cls, tuple):
            return self.cls(items)
        if len(items) != len(self.cls._fields):
            raise FormatError(f"a {self.name} must have {len(self.cls._fields)} items")
        return self.cls(*items)


@cache
def _imported(path: str) -> Any:
    """Import a class of the registry; never called with a name from a file."""
    home, _, name = path.rpartition(".")
    try:
        return getattr(import_module(home), name)
    except ImportError as error:
        raise FormatError(f"it contains a {name}, whose package is not installed") from error


def _check_names(cls: Any, fields: Fields) -> None:
    params = set(cls._get_param_names())
    if missing := params - set(fields):
        raise FormatError(f"a {cls.__name__} must have {', '.join(sorted(missing))}")
    for name in set(fields) - params:
        hidden = getattr_static(cls, name, None)
        if (
            not name.isidentifier()
            or name.startswith("__")
            or name in NOT_SAVED
            or callable(hidden)
            or hasattr(hidden, "__get__")
        ):
            raise FormatError(f"a {cls.__name__} has no attribute {name!r}"[:200])
