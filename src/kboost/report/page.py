"""The page and its HTML elements; all text is escaped here."""

from __future__ import annotations

import html
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from kboost.auto.score_words import figure_words

__all__ = [
    "Raw", "bar", "cell", "code", "details", "different", "figure", "figure_words", "gap_words",
    "grid", "in_terms", "page", "pairs", "paragraph", "scrolling", "section", "size_words", "table",
    "text", "tiles",
]  # fmt: skip

# Nothing is loaded and nothing runs; the only style is the sheet in the head, by its digest.
POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
_COLUMNS = re.compile(r"\bcolumn(s?)\b(?! generation)")
_NUMBERS = re.compile(r"\d[\d.,e+-]*")


def text(value: Any) -> str:
    """Escaped."""
    return html.escape(str(value))


def section(name: str, title: str, *blocks: str) -> tuple[str, str, str]:
    """A section of the page: its id, title and HTML."""
    body = "\n".join(block for block in blocks if block)
    head = f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{text(title)}</h2>'
    return name, title, f"{head}\n{body}\n</section>"


def paragraph(words: str, *, dim: bool = False) -> str:
    """A paragraph."""
    return f"<p{' class=dim' if dim else ''}>{text(words)}</p>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    numbers: Sequence[int] = (),
    words: Sequence[int] = (),
) -> str:
    """A table that scrolls sideways if necessary, also by keyboard; cells may be Raw."""
    kind = dict.fromkeys(words, ' class="w"') | dict.fromkeys(numbers, ' class="n"')
    side = [kind.get(j, "") for j in range(len(head))]
    top = "".join(f'<th scope="col"{side[j]}>{text(h)}</th>' for j, h in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{side[j]}>{cell(c)}</td>" for j, c in enumerate(row)) + "</tr>"
        for row in rows
    )
    return scrolling(
        caption,
        f"<table><caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>",
    )


def scrolling(label: str, inside: str) -> str:
    """A region that scrolls sideways if necessary, with a hint."""
    hint = '<span class="hint" aria-hidden="true">scroll sideways →</span>'
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}">'
        f"{inside}{hint}</div>"
    )


def grid(figures: Sequence[str]) -> str:
    """Figures side by side, as many as there is room for."""
    return f'<div class="grid">{"".join(figures)}</div>' if figures else ""


class Raw(str):
    """HTML that is not escaped."""


def cell(value: Any) -> str:
    """A value, escaped unless it is Raw."""
    return value if isinstance(value, Raw) else text(value)


def bar(share: float, *, minus: bool = False) -> Raw:
    """A bar next to a number, hidden from screen readers."""
    width = 80 * max(0.0, min(1.0, share))
    kind = "bar minus" if minus else "bar"
    return Raw(
        f'<svg class="{kind}" width="{max(1.0, width):.0f}" height="10" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="10" rx="2"/></svg>'
    )


def details(summary: str, inside: str) -> str:
    """A collapsible element."""
    return f"<details><summary>{text(summary)}</summary>{inside}</details>"


def figure(svg: str, caption: str) -> str:
    """A chart with a caption."""
    return f"<figure>{svg}<figcaption>{text(caption)}</figcaption></figure>"


def code(source: str) -> str:
    """A listing."""
    return f'<pre tabindex="0"><code>{text(source)}</code></pre>'


def tiles(facts: Sequence[tuple[str, str, str]]) -> str:
    """Large numbers: name, value, remark."""
    inside = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}<small>{text(note)}</small></dd></div>"
        for name, value, note in facts
    )
    return f'<dl class="tiles">{inside}</dl>'


def pairs(facts: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    inside = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts)
    return f'<dl class="plain">{inside}</dl>'


def page(title: str, under: str, sections: Sequence[tuple[str, str, str]], foot: str) -> str:
    """The complete HTML file."""
    links = "".join(
        f'<li><a href="#{name}">{text(heading)}</a></li>' for name, heading, _ in sections
    )
    body = "\n".join(whole for _, _, whole in sections)
    style = files("kboost.report").joinpath("style.css").read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"{POLICY}; style-src 'sha256-{digest}'"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kboost"><title>{text(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style></head><body>
<a class="skip" href="#summary">Skip to the scores</a>
<header><h1>{text(title)}</h1><p class="dim">{text(under)}</p></header>
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main>
{body}
</main>
<footer><p>{text(foot)}</p></footer>
</body></html>
"""


def gap_words(gap: float) -> str:
    """A relative gap, in per cent if it is at least one per cent."""
    return f"{gap:.0%}" if gap >= 0.01 else f"{max(gap, 1e-16):.0e}"


def different(reasons: Sequence[Any]) -> list[str]:
    """The sentences of reasons; those that differ only in their numbers appear once."""
    sentences = [str(reason) for reason in reasons]
    return list({_NUMBERS.sub("#", words): words for words in reversed(sentences)}.values())[::-1]


def in_terms(words: str) -> str:
    """A sentence of a model: for readers columns are those of the table, a model has terms."""
    return _COLUMNS.sub(r"term\1", words)


def size_words(n_bytes: int) -> str:
    """A number of bytes in kB or MB."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{max(1, round(n_bytes / 1e3))} kB"
