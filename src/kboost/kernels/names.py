"""Distinct names for the kernels of a library."""

from __future__ import annotations

from collections.abc import Sequence


def unique_names(names: Sequence[str]) -> list[str]:
    """Number repeated names: a, a #2, a #3."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return out
