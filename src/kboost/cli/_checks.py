"""What may be wrong with a table, one line each, with the option that changes it.

A column gives the target away if rows that are next to each other in its order have nearly the same
target. With y sorted by x, and the mean over all rows,

    numbers:  1 - mean((y[i] - (y[i-1] + y[i+1]) / 2)^2) / (1.5 var(y))      an estimate of R²
    labels:   1 - mean(y[i] != y[i-1]) / (1 - sum(share^2))

are 0 if y does not depend on x, and 1 if x alone determines it. Of a category only neighbours of
the same value count.
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Any

import numpy as np

from kboost._optional import require
from kboost._typing import BoolArray, FloatArray
from kboost.cli._data import Data

MOST_ROWS = 5_000  # that are checked
FEW_ROWS = 30  # below which nothing is said about leaks and ids
GIVES_AWAY = {"regression": 0.99, "classification": 0.95}
QUANTITY = 6  # classes that are whole numbers, from which on they may be a quantity
LABELS = 10  # different values of a number, up to which they may be labels
MOSTLY_DIFFERENT = 0.9  # share of different values of a category that may be an id
MOST_LINES = 5  # of one kind


def notes_on(data: Data) -> list[str]:
    """Remarks on the columns and the target."""
    remarks = [*_task(data)]
    if data.is_table:
        for lines in (_leaks(data), _ids(data), _repeated(data)):
            remarks += _few(list(lines))
    return remarks


def _task(data: Data) -> Iterator[str]:
    n = len(np.unique(data.y))
    if data.task == "classification" and data.y.dtype.kind in "iu" and n >= QUANTITY:
        yield f"{data.target} is read as {n} classes; if it is a quantity, --task regression"
    if data.task == "regression" and n <= LABELS and len(data.y) >= FEW_ROWS:
        yield f"{data.target} has only {n} values; if they are labels, --task classification"


def _leaks(data: Data) -> Iterator[str]:
    if len(data.y) < FEW_ROWS:
        return
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(data.y))[:MOST_ROWS]
    labels = data.task == "classification"
    codes = np.unique(data.y, return_inverse=True)[1] if labels else data.y
    y = np.asarray(codes, dtype=np.float64)
    for name in data.X.columns:
        share = dependence(data.X[name].iloc[rows], y[rows], labels=labels)
        if share >= GIVES_AWAY[data.task]:
            how = "nearly " * (share < 1)
            yield (
                f"{name} alone {how}predicts {data.target} ({share:.1%}); if it is known only "
                f"after {data.target}, --drop {quote(_plain_name(data, name))}"
            )


def dependence(column: Any, y: FloatArray, *, labels: bool) -> float:
    """How far a column alone determines the target, in the order of the column."""
    present = column.notna().to_numpy()
    column, y = column[present], y[present]
    if len(y) < FEW_ROWS:
        return 0.0
    numbers = column.dtype.kind in "fM"
    x = np.unique(column.to_numpy(), return_inverse=True)[1]
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    same: BoolArray = np.full(len(y) - 1, numbers) | (x[1:] == x[:-1])
    if not labels:
        total = 1.5 * float(np.var(y))
        pairs = same[1:] & same[:-1]
        if not total or pairs.mean() < 0.5:
            return 0.0
        error = (y[1:-1] - (y[:-2] + y[2:]) / 2)[pairs]
        return 1.0 - float(np.mean(error**2)) / total
    shares = np.bincount(y.astype(np.intp)) / len(y)
    total = 1.0 - float(shares @ shares)
    if not total or same.mean() < 0.5:
        return 0.0
    return 1.0 - float(np.mean((y[1:] != y[:-1])[same])) / total


def _ids(data: Data) -> Iterator[str]:
    for column in data.columns:
        name = quote(column.name)
        if column.kind == "left out" and column.note.startswith("an id: a different number"):
            yield f"{column.name} looks like an id and is left out; --use {name} uses it"
        if column.kind == "category":
            values = data.X[column.name].dropna()
            n = values.nunique()
            if len(values) >= FEW_ROWS and n > MOSTLY_DIFFERENT * len(values):
                rows = f"{n:,} values in {len(values):,} rows"
                yield f"{column.name} has {rows} and may be an id; --drop {name} leaves it out"


def _repeated(data: Data) -> Iterator[str]:
    hash_array = require("pandas", extra="cli", what="kboost").util.hash_array
    seen: dict[tuple[str, int], str] = {}
    for name in data.X.columns:
        column = data.X[name]
        key = (column.dtype.kind, int(hash_array(column.to_numpy()).sum()))
        first = seen.setdefault(key, name)
        if first != name and column.equals(data.X[first].rename(name)):
            option = f"--drop {quote(_plain_name(data, name))}"
            yield f"{name} has the same values as {first}; {option} leaves it out"


def _few(lines: list[str]) -> list[str]:
    rest = len(lines) - MOST_LINES
    return lines if rest <= 0 else [*lines[:MOST_LINES], f"… and {rest} more columns like this"]


def _plain_name(data: Data, name: str) -> str:
    """The name in the table of a column of X."""
    names = {column.name for column in data.columns}
    return name if name in names else name.rpartition(" (")[0]
