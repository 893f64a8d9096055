"""The errors of files that do not hold a model."""

from __future__ import annotations

_LONGEST = 300  # characters of a reason, which may quote the file


class FormatError(ValueError):
    """What is wrong with a file, as the end of a sentence; `damaged` completes it."""


def damaged(path: str, why: str) -> ValueError:
    """The error for an invalid file."""
    return ValueError(f"{path} is damaged: {' '.join(why.split())[:_LONGEST]}.")
