"""Tables for a terminal: text left-aligned, numbers right-aligned, units in the head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """A table with a head; columns of numbers are right-aligned."""
    cells = [[cell(value) for value in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    right = [
        any(isinstance(v, int | float) for v in column) for column in zip(*lines, strict=True)
    ] or [False] * len(head)
    rule = ["-" * width for width in widths]
    return "\n".join(_set(line, widths, right) for line in [list(head), rule, *cells])


def markdown(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """The same table in Markdown."""
    numeric = [any(isinstance(v, int | float) for v in c) for c in zip(*lines, strict=True)]
    rule = ["--:" if right else ":--" for right in numeric]
    rows = [list(head), rule, *([cell(value) for value in line] for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _set(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    words = [
        word.rjust(width) if r else word.ljust(width)
        for word, width, r in zip(line, widths, right, strict=True)
    ]
    return ("  " + "  ".join(words)).rstrip()


def cell(value: Any) -> str:
    """A number in few digits; nothing as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    return str(value)


def number(value: float) -> str:
    """Four significant digits or so, plain where that is short."""
    size = abs(value)
    if size == 0:
        return "0"
    if size < 1e-3 or size >= 1e6:
        return f"{value:.1e}"
    if size >= 100:
        return f"{value:.1f}"
    return f"{value:.3f}" if size < 10 else f"{value:.2f}"


def percent(fraction: float | None) -> str | None:
    return None if fraction is None else f"{100 * fraction:.2f} %"
