"""Rows in canonical form without a copy of X: merged, ordered and split by index.

As in data/merged_rows.py, identical (x, y) rows are merged and their weights summed, rows of weight
0 are dropped, and the order depends on content only. Content is compared by two 64-bit hashes of
the bytes of each row (as float64, so that float32 input with the same values is equal), computed in
chunks: X may be a memory map larger than memory. Rows are ordered by their hashes, which is also a
random order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import BoolArray, FloatArray, IntArray
from kboost.kernels.rows import as_dense, group_rows

_CHUNK = 1 << 20  # numbers hashed at a time
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True)
class IndexedRows:
    """Distinct rows in canonical order; rows with the same x are adjacent."""

    order: IntArray  # (n,), their indices in X
    targets: FloatArray  # (n, q)
    weight: FloatArray  # (n,), positive
    center_rows: IntArray  # (n_centers,), the first row of each distinct x

    def take(self, chosen: BoolArray) -> IndexedRows:
        """A subset of the rows; rows with the same x must stay together."""
        starts = np.zeros(len(self.order), dtype=bool)
        starts[self.center_rows] = True
        return IndexedRows(
            self.order[chosen],
            self.targets[chosen],
            self.weight[chosen],
            np.flatnonzero(starts[chosen]),
        )

    def by_center(self) -> tuple[IndexedRows, float]:
        """Merge rows with the same x into one row with their mean target and total weight.

        Least squares on the merged rows is the same problem up to a constant, which is returned
        too: half the weighted sum of squares around the means.
        """
        if len(self.center_rows) == len(self.order):
            return self, 0.0
        weight = np.add.reduceat(self.weight, self.center_rows)
        sums = np.add.reduceat(self.weight[:, None] * self.targets, self.center_rows, axis=0)
        targets = sums / weight[:, None]
        sizes = np.diff(np.append(self.center_rows, len(self.order)))
        away = self.targets - np.repeat(targets, sizes, axis=0)
        constant = 0.5 * float(self.weight @ np.sum(away**2, axis=1))
        order = self.order[self.center_rows]
        return IndexedRows(order, targets, weight, np.arange(len(order))), constant

    def hold_out(
        self, fraction: float, rng: np.random.RandomState, *, labels: bool
    ) -> tuple[IndexedRows, IndexedRows]:
        """Split into training and held-out rows, by distinct x; labels are stratified."""
        mass = np.add.reduceat(self.weight, self.center_rows)
        kind = np.zeros(len(mass), dtype=np.intp)
        if labels:
            first = self.targets[self.center_rows]
            kind = first.argmax(axis=1) if first.shape[1] > 1 else (first[:, 0] > 0).astype(np.intp)
        held = np.zeros(len(mass), dtype=bool)
        for code in np.unique(kind):
            members = np.flatnonzero(kind == code)
            members = members[rng.permutation(len(members))]
            class_mass = mass[members]
            held[members] = np.cumsum(class_mass) - class_mass / 2 < fraction * class_mass.sum()
            held[members[-1]] = False  # every class keeps a training row
        sizes = np.diff(np.append(self.center_rows, len(self.order)))
        outside = np.repeat(held, sizes)
        return self.take(~outside), self.take(outside)


def indexed_rows(X: Any, targets: FloatArray, weight: FloatArray) -> IndexedRows:
    """Merge, drop and order rows, as the module docstring describes."""
    kept = np.flatnonzero(weight > 0)
    of_x = row_hashes(X, kept)
    of_y = _hash(np.ascontiguousarray(targets[kept], dtype=np.float64))
    order = np.lexsort((of_y[1], of_y[0], of_x[1], of_x[0]))
    new_x = _changes(of_x[:, order])
    new = new_x | _changes(of_y[:, order])
    starts = np.flatnonzero(new)
    rows = kept[order]
    return IndexedRows(
        order=np.minimum.reduceat(rows, starts),  # the first of identical rows
        targets=np.asarray(targets[rows[starts]], dtype=np.float64),
        weight=np.add.reduceat(weight[rows], starts),
        center_rows=np.flatnonzero(new_x[starts]),
    )


def row_hashes(X: Any, rows: IntArray) -> Any:
    """Two hashes of the content of each row of X, (2, n)."""
    if hasattr(X, "row_hashes"):  # distributed rows are hashed on the workers
        return X.row_hashes(rows)
    if not isinstance(X, np.ndarray):
        group = group_rows(X[rows])[1].astype(np.float64)
        return _hash(group[:, None])  # groups are ordered by content, but not at random
    out = np.empty((2, len(rows)), dtype=np.uint64)
    step = max(1, _CHUNK // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        piece = slice(start, start + step)
        out[:, piece] = _hash(as_dense(X[rows[piece]]).astype(np.float64))
    return out


def _hash(values: FloatArray) -> Any:
    """Multiply-and-xor hashes of the 64-bit words of each row."""
    words = (values + 0.0).view(np.uint64).reshape(len(values), -1)  # + 0.0 turns -0.0 into 0.0
    out = np.zeros((2, len(words)), dtype=np.uint64)
    factors = np.array(_FACTORS, dtype=np.uint64)[:, None]
    out += factors >> np.uint64(1)
    for column in range(words.shape[1]):
        out ^= words[:, column]
        out *= factors
        out ^= out >> np.uint64(29)
    out *= np.uint64(0xBF58476D1CE4E5B9)
    out ^= out >> np.uint64(32)
    return out


def _changes(hashes: Any) -> BoolArray:
    """Whether each row differs from the previous one; True for the first."""
    out = np.ones(hashes.shape[1], dtype=bool)
    out[1:] = np.any(hashes[:, 1:] != hashes[:, :-1], axis=0)
    return out
