"""Rows in canonical form, so that a row given twice is equivalent to a row of weight 2.

Identical (x, y) rows are merged and their weights summed, rows of weight 0 are dropped, and the
rest are ordered by their values. Centres are the distinct x. All later random draws use this form,
so results depend neither on repetitions nor on the order of the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.kernels.rows import group_rows


@dataclass(frozen=True)
class MergedRows:
    """Distinct (x, code) rows with their weights."""

    X: Any  # (n, d)
    codes: IntArray  # (n,), indices of the distinct targets
    weight: FloatArray  # (n,), positive
    center_of_row: IntArray  # (n,)
    first: IntArray  # (n_centers,), an input row equal to each centre

    @property
    def centers(self) -> Any:
        """The distinct x, (n_centers, d)."""
        rows = np.unique(self.center_of_row, return_index=True)[1]
        return self.X[rows]

    def take(self, chosen: Any) -> MergedRows:
        """A subset of the rows, with their centres."""
        kept, center_of_row = np.unique(self.center_of_row[chosen], return_inverse=True)
        return MergedRows(
            self.X[chosen],
            self.codes[chosen],
            self.weight[chosen],
            center_of_row,
            self.first[kept],
        )


def merge_rows(X: Any, codes: IntArray, weight: FloatArray) -> MergedRows:
    """Merge, drop and order rows, as the module docstring describes."""
    positive = np.flatnonzero(weight > 0)
    X, codes, weight = X[positive], codes[positive], weight[positive]
    first, center = X.group_rows() if hasattr(X, "group_rows") else group_rows(X)
    n_codes = int(codes.max()) + 1
    pairs, rows, inverse = np.unique(
        center * n_codes + codes, return_index=True, return_inverse=True
    )
    return MergedRows(
        X=X[rows],
        codes=pairs % n_codes,
        weight=np.bincount(inverse, weights=weight).astype(np.float64),
        center_of_row=pairs // n_codes,
        first=positive[first],
    )


def hold_out(
    rows: MergedRows, fraction: float, rng: np.random.RandomState, *, by_code: bool
) -> tuple[MergedRows, MergedRows]:
    """Split into training and held-out rows, by distinct x.

    Rows with the same x stay together; groups are drawn until their weight reaches the fraction.
    With `by_code` the split is stratified by class; a group counts for its majority class.
    """
    held = np.zeros(len(rows.first), dtype=bool)
    total = np.bincount(rows.center_of_row, weights=rows.weight)
    kind = majority_code(rows) if by_code else np.zeros(len(total), dtype=np.intp)
    for code in np.unique(kind):
        members = np.flatnonzero(kind == code)
        members = members[rng.permutation(len(members))]
        mass = total[members]
        held[members] = np.cumsum(mass) - mass / 2 < fraction * mass.sum()
        held[members[-1]] = False  # every class keeps a training row
    outside = held[rows.center_of_row]
    return rows.take(~outside), rows.take(outside)


def majority_code(rows: MergedRows) -> IntArray:
    """The class with the largest weight among the rows of each centre."""
    mass = np.zeros((len(rows.first), int(rows.codes.max()) + 1))
    np.add.at(mass, (rows.center_of_row, rows.codes), rows.weight)
    heaviest: IntArray = mass.argmax(axis=1)
    return heaviest
