"""Read rows for a fitted model, and check output files."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kboost.tables import Table, describe, read_table, rows_for
from kboost.tables.columns import as_numbers, as_text
from kboost.tables.preparing import preparation_of


def rows_of(
    model: Any, path: Path, na: Sequence[str] | None = None, *, fill: bool = False
) -> tuple[Any, Any]:
    """The rows of a file as input of a fitted model, and as read; the latter None for a matrix.

    `na` are words for missing values; with `fill`, columns may be missing.
    """
    table = read_table(path, n_features=getattr(model, "n_features_in_", None), na=na)
    return rows_for_model(model, table, path, fill=fill), table.frame


def rows_for_model(model: Any, table: Table, path: Path, *, fill: bool = False) -> Any:
    """The rows of a table as input of a model; raises if the model was fitted to other data."""
    first = model[0] if hasattr(model, "steps") else model
    of_table = hasattr(preparation_of(model), "feature_names_in_")
    if table.frame is None and (of_table or hasattr(first, "transformers_")):
        raise ValueError(f"{path} must be a table with the columns of the model; it is a matrix.")
    if table.frame is None:
        return table.X
    if of_table:
        return rows_for(model, table.frame, fill=fill)
    return _by_name(model, table.frame, path)


def _by_name(model: Any, frame: Any, path: Path) -> Any:
    """Input of a model that was not fitted on the command line; numbers are converted."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return frame.apply(as_numbers).to_numpy()
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ValueError(f"{path} must have the columns of the model; {missing[0]!r} is missing.")
    frame = frame[list(names)].copy()
    for column in describe(frame):
        plain = as_text if column.kind == "category" else as_numbers
        frame[column.name] = plain(frame[column.name])
    return frame


def check_writable(*paths: Path | None, inputs: Sequence[Path | None] = ()) -> None:
    """Raise before the work if an output cannot be written, or is an input or another output."""
    outputs = [path.resolve() for path in paths if path is not None]
    read = {path.resolve() for path in inputs if path is not None}
    for number, output in enumerate(outputs):
        if output in read or output in outputs[:number]:
            raise ValueError(f"outputs must be files of their own; got {output.name} twice.")
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"{path} must be in an existing folder; {path.parent} does not exist.")
        if path is not None and path.is_dir():
            raise ValueError(f"{path} must be a file; it is a folder.")
        if path is not None and not path.exists() and not _can_create(path.parent):
            raise ValueError(f"{path} must be in a folder that can be written.")


def _can_create(folder: Path) -> bool:
    """Whether a file can be created there."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
