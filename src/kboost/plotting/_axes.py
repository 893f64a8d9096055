"""Where pictures are drawn, and in which colours."""

from __future__ import annotations

from typing import Any

import numpy as np

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
SPAN = 10.0  # largest over smallest, from which on a scale is logarithmic


def axes_of(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plots", what="kboost.plotting")
    return pyplot.subplots(layout="constrained")[1]


def scale_values(ax: Any, values: Any) -> None:
    """A logarithmic scale for positive values that span it; powers of ten help nobody else."""
    known = values[np.isfinite(values)]
    if len(known) and known.min() > 0 and known.max() > SPAN * known.min():
        ax.set_yscale("log")


def scale_price(ax: Any, C: Any) -> None:
    """A logarithmic scale of C with plain numbers at 1, 2 and 5, or at powers where it is long."""
    ticker = require("matplotlib.ticker", extra="plots", what="kboost.plotting")
    ax.set_xscale("log")
    short = np.ptp(np.log10(C)) < 2.5
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def count_columns(ax: Any) -> None:
    """There are no half columns."""
    ax.xaxis.get_major_locator().set_params(integer=True)


def legend_above(ax: Any) -> None:
    """Where it hides nothing."""
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False)


def mark_of(name: str) -> tuple[str, str]:
    """Marker and colour of a kernel's columns, by its label."""
    return next((mark for word, mark in MARKS.items() if word in name), OTHERS)
