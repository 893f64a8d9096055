"""Read delimited text files: detect encoding, separator, header and decimal commas."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kboost._optional import require

_SAMPLE = 1 << 16  # characters from which the layout is detected
_LINES = 100  # of the sample, at most
_SEPARATORS = ",;\t|"
_BLANKS = r"\s+"
_SPREADSHEET = re.compile(r'^"?sep=(.)"?$', re.I)  # written before the header by spreadsheets
_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_THREE = r"^\s*([-+]?\d{1,3}),(\d{3})\s*$"  # 1,234 may be 1234 or 1.234
_GROUPS = r"[,.]\d{3}[,.]\d"


@dataclass(frozen=True)
class Layout:
    """The layout of a delimited file."""

    encoding: str
    separator: str
    names: tuple[str, ...]  # one per field
    trailing: bool  # whether the last field is always empty
    n_before: int  # lines before the header


def read_delimited(path: Path) -> Any:
    """The columns of a CSV file as a data frame of strings."""
    pd = require("pandas", extra="cli", what="reading CSV")
    try:
        layout = _layout(path)
        frame = pd.read_csv(
            path,
            sep=layout.separator,
            names=list(layout.names),
            usecols=layout.names[:-1] if layout.trailing else None,  # else too long lines raise
            header=0,
            skiprows=layout.n_before,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            encoding=layout.encoding,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, OSError, EOFError) as error:
        words = str(error).strip().splitlines() or [type(error).__name__]
        why = words[0].removeprefix("Error tokenizing data. C error: ")
        raise ValueError(f"{path} must be a CSV file; {why.rstrip('.')}.") from error
    return _decimals(frame) if layout.separator == ";" else frame


def check_names(names: Sequence[str], path: Path) -> None:
    """Raise if a column name is repeated."""
    repeated = [name for i, name in enumerate(names) if name and name in names[:i]]
    if repeated:
        raise ValueError(f"{path} must have distinct column names; {repeated[0]!r} is repeated.")


def _layout(path: Path) -> Layout:
    encoding = _encoding(path)
    with _open(path, encoding) as file:
        sample = file.read(_SAMPLE)
    lines = [line for line in sample.splitlines() if line.strip()][:_LINES]
    if not lines:
        raise ValueError(f"{path} must have rows; it is empty.")
    declared = _SPREADSHEET.match(lines[0].strip())
    if declared:
        lines = lines[1:] or [""]
    if len(sample) == _SAMPLE and len(lines) > 2:
        del lines[-1]  # may be incomplete
    separator = declared[1] if declared else _separator(lines)
    rows = _fields(lines, separator)
    names = [name.strip() for name in rows[0]]
    check_names(names, path)
    n = len(rows[1]) if len(rows) > 1 else 0
    trailing = n == len(names) + 1 and not rows[1][-1].strip()
    if n == len(names) + 1 and not trailing:
        names.insert(0, "")  # a column of row names without a header
    if n > len(names) + trailing:
        raise ValueError(
            f"{path} must have column names in the first line; it has {len(names)} names, and the "
            f"next line has {n} fields."
        )
    names = [name or f"Unnamed: {i}" for i, name in enumerate(names)] + ["\0"] * trailing
    return Layout(encoding, separator, tuple(names), trailing, int(bool(declared)))


def _fields(lines: Sequence[str], separator: str) -> list[list[str]]:
    if separator == _BLANKS:
        return [line.split() for line in lines]
    return [row for row in csv.reader(lines, delimiter=separator, skipinitialspace=True) if row]


def _separator(lines: Sequence[str]) -> str:
    """The separator for which most lines have as many fields, else blanks, else a comma."""

    def fits(separator: str) -> tuple[bool, float, int]:
        counts = [len(row) for row in _fields(lines, separator)]
        return counts[0] > 1, counts.count(counts[0]) / len(counts), counts[0]

    best = max(_SEPARATORS, key=fits)
    if fits(best)[0]:
        return best
    several, agree, _ = fits(_BLANKS)
    return _BLANKS if several and agree == 1.0 and len(lines) > 1 else ","


def _open(path: Path, encoding: str) -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding=encoding)
    return open(path, encoding=encoding)


def _encoding(path: Path) -> str:
    """UTF-16 if the file starts with its mark, else UTF-8, else Latin-1."""
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as raw:
        marked = _MARKS.get(raw.read(2))
    try:
        with _open(path, marked or "utf-8-sig") as file:
            while file.read(1 << 20):
                pass
    except UnicodeError:
        return "latin-1"
    return marked or "utf-8-sig"


def _decimals(frame: Any) -> Any:
    """In files separated by semicolons, commas are decimal signs, also in 1,234."""
    for name in frame.columns:
        column = frame[name]
        if column.str.match(_THREE).any() and not column.str.contains(_GROUPS).any():
            frame[name] = column.str.replace(_THREE, r"\1.\2", regex=True)
    return frame
