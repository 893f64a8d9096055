"""Charts as inline SVG, drawn by matplotlib and coloured by the style sheet of the page.

Text stays text, colours become CSS variables, styles become attributes, ids are made unique, and
each chart has a title and a description for screen readers. Only tags are rewritten: names and
labels of users are text, and never a pattern or a replacement.
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
    "text.usetex": False,
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
_TAG = re.compile(r"<[^>]*>")
_IDS = re.compile(r'(\bid="|url\(#|href="#)')
_STYLE = re.compile(r'\sstyle="([^"]*)"')
_SHEET = re.compile(r"<style.*?</style>", re.S)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.S)
_COLOURS = re.compile("|".join(map(re.escape, VARIABLES)), re.I)
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
    text = _SHEET.sub("", _METADATA.sub("", text[text.index("<svg ") :]))
    text = _TAG.sub(lambda tag: _styled(tag[0], name), text)

    def head(svg: re.Match[str]) -> str:
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            f'viewBox="{svg[1]}" role="img" aria-labelledby="{name}-title {name}-words" '
            f'class="chart" id="{name}"><title id="{name}-title">{html.escape(title)}</title>'
            f'<desc id="{name}-words">{html.escape(words)}</desc>'
        )

    return _SIZE.sub(head, text, count=1)


def _styled(tag: str, name: str) -> str:
    """A tag with ids of this chart, and colours of the page; styles become attributes.

    The policy of the page allows no style attributes. Fonts are those of the style sheet.
    """
    tag = _IDS.sub(lambda start: f"{start[1]}{name}-", tag)
    tag = _STYLE.sub(lambda style: _attributes(style[1]), tag)
    return _COLOURS.sub(lambda colour: f"var({VARIABLES[colour[0].lower()]})", tag)


def _attributes(style: str) -> str:
    """`fill: none; stroke-width: 2` as ` fill="none" stroke-width="2"`."""
    pairs = [part.split(":", 1) for part in style.split(";") if ":" in part]
    attributes = {name.strip(): value.strip() for name, value in pairs}
    if "font" in attributes:  # of older versions: "10px 'DejaVu Sans'"
        attributes["font-size"] = attributes.pop("font").split()[0]
    attributes.pop("font-family", None)
    return "".join(f' {name}="{value}"' for name, value in attributes.items())
