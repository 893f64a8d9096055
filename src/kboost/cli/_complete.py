"""Shell completion of column names, from the first line of the data; no package is imported."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import typer

_TEXT = {".csv", ".tsv", ".txt", ".data"}


def column_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of a CSV file that begin as typed; none if the file cannot be read."""
    path = Path(str(ctx.params.get("data") or ""))
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    if plain.suffix.lower() not in _TEXT:
        return []
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig")
            if path.suffix == ".gz"
            else open(path, encoding="utf-8-sig")
        ) as file:
            line = file.readline()
    except (OSError, EOFError, UnicodeError):
        return []
    separator = max(",;\t|", key=line.count)
    names = next(csv.reader([line], delimiter=separator), [])
    return [name.strip() for name in names if name.strip().startswith(incomplete)]
