"""Axes, scales, colours and markers shared by the displays."""

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
MARKERS = {  # marker and colour per family of kernels
    "Linear": ("^", GREY),
    "Polynomial": ("D", PURPLE),
    "Gaussian": ("o", GREEN),
    "Laplacian": ("s", AMBER),
}
OTHER_MARKER = ("P", BLUE)
SPAN = 10.0  # ratio of largest to smallest value above which a scale is logarithmic


def get_axes(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", extra="plots", what="kboost.plotting")
    return pyplot.subplots(layout="constrained")[1]


def scale_values(ax: Any, values: Any) -> None:
    """Use a logarithmic scale for positive values over more than one order of magnitude."""
    finite = values[np.isfinite(values)]
    if len(finite) and finite.min() > 0 and finite.max() > SPAN * finite.min():
        ax.set_yscale("log")


def scale_price(ax: Any, C: Any) -> None:
    """Use a logarithmic scale of C with ticks at 1, 2 and 5, or at powers of ten if it is long."""
    ticker = require("matplotlib.ticker", extra="plots", what="kboost.plotting")
    ax.set_xscale("log")
    short = np.ptp(np.log10(C)) < 2.5
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def count_columns(ax: Any) -> None:
    """Use integer ticks for numbers of columns."""
    ax.xaxis.get_major_locator().set_params(integer=True)


def legend_above(ax: Any) -> None:
    """Put the legend above the axes."""
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False)


def marker_of(name: str) -> tuple[str, str]:
    """Marker and colour of a kernel, by its name."""
    return next((marker for word, marker in MARKERS.items() if word in name), OTHER_MARKER)
