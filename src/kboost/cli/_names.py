"""Names that users type: columns, estimators, parameters; and what may have been meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def meant(name: str, candidates: Iterable[str]) -> str:
    """The closest known name as a question in brackets; empty if none is close."""
    names = {str(each).lower(): str(each) for each in candidates}
    close = get_close_matches(name.lower(), list(names), 1)
    return f" (did you mean {names[close[0]]}?)" if close else ""


def columns_named(requested: Sequence[str], available: Sequence[str], option: str) -> list[str]:
    """The columns that an option names, each by itself or several separated by commas."""
    names = []
    for words in requested:
        names += [words] if words in available else [word.strip() for word in words.split(",")]
    for name in names:
        if name not in available:
            raise ValueError(
                f"{option} must be a column of the table; got {name!r}{meant(name, available)}."
            )
    return names
