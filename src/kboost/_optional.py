"""Packages that only some parts need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(name: str, *, extra: str, what: str) -> Any:
    """The module, or one sentence on how to install what `what` needs."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{what} needs {error.name}; pip install 'kboost[{extra}]' installs it.",
            name=error.name,
        ) from error
