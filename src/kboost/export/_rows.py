"""Views of the input rows in ONNX: selected features, standardised or as ranks, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kboost.export._graph import DOUBLE, INT, Builder
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View


class InputRows:
    """The rows of the input and their views, each computed once."""

    def __init__(self, builder: Builder, X: str, n_features: int) -> None:
        self.builder, self.X, self.n_features = builder, X, n_features  # X is float64
        self._viewed: dict[View, str] = {}

    def viewed(self, view: View) -> str:
        """The rows transformed by a view, float64."""
        if view not in self._viewed:
            self._viewed[view] = self._apply(view)
        return self._viewed[view]

    def _apply(self, view: View) -> str:
        b, out = self.builder, self.X
        if view.columns is not None:
            columns = [column % self.n_features for column in view.columns]
            out = b.op("Gather", out, b.whole(columns), axis=1)
        if view.transform is None:
            return out
        return _TRANSFORMS[type(view.transform)](b, out, view.transform)


def _standardize(b: Builder, X: str, transform: Standardize) -> str:
    small = b.op("Mul", X, b.double(np.ldexp(1.0, -(transform.exponent // 2))))
    scaled = b.op(
        "Mul", small, b.double(np.ldexp(1.0, transform.exponent // 2 - transform.exponent))
    )
    return b.op("Mul", b.op("Sub", scaled, b.double(transform.shift)), b.double(transform.scale))


def _ranks(b: Builder, X: str, transform: Ranks) -> str:
    """Per feature (Scan): count the knots up to x and interpolate between the two around it."""
    sizes = np.maximum(np.diff(transform.starts), 2)  # a single knot is repeated
    values = np.full((transform.n_features, sizes.max()), np.inf)
    ranks = np.zeros_like(values)
    for j, (start, stop) in enumerate(
        zip(transform.starts[:-1], transform.starts[1:], strict=True)
    ):
        knots = np.arange(start, stop) if stop - start > 1 else np.repeat(start, 2)
        values[j, : len(knots)] = transform.values[knots]
        ranks[j, : len(knots)] = transform.scale[j] * transform.ranks[knots]
    inner = b.inner()
    x, v, r, last = (inner.name() for _ in range(4))
    below = inner.op("LessOrEqual", inner.reshape(v, 1, -1), inner.reshape(x, -1, 1))
    counted = inner.total(inner.cast(below, INT), 1)
    left = inner.op(
        "Sub", inner.op("Min", inner.op("Max", counted, inner.whole(1)), last), inner.whole(1)
    )
    right = inner.op("Add", left, inner.whole(1))
    half, one, zero = inner.double(0.5), inner.double(1.0), inner.double(0.0)
    low = inner.op("Mul", inner.op("Gather", v, left), half)
    width = inner.op("Sub", inner.op("Mul", inner.op("Gather", v, right), half), low)
    flat = inner.op("Equal", width, zero)
    part = inner.op(
        "Div",
        inner.op("Sub", inner.op("Mul", x, half), low),
        inner.op("Where", flat, one, width),
    )
    part = inner.op("Where", flat, zero, inner.op("Clip", part, zero, one))
    lower = inner.op("Mul", inner.op("Gather", r, left), inner.op("Sub", one, part))
    out = inner.op("Add", lower, inner.op("Mul", inner.op("Gather", r, right), part))
    line = (DOUBLE, (None,))
    body = inner.graph({x: line, v: line, r: line, last: (INT, ())}, {out: line}, "ranks")
    scanned = b.op(
        "Scan",
        b.op("Transpose", X, perm=[1, 0]),
        b.double(values),
        b.double(ranks),
        b.whole(sizes - 1),
        body=body,
        num_scan_inputs=4,
    )
    return b.op("Transpose", scanned, perm=[1, 0])


_TRANSFORMS: dict[type, Callable[[Builder, str, Any], str]] = {
    Standardize: _standardize,
    Ranks: _ranks,
}
