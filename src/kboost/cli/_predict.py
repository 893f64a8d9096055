"""`kboost predict`: predictions of a model as a table."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kboost._optional import require
from kboost.cli._console import printable
from kboost.cli._files import check_writable, rows_of
from kboost.cli._names import columns_named
from kboost.cli._new_rows import unfamiliar_values
from kboost.cli._notes import na_words
from kboost.cli._results import as_json as in_json
from kboost.persistence import load_with_notes

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which spreadsheets let a formula begin
_PARQUET = (".parquet", ".pq")
_NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?", re.I)


def run_predict(
    model: Path,
    data: Path,
    output: Path | None,
    *,
    keep: Sequence[str] = (),
    na: Sequence[str] | None = None,
    spreadsheet: bool = False,
    as_json: bool = False,
) -> int:
    """Predict the rows of a file, and write or print them; returns their number."""
    check_writable(output, inputs=(model, data))
    if output is not None:
        _check_suffix(output)
    fitted, notes = load_with_notes(model)
    X, frame = rows_of(fitted, data, na_words(notes) if na is None else na, fill=True)
    warnings = unfamiliar_values(fitted, notes, frame, X)
    table = predictions(fitted, X)
    if keep:
        table = _with_columns(table, frame, keep, data)
    if spreadsheet:
        table = without_formulas(table)
    if output is not None:
        write_table(table, output)
    if as_json:
        rows = {} if output is not None else {k: list(v) for k, v in table.items()}
        where = {} if output is None else {"output": str(output)}
        print(in_json({"rows": len(table), **where, "warnings": warnings, **rows}))
        return len(table)
    for words in warnings:
        print(f"warning: {printable(words)}", file=sys.stderr)
    if output is not None:
        print(f"{len(table):,} predictions written to {output}")
    else:
        print(table.to_csv(index=False), end="")
    return len(table)


def predictions(model: Any, X: Any) -> Any:
    """One column per target, and one per class with its probability."""
    pd = require("pandas", extra="cli", what="kboost predict")
    predicted = model.predict(X)
    if predicted.ndim == 1:
        out = {"prediction": predicted}
    else:
        out = {f"prediction {j + 1}": column for j, column in enumerate(predicted.T)}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(X)
        for k, label in enumerate(model.classes_):
            out[f"probability of {label}"] = probabilities[:, k]
    return pd.DataFrame(out)


def _with_columns(table: Any, frame: Any, keep: Sequence[str], path: Path) -> Any:
    """The predictions after columns of the file, which are unchanged."""
    if frame is None:
        raise ValueError(f"--keep must name columns of a table; {path} is a matrix.")
    names = columns_named(keep, [str(name) for name in frame.columns], "--keep")
    clashing = [name for name in names if name in table.columns]
    if clashing:
        raise ValueError(f"--keep must name other columns than those written; got {clashing[0]!r}.")
    kept = frame[list(dict.fromkeys(names))].reset_index(drop=True)
    pd = require("pandas", extra="cli", what="kboost predict")
    return pd.concat([kept, table], axis=1)


def without_formulas(table: Any) -> Any:
    """The table with an apostrophe before text that a spreadsheet would take for a formula."""
    out = table.rename(columns=_as_text)
    for j in range(out.shape[1]):
        column = out.iloc[:, j]
        if column.dtype.kind not in "biufM":
            out.isetitem(j, column.map(_as_text))
    return out


def _as_text(value: Any) -> Any:
    formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return f"'{value}" if formula else value


def _check_suffix(output: Path) -> None:
    """Raise before the work for a format that is not written."""
    kind = output.with_suffix("").suffix if output.suffix.lower() == ".gz" else output.suffix
    if kind.lower() not in ("", ".csv", ".tsv", ".txt", *_PARQUET):
        raise ValueError(
            f"--output must be a CSV or Parquet file (.csv, .tsv, .txt, .parquet); got {output}."
        )


def write_table(table: Any, output: Path) -> None:
    """Write Parquet or CSV, depending on the suffix."""
    if output.suffix.lower() in _PARQUET:
        table.to_parquet(output)
    else:
        separator = "\t" if ".tsv" in [suffix.lower() for suffix in output.suffixes[-2:]] else ","
        table.to_csv(output, index=False, sep=separator)
