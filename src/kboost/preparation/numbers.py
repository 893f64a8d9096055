"""Numbers and booleans: the median in place of a missing value, and a column that marks it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation.merging import weighted_median
from kboost.preparation.typed_column import TypedColumn


@dataclass(frozen=True)
class NumberEncoding:
    """A number, or its missing values, or both."""

    kind: str  # "number" or "boolean"
    fill: float  # in place of a missing value
    has_value: bool  # False if the number is constant, and only its missing values differ
    has_indicator: bool  # whether there were missing values in fit
    zero_one: bool  # whether all numbers are 0 or 1

    @property
    def reads(self) -> str:
        return self.kind

    def names(self, name: str) -> list[str]:
        return [name] * self.has_value + [f"{name}:missing"] * self.has_indicator

    @property
    def one_hot(self) -> list[bool]:
        return [self.zero_one] * self.has_value + [True] * self.has_indicator

    def encode(self, column: TypedColumn) -> FloatArray:
        check_finite(column.name, column.values)
        missing = column.missing
        out = []
        if self.has_value:
            out.append(
                np.where(missing, self.fill, column.values) if missing.any() else column.values
            )
        if self.has_indicator:
            out.append(missing.astype(np.float64))
        return np.column_stack(out)


def fit_number(column: TypedColumn, weight: FloatArray, *, keep: bool = False) -> NumberEncoding:
    """The encoding of a column that has values; `keep` keeps a constant one."""
    check_finite(column.name, column.values)
    missing = column.missing
    present = column.values[~missing]
    fill = weighted_median(present, weight[~missing])
    if column.kind == "boolean":
        fill = float(fill > 0.5)
    return NumberEncoding(
        kind=column.kind,
        fill=fill,
        has_value=keep or bool((present != present[0]).any()),
        has_indicator=bool(missing.any()),
        zero_one=bool(((present == 0) | (present == 1)).all()),
    )


def check_finite(name: str, values: FloatArray) -> None:
    """Raise if a value is infinite."""
    if np.isinf(values).any():
        raise ValueError(
            f"column {name!r} must hold finite numbers or missing values; got infinity."
        )
