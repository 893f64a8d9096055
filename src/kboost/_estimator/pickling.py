"""Pickles of fitted estimators: the bytes of a model file, where a file can hold the model.

What writes files is above the estimators, so it is registered here with `pack_with`. Copies are
made of the attributes, without bytes in between.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

Packer = Callable[[Any], tuple[Any, ...] | None]

_packers: list[Packer] = []


def pack_with(packer: Packer) -> None:
    """Let a function reduce estimators for pickle; it returns None for those it cannot."""
    _packers[:] = [packer]


class PackedPickleMixin:
    """Pickles an estimator as few bytes."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        for packer in _packers:
            if (packed := packer(self)) is not None:
                return packed
        return super().__reduce_ex__(protocol)

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = made = type(self).__new__(type(self))
        state: Any = self.__getstate__()
        made.__setstate__(deepcopy(state, memo))  # type: ignore[attr-defined]
        return made
