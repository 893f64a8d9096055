"""What is new in rows to predict: columns filled, categories and ranges that training had not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kboost.cli._notes import as_days, ranges
from kboost.preparation.categories import levels_of
from kboost.tables.preparing import missing_columns, plain_name, preparation_of

OUTSIDE = 0.01  # share of the values beyond the range of training that is reported
MARGIN = 0.1  # of the width of the range, by which a few new values exceed it by chance


def unfamiliar_values(model: Any, notes: dict[str, Any], frame: Any, X: Any) -> list[str]:
    """One line per column that differs from training; of a matrix nothing is known."""
    prepare = preparation_of(model)
    if prepare is None or frame is None or not hasattr(X, "columns"):
        return []
    filled = missing_columns(model, frame)
    lines = [f"{name} is not in the file; all its values are missing" for name in filled]
    training_ranges = ranges(notes)
    for column, encoding in zip(prepare.columns_, prepare._encodings, strict=True):
        if column.name not in X.columns or encoding is None:
            continue
        plain = column.name if column.name in training_ranges else plain_name(column.name)
        if column.kind == "category":
            lines += _unseen(column.name, X[column.name], levels_of(encoding))
        elif plain in training_ranges:
            lines += _outside(plain, X[column.name], training_ranges[plain])
    return lines


def _unseen(name: str, values: Any, levels: Any) -> Iterator[str]:
    present = values.dropna()
    new = present[~present.isin(levels)]
    if len(new):
        yield (
            f"{name}: {_rows(len(new), len(values))} a value that training did not have, "
            f"e.g. {str(new.iloc[0])!r}"
        )


def _outside(name: str, values: Any, limits: tuple[float, float]) -> Iterator[str]:
    numbers = as_days(values)
    low, high = limits
    margin = MARGIN * (high - low)
    n = int(((numbers < low - margin) | (numbers > high + margin)).sum())
    if n > OUTSIDE * len(numbers):
        words = [f"{value:.6g}" for value in limits]
        if values.dtype.kind == "M":
            words = [str(np.datetime64(int(np.floor(value)), "D")) for value in limits]
        yield (
            f"{name}: {_rows(n, len(values))} a value outside the range of training, "
            f"{words[0]} to {words[1]}"
        )


def _rows(n: int, total: int) -> str:
    return f"{n:,} of {total:,} rows {'has' if n == 1 else 'have'}"
