"""Where pictures are drawn, and in which colours."""

from __future__ import annotations

from typing import Any

from kboost._optional import require

BLUE, RED, GREEN, AMBER, PURPLE, GREY = (
    "#2f6f9f",
    "#c8553d",
    "#178066",
    "#e09f1f",
    "#7d5ba6",
    "#6b7883",
)
MARKS = {  # of a family of kernels
    "Linear": ("^", GREY),
    "Polynomial": ("D", PURPLE),
    "Gaussian": ("o", GREEN),
    "Laplacian": ("s", AMBER),
}
OTHERS = ("P", BLUE)


def axes_of(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plots", what="kboost.plotting")
    return pyplot.subplots(layout="constrained")[1]


def mark_of(name: str) -> tuple[str, str]:
    """Marker and colour of a kernel's columns, by its label."""
    return next((mark for word, mark in MARKS.items() if word in name), OTHERS)
