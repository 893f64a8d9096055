"""Charts as inline SVG, drawn by matplotlib and coloured by the style sheet of the page.

Text stays text, colours become CSS variables, ids are made unique, and each chart has a title and a
description for screen readers.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import Any

from kboost._optional import require
from kboost.plotting._axes import AMBER, BLUE, GREEN, GREY, PURPLE, RED

INK, GRID = "#22303c", "#d9dfe4"
VARIABLES = {
    INK: "--ink",
    GRID: "--line",
    BLUE: "--blue",
    RED: "--red",
    GREEN: "--green",
    AMBER: "--amber",
    PURPLE: "--purple",
    GREY: "--grey",
    "#ffffff": "--paper",
}
STYLE = {
    "font.size": 10,
    "font.family": "DejaVu Sans",
    "svg.fonttype": "none",
    "svg.hashsalt": "kboost",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}
_IDS = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')
_SIZE = re.compile(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', re.S)


def chart(
    name: str, title: str, words: str, draw: Callable[[Any], Any], *, size: tuple[float, float]
) -> str:
    """An inline SVG: `draw` is called with the axes; `words` describe the chart."""
    matplotlib = require("matplotlib", extra="plots", what="the report")
    figures = require("matplotlib.figure", extra="plots", what="the report")
    with matplotlib.rc_context(STYLE):
        figure = figures.Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _inlined(out.getvalue(), name, title, words)


def _inlined(text: str, name: str, title: str, words: str) -> str:
    text = text[text.index("<svg ") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = _IDS.sub(rf"\g<1>{name}-\g<2>", text)
    for colour, variable in VARIABLES.items():
        text = re.sub(re.escape(colour), f"var({variable})", text, flags=re.I)
    text = re.sub(r"font: (\d+(?:\.\d+)?)px [^;\"]*", r"font: \1px system-ui, sans-serif", text)
    head = (
        rf'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        rf'viewBox="\g<1>" role="img" aria-labelledby="{name}-title {name}-words" '
        rf'class="chart" id="{name}"><title id="{name}-title">{html.escape(title)}</title>'
        rf'<desc id="{name}-words">{html.escape(words)}</desc>'
    )
    return _SIZE.sub(head, text, count=1)
