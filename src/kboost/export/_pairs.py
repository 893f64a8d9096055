"""Products and distances of all pairs of rows and centres in ONNX, as in kboost.kernels.

For distances, the mean of the centres is subtracted before values are rounded to the dtype of the
kernels. City-block and chi-squared sums loop over the features (Scan), so that memory does not grow
with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost.export._graph import TYPES, Builder
from kboost.export._rows import InputRows
from kboost.kernels.functions import Precomputed
from kboost.kernels.views import View

MOST_NUMBERS = 1 << 27  # of sparse centres in a graph, which may have 2 GiB


def dense(rows: Any) -> Any:
    """Centres as an array."""
    if issparse(rows) and rows.shape[0] * rows.shape[1] > MOST_NUMBERS:
        raise ValueError(
            f"model must have sparse centres of at most {MOST_NUMBERS} numbers, zeros included, "
            f"to be exported; got {rows.shape[0]} x {rows.shape[1]}."
        )
    return np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)


class Pairs:
    """Blocks of all rows with the centres of one part, each computed once."""

    def __init__(self, rows: InputRows, centers: Any) -> None:
        self.rows, self.builder, self._centers = rows, rows.builder, centers
        self._blocks: dict[tuple[str, View, float], str] = {}

    def block(self, kind: str, view: View) -> str:
        """One value per pair, (n, m)."""
        if (kind, view, 1.0) not in self._blocks:
            self._blocks[kind, view, 1.0] = _BLOCKS[kind](self, view)
        return self._blocks[kind, view, 1.0]

    def product(self, kind: str, view: View, factor: float = 1.0) -> str:
        """A multiple of the dot products, or cosines, of all pairs.

        The centres are multiplied by the factor, because onnxruntime would fuse a matrix product
        and a following factor, and round the factor to float32.
        """
        if (kind, view, factor) not in self._blocks:
            self._blocks[kind, view, factor] = _PRODUCTS[kind](self, view, factor)
        return self._blocks[kind, view, factor]

    def per_center(self, values: Any) -> str:
        """A constant with one column per centre, (., m)."""
        return self.builder.real(values)

    def points(self, view: View) -> Any:
        """The centres transformed by a view, float64."""
        return dense(view.apply(self._centers))

    def columns_of(self, kernel: Precomputed) -> str:
        """The columns of precomputed matrices."""
        index = kernel.part * kernel.width + dense(self._centers)[:, 0].astype(np.int64)
        chosen = self.builder.op("Gather", self.rows.X, self.builder.whole(index), axis=1)
        return self.builder.to_real(chosen)


def _dot(pairs: Pairs, view: View, factor: float) -> str:
    b = pairs.builder
    return b.op(
        "MatMul",
        b.to_real(pairs.rows.viewed(view)),
        pairs.per_center(factor * pairs.points(view).T),
    )


def _sqeuclidean(pairs: Pairs, view: View) -> str:
    b, points = pairs.builder, pairs.points(view)
    mean = points.mean(axis=0)
    points = points - mean
    rows = b.to_real(b.op("Sub", pairs.rows.viewed(view), b.double(mean)))
    row_norms = b.total(b.op("Mul", rows, rows), 1, keep=True)
    cross = b.op("MatMul", rows, pairs.per_center(-2.0 * points.T))
    center_norms = pairs.per_center(np.sum(points**2, axis=1)[None, :])
    return b.op("Max", b.op("Add", b.op("Add", cross, row_norms), center_norms), b.real(0.0))


def _by_feature(term: Callable[[Builder, str, str], str]) -> Callable[[Pairs, View], str]:
    """The sum of a term over the features, by a loop (Scan)."""

    def block(pairs: Pairs, view: View) -> str:
        b, rows, points = pairs.builder, pairs.rows.viewed(view), pairs.points(view)
        if term is not chi_squared:  # a shift does not change differences, and saves digits
            mean = points.mean(axis=0)
            rows, points = b.op("Sub", rows, b.double(mean)), points - mean
        rows, centers = b.to_real(rows), pairs.per_center(points.T)
        inner, kind = b.inner(), TYPES[b.dtype]
        before, x, z = (inner.name() for _ in range(3))
        added = term(inner, inner.reshape(x, -1, 1), inner.reshape(z, 1, -1))
        after = inner.op("Add", before, added)
        vector, matrix = (kind, (None,)), (kind, (None, None))
        body = inner.graph({before: matrix, x: vector, z: vector}, {after: matrix}, "features")
        start = b.zeros(b.length(rows, 0), b.length(centers, 1), b.dtype)
        features = b.op("Transpose", rows, perm=[1, 0])
        return b.op("Scan", start, features, centers, body=body, num_scan_inputs=2)

    return block


def gap(b: Builder, x: str, z: str) -> str:
    """`|x - z|`."""
    return b.op("Abs", b.op("Sub", x, z))


def square(b: Builder, x: str, z: str) -> str:
    """`(x - z)^2`."""
    difference = b.op("Sub", x, z)
    return b.op("Mul", difference, difference)


def chi_squared(b: Builder, x: str, z: str) -> str:
    """`(x - z)^2 / (x + z)`, 0 where both are 0."""
    difference, total = b.op("Sub", x, z), b.op("Add", x, z)
    is_zero = b.op("Equal", total, b.real(0.0))
    divisor = b.op("Where", is_zero, b.real(1.0), total)
    ratio = b.op("Div", b.op("Mul", difference, difference), divisor)
    return b.op("Where", is_zero, b.real(0.0), ratio)


def _cosine(pairs: Pairs, view: View, factor: float) -> str:
    b, points = pairs.builder, pairs.points(view)
    rows = pairs.rows.viewed(view)
    length = b.op("Sqrt", b.total(b.op("Mul", rows, rows), 1, keep=True))
    none = b.op("Equal", length, b.double(0.0))
    unit = b.op("Div", rows, b.op("Where", none, b.double(1.0), length))
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    units = factor * points / np.where(norms == 0, 1.0, norms)
    return b.op("MatMul", b.to_real(unit), pairs.per_center(units.T))


_BLOCKS: dict[str, Callable[[Pairs, View], str]] = {
    "sqeuclidean": _sqeuclidean,
    "cityblock": _by_feature(gap),
    "squares": _by_feature(square),  # accurate for close rows, as required before a square root
    "chi2": _by_feature(chi_squared),
}
_PRODUCTS: dict[str, Callable[[Pairs, View, float], str]] = {"dot": _dot, "cosine": _cosine}
