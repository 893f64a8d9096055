"""The console of the commands: strings from data are printed literally.

rich takes [bold] as markup and :bell: as a picture, and a terminal takes control characters as
commands. Here strings are neither; styles are given to `rich.text.Text` only.
"""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

# all but line breaks and tabs; also those that change the direction, and halves of characters
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PlainConsole(Console):
    """A console that prints strings literally."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which knows the exit code."""
        raise BrokenPipeError

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as text without markup, pictures, highlighting and control characters."""
        options |= {"emoji": False, "markup": False, "highlight": False, "highlighter": None}
        return super().render_str(printable(text), **options)


def say(console: Console, words: str | Text) -> None:
    """Print a line, indented; a terminal breaks it between words, a file has it in one piece."""
    words = Text(printable(words)) if isinstance(words, str) else words
    if console.is_terminal:
        console.print(Padding(words, (0, 0, 0, 2), expand=False))
    else:
        console.print(Text("  ") + words, soft_wrap=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    """Text from strings, and from pairs of a string and its style."""
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    return Text.assemble(*((printable(words), style) for words, style in pairs))


def printable(words: str) -> str:
    """The words with escapes in place of characters that control a terminal."""
    return words if words.isprintable() else _CONTROL.sub(lambda c: repr(c[0])[1:-1], words)
