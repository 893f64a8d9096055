"""Files of rows: CSV, Parquet, Arrow, JSON, svmlight, npz."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from kboost._optional import require
from kboost.tables.columns import with_missing
from kboost.tables.delimited import check_names, read_delimited

_TEXT = (".csv", ".tsv", ".txt", ".data")
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_JSON, _JSON_LINES = (".json",), (".jsonl", ".ndjson")
KINDS = (
    "CSV (.csv, .tsv, .txt), Parquet (.parquet), Arrow (.arrow, .feather), JSON (.json, .jsonl), "
    "svmlight (.svm, .svmlight, .libsvm), NumPy (.npz)"
)


@dataclass(frozen=True)
class Table:
    """The content of a file: a data frame, or a matrix X and possibly y.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        The columns as read, strings for CSV.
    X : ndarray, CSR matrix or None
        Rows without column names.
    y : ndarray or None
        Targets of the rows.
    """

    frame: Any = None
    X: Any = None
    y: Any = None

    def __len__(self) -> int:
        return int(self.frame.shape[0] if self.frame is not None else self.X.shape[0])


def read_table(
    path: Any, *, n_features: int | None = None, na: Sequence[str] | None = None
) -> Table:
    """Read a file of rows; its suffix determines the format.

    Parameters
    ----------
    path : str or path-like
        A CSV file (any usual separator, UTF-8, UTF-16 or Latin-1, also ``.gz``), Parquet, Arrow
        (a file or a stream), JSON (a list of objects, or lists by column, or an object per line,
        also ``.gz``), svmlight, or an npz file with arrays X and y.
    n_features : int, optional
        Number of features of an svmlight file.
    na : sequence of str, optional
        Words that are missing values, in columns of all types of a table.

    Returns
    -------
    Table
        The content of the file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be an existing file; got {path}.")
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    kind = plain.suffix.lower()
    if kind in _TEXT:
        table = Table(frame=read_delimited(path))
    elif kind in (*_PARQUET, *_ARROW):
        table = Table(frame=_read_arrow(path, parquet=kind in _PARQUET))
    elif kind in (*_JSON, *_JSON_LINES):
        table = Table(frame=_read_json(path, lines=kind in _JSON_LINES))
    elif kind in _SVMLIGHT:
        table = _read_svmlight(path, n_features)
    elif kind == ".npz":
        table = _read_npz(path)
    else:
        raise ValueError(f"{path} must be one of {KINDS}; its suffix is {kind!r}.")
    if not len(table):
        raise ValueError(f"{path} must have rows; it has none.")
    return table if na is None or table.frame is None else Table(with_missing(table.frame, na))


def _read_arrow(path: Path, *, parquet: bool) -> Any:
    """A Parquet file, or an Arrow file or stream."""
    pd = require("pandas", extra="cli", what="reading Parquet and Arrow")
    arrow = require("pyarrow", extra="cli", what="reading Parquet and Arrow")
    try:
        if parquet:
            frame = pd.read_parquet(path, engine="pyarrow")
        else:
            frame = _arrow_table(arrow, path).to_pandas()
    except (arrow.ArrowException, OSError) as error:
        kind = "a Parquet" if parquet else "an Arrow"
        raise ValueError(f"{path} must be {kind} file; {_first_line(error)}.") from error
    named = any(name is not None for name in frame.index.names)
    return _with_names(frame.reset_index(drop=not named), path)


def _arrow_table(arrow: Any, path: Path) -> Any:
    from pyarrow import ipc

    with arrow.memory_map(str(path)) as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        return (ipc.open_file if is_file else ipc.open_stream)(file).read_all()


def _read_json(path: Path, *, lines: bool) -> Any:
    """Objects with the same keys as rows, or one object of lists as columns."""
    pd = require("pandas", extra="cli", what="reading JSON")
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
        records = [json.loads(line) for line in text.split("\n") if line.strip()] if lines else None
        records = json.loads(text) if records is None else records
        if not isinstance(records, dict) and not all(isinstance(row, dict) for row in records):
            raise ValueError("its rows must be objects.")
        frame = pd.DataFrame(records)
    except (ValueError, TypeError, OSError, EOFError) as error:
        raise ValueError(f"{path} must be a JSON file of rows; {_first_line(error)}.") from error
    nested = [name for name in frame.columns if frame[name].map(_is_nested).any()]
    if nested:
        raise ValueError(f"{path} must have plain values; {nested[0]!r} has lists or objects.")
    return _with_names(frame.reset_index(drop=True), path)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | dict)


def _with_names(frame: Any, path: Path) -> Any:
    frame.columns = [str(name) for name in frame.columns]
    check_names(frame.columns.tolist(), path)
    return frame


def _read_svmlight(path: Path, n_features: int | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path), n_features=n_features)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} must be an svmlight file; {_first_line(error)}.") from error
    return Table(X=X, y=y)


def _read_npz(path: Path) -> Table:
    if not is_zipfile(path):  # NumPy's message would be about pickles
        raise ValueError(f"{path} must be an npz file of plain arrays; it is not a zip file.")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            content = {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zip, format and type errors of many kinds
        raise ValueError(
            f"{path} must be an npz file of plain arrays; {_first_line(error)}."
        ) from None
    if "X" not in content or content["X"].ndim != 2:
        raise ValueError(
            f"{path} must contain a matrix named X; it contains {sorted(content) or 'nothing'}."
        )
    y = content.get("y")
    if y is not None and y.shape != content["X"].shape[:1]:
        raise ValueError(
            f"{path} must contain one y per row of X; got shapes {y.shape}, {content['X'].shape}."
        )
    return Table(X=content["X"], y=y)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
