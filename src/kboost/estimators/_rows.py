"""Rows in canonical form, so that a row given twice equals a row of weight two.

Identical (x, y) rows are merged and their weights summed, rows of weight zero dropped, the rest
put in an order that depends on their values only. Centres are the distinct x. Every later draw
works on this form, so neither repetition nor order of the input can matter.
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
    codes: IntArray  # (n,), class numbers
    weight: FloatArray  # (n,), positive
    center_of_row: IntArray  # (n,)
    first: IntArray  # (n_centers,), a row of the input that each centre came from

    @property
    def centers(self) -> Any:
        """The distinct x, (n_centers, d)."""
        rows = np.unique(self.center_of_row, return_index=True)[1]
        return self.X[rows]

    def take(self, chosen: Any) -> MergedRows:
        """Some of the rows; the centres are those among them."""
        kept, center_of_row = np.unique(self.center_of_row[chosen], return_inverse=True)
        return MergedRows(
            self.X[chosen],
            self.codes[chosen],
            self.weight[chosen],
            center_of_row,
            self.first[kept],
        )


def merge_rows(X: Any, codes: IntArray, weight: FloatArray) -> MergedRows:
    """Merge, drop and order; see the head of this file."""
    positive = np.flatnonzero(weight > 0)
    X, codes, weight = X[positive], codes[positive], weight[positive]
    first, center = group_rows(X)
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
    rows: MergedRows, fraction: float, rng: np.random.RandomState
) -> tuple[MergedRows, MergedRows]:
    """Split into a part to learn from and a part to judge by, class by class, by distinct x.

    Rows with the same x stay together (under the class that weighs most there); whole groups are
    drawn until their weight reaches the fraction.
    """
    n_codes, n_centers = int(rows.codes.max()) + 1, len(rows.first)
    mass = np.zeros((n_centers, n_codes))
    np.add.at(mass, (rows.center_of_row, rows.codes), rows.weight)
    held = np.zeros(n_centers, dtype=bool)
    for code in range(n_codes):
        members = np.flatnonzero(mass.argmax(axis=1) == code)
        members = members[rng.permutation(len(members))]
        total = mass[members].sum(axis=1)
        before = np.cumsum(total) - total
        held[members] = before + total / 2 < fraction * total.sum()
    outside = held[rows.center_of_row]
    return rows.take(~outside), rows.take(outside)
