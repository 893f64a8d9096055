"""Kernels as ONNX: views, pairings and profiles, as in kboost.kernels.

Views are applied in float64, and what is folded stays there; distances are taken from the mean of
the centres before anything is rounded to the arithmetic of the kernels. City-block and chi-squared
sums go over the features one by one (Scan), so that memory stays that of the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost.export._graph import DOUBLE, INT, TYPES, Builder
from kboost.kernels.algebra import Product, Scaled, Sum
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear, Polynomial, Sigmoid
from kboost.kernels.folding import Folded, FoldedTerm
from kboost.kernels.functions import Precomputed, SklearnKernel
from kboost.kernels.stationary import Gaussian, Laplacian, Matern
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View


class Rows:
    """The rows of the input, and what the views show of them, each made once."""

    def __init__(self, builder: Builder, X: str, n_features: int) -> None:
        self.builder, self.X, self.n_features = builder, X, n_features  # X is float64
        self._seen: dict[View, str] = {}

    def seen(self, view: View) -> str:
        """The rows through a view, float64."""
        if view not in self._seen:
            self._seen[view] = self._apply(view)
        return self._seen[view]

    def _apply(self, view: View) -> str:
        b, out = self.builder, self.X
        if view.columns is not None:
            columns = [column % self.n_features for column in view.columns]
            out = b.op("Gather", out, b.whole(columns), axis=1)
        if view.transform is None:
            return out
        return _TRANSFORMS[type(view.transform)](b, out, view.transform)


def dense(rows: Any) -> Any:
    """Centres as an array."""
    return np.asarray(rows.toarray() if issparse(rows) else rows, dtype=np.float64)


# Transforms ----------------------------------------------------------------------------------


def _standardize(b: Builder, X: str, transform: Standardize) -> str:
    small = b.op("Mul", X, b.double(np.ldexp(1.0, -(transform.exponent // 2))))
    scaled = b.op(
        "Mul", small, b.double(np.ldexp(1.0, transform.exponent // 2 - transform.exponent))
    )
    return b.op("Mul", b.op("Sub", scaled, b.double(transform.shift)), b.double(transform.scale))


def _ranks(b: Builder, X: str, transform: Ranks) -> str:
    """Feature by feature: the knots up to x are counted, the two around it interpolated."""
    sizes = np.maximum(np.diff(transform.starts), 2)  # a single knot stands twice
    values = np.full((transform.n_features, sizes.max()), np.inf)
    ranks = np.zeros_like(values)
    for j, (start, stop) in enumerate(
        zip(transform.starts[:-1], transform.starts[1:], strict=True)
    ):
        own = np.arange(start, stop) if stop - start > 1 else np.repeat(start, 2)
        values[j, : len(own)], ranks[j, : len(own)] = transform.values[own], transform.ranks[own]
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


# Pairs ---------------------------------------------------------------------------------------


class Pairs:
    """Blocks of all rows with the centres of one part, each made once."""

    def __init__(self, rows: Rows, centers: Any) -> None:
        self.rows, self.builder, self._centers = rows, rows.builder, centers
        self._blocks: dict[tuple[str, View, float], str] = {}

    def block(self, kind: str, view: View) -> str:
        """One number for each pair, (n, m)."""
        if (kind, view, 1.0) not in self._blocks:
            self._blocks[kind, view, 1.0] = _BLOCKS[kind](self, view)
        return self._blocks[kind, view, 1.0]

    def product(self, kind: str, view: View, factor: float = 1.0) -> str:
        """A multiple of the dot products, or cosines, of all pairs.

        The factor goes into the centres: onnxruntime would fuse a product and a number that
        follows it, and round the number to float32.
        """
        if (kind, view, factor) not in self._blocks:
            self._blocks[kind, view, factor] = _PRODUCTS[kind](self, view, factor)
        return self._blocks[kind, view, factor]

    def per_center(self, values: Any) -> str:
        """A constant with one column for each centre, (., m)."""
        return self.builder.real(values)

    def points(self, view: View) -> Any:
        """The centres through a view, float64."""
        return dense(view.apply(self._centers))

    def columns_of(self, kernel: Precomputed) -> str:
        """The columns of given matrices."""
        index = kernel.part * kernel.width + dense(self._centers)[:, 0].astype(np.int64)
        chosen = self.builder.op("Gather", self.rows.X, self.builder.whole(index), axis=1)
        return self.builder.to_real(chosen)


def _dot(pairs: Pairs, view: View, factor: float) -> str:
    b = pairs.builder
    return b.op(
        "MatMul", b.to_real(pairs.rows.seen(view)), pairs.per_center(factor * pairs.points(view).T)
    )


def _sqeuclidean(pairs: Pairs, view: View) -> str:
    b, points = pairs.builder, pairs.points(view)
    middle = points.mean(axis=0)
    points = points - middle
    rows = b.to_real(b.op("Sub", pairs.rows.seen(view), b.double(middle)))
    own = b.total(b.op("Mul", rows, rows), 1, keep=True)
    cross = b.op("MatMul", rows, pairs.per_center(-2.0 * points.T))
    theirs = pairs.per_center(np.sum(points**2, axis=1)[None, :])
    return b.op("Max", b.op("Add", b.op("Add", cross, own), theirs), b.real(0.0))


def _by_feature(term: Callable[[Builder, str, str], str]) -> Callable[[Pairs, View], str]:
    """The sum of a term over the features, one after the other."""

    def block(pairs: Pairs, view: View) -> str:
        b, rows, points = pairs.builder, pairs.rows.seen(view), pairs.points(view)
        if term is not chi_squared:  # a shift changes no difference, and keeps digits
            middle = points.mean(axis=0)
            rows, points = b.op("Sub", rows, b.double(middle)), points - middle
        rows, theirs = b.to_real(rows), pairs.per_center(points.T)
        inner, kind = b.inner(), TYPES[b.dtype]
        before, x, z = (inner.name() for _ in range(3))
        added = term(inner, inner.reshape(x, -1, 1), inner.reshape(z, 1, -1))
        after = inner.op("Add", before, added)
        line, table = (kind, (None,)), (kind, (None, None))
        body = inner.graph({before: table, x: line, z: line}, {after: table}, "features")
        start = b.zeros(b.length(rows, 0), b.length(theirs, 1), b.dtype)
        across = b.op("Transpose", rows, perm=[1, 0])
        return b.op("Scan", start, across, theirs, body=body, num_scan_inputs=2)

    return block


def gap(b: Builder, x: str, z: str) -> str:
    """`|x - z|`."""
    return b.op("Abs", b.op("Sub", x, z))


def square(b: Builder, x: str, z: str) -> str:
    """`(x - z)^2`."""
    apart = b.op("Sub", x, z)
    return b.op("Mul", apart, apart)


def chi_squared(b: Builder, x: str, z: str) -> str:
    """`(x - z)^2 / (x + z)`, 0 where both are."""
    apart, both = b.op("Sub", x, z), b.op("Add", x, z)
    empty = b.op("Equal", both, b.real(0.0))
    share = b.op("Div", b.op("Mul", apart, apart), b.op("Where", empty, b.real(1.0), both))
    return b.op("Where", empty, b.real(0.0), share)


def _cosine(pairs: Pairs, view: View, factor: float) -> str:
    b, points = pairs.builder, pairs.points(view)
    rows = pairs.rows.seen(view)
    length = b.op("Sqrt", b.total(b.op("Mul", rows, rows), 1, keep=True))
    none = b.op("Equal", length, b.double(0.0))
    unit = b.op("Div", rows, b.op("Where", none, b.double(1.0), length))
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    units = factor * points / np.where(norms == 0, 1.0, norms)
    return b.op("MatMul", b.to_real(unit), pairs.per_center(units.T))


_BLOCKS: dict[str, Callable[[Pairs, View], str]] = {
    "sqeuclidean": _sqeuclidean,
    "cityblock": _by_feature(gap),
    "squares": _by_feature(square),  # exact for rows that are near, where a root wants it so
    "chi2": _by_feature(chi_squared),
}
_PRODUCTS: dict[str, Callable[[Pairs, View, float], str]] = {"dot": _dot, "cosine": _cosine}


# Profiles ------------------------------------------------------------------------------------


@singledispatch
def kernel_values(kernel: Kernel, pairs: Pairs) -> str:
    """The kernel's values between the rows and the centres, (n, m)."""
    raise ValueError(f"kernels must be known to ONNX; {kernel!r} is a function, which is not.")


@kernel_values.register
def _(kernel: Linear, pairs: Pairs) -> str:
    return pairs.product("dot", kernel.pairing.view)


@kernel_values.register
def _(kernel: Polynomial, pairs: Pairs) -> str:
    b = pairs.builder
    dots = pairs.product("dot", kernel.pairing.view, kernel.gamma)
    out = base = b.op("Add", dots, b.real(kernel.coef0))
    for bit in f"{kernel.degree:b}"[1:]:
        out = b.op("Mul", out, out)
        out = b.op("Mul", out, base) if bit == "1" else out
    return out


@kernel_values.register
def _(kernel: Sigmoid, pairs: Pairs) -> str:
    b = pairs.builder
    dots = pairs.product("dot", kernel.pairing.view, kernel.gamma)
    return b.op("Tanh", b.op("Add", dots, b.real(kernel.coef0)))


@kernel_values.register(Gaussian)
@kernel_values.register(Laplacian)
def _(kernel: Gaussian | Laplacian, pairs: Pairs) -> str:
    b = pairs.builder
    block = pairs.block(kernel.kind, kernel.pairing.view)
    return b.op("Exp", b.op("Mul", block, b.real(-kernel.gamma)))


@kernel_values.register
def _(kernel: Matern, pairs: Pairs) -> str:
    b = pairs.builder
    square = b.op(
        "Mul", pairs.block("squares", kernel.pairing.view), b.real(2 * kernel.nu * kernel.gamma)
    )
    s = b.op("Sqrt", square)
    decay = b.op("Exp", b.op("Neg", s))
    if kernel.nu == 0.5:
        return decay
    if kernel.nu == 2.5:
        s = b.op("Add", s, b.op("Mul", square, b.real(1 / 3)))
    return b.op("Mul", decay, b.op("Add", s, b.real(1.0)))


@kernel_values.register
def _(kernel: SklearnKernel, pairs: Pairs) -> str:
    b, view = pairs.builder, kernel.pairing.view
    if kernel.name == "cosine":
        return pairs.product("cosine", view)
    away = b.op("Neg", pairs.block("chi2", view))
    return b.op("Exp", away) if kernel.name == "chi2" else away


@kernel_values.register
def _(kernel: Precomputed, pairs: Pairs) -> str:
    return pairs.columns_of(kernel)


@kernel_values.register
def _(kernel: Scaled, pairs: Pairs) -> str:
    b, inner = pairs.builder, kernel.kernel
    if isinstance(inner, Linear):
        return pairs.product("dot", inner.pairing.view, kernel.scale)
    if isinstance(inner, SklearnKernel) and inner.name == "cosine":
        return pairs.product("cosine", inner.pairing.view, kernel.scale)
    return b.op("Mul", kernel_values(inner, pairs), b.real(kernel.scale))


@kernel_values.register(Sum)
@kernel_values.register(Product)
def _(kernel: Sum | Product, pairs: Pairs) -> str:
    kind = "Add" if isinstance(kernel, Sum) else "Mul"
    first, *others = [kernel_values(k, pairs) for k in kernel.kernels]
    for other in others:
        first = pairs.builder.op(kind, first, other)
    return first


# Folded terms --------------------------------------------------------------------------------


def folded_values(folded: Folded, rows: Rows) -> str:
    """The sum of the folded terms, (n, n_outputs), float64."""
    return rows.builder.total_of([_folded_term(term, rows) for term in folded.terms])


def _folded_term(term: FoldedTerm, rows: Rows) -> str:
    b, monomial = rows.builder, term.monomial
    V = rows.seen(monomial.view)
    root = float(np.sqrt(monomial.gamma))
    first = int(monomial.coef0 > 0)
    if monomial.degree == 1:
        slope = root * term.tensor[first:, :, 0]
        shift = np.sqrt(monomial.coef0) * term.tensor[0, :, 0]
        return b.op("Add", b.op("MatMul", V, b.double(slope)), b.double(shift))
    D, k, q = term.tensor.shape
    tensor, a = term.tensor, V
    if first:
        a = b.op("Mul", V, b.double(root))
        a = b.op("Pad", a, b.whole([0, 1, 0, 0]), b.double(np.sqrt(monomial.coef0)))
    else:
        tensor = root**monomial.degree * tensor
    forms = b.reshape(b.op("MatMul", a, b.double(tensor.reshape(D, k * q))), -1, k, q)
    products = a
    if monomial.degree == 3:
        s, t = np.triu_indices(D)
        products = b.op(
            "Mul", b.op("Gather", a, b.whole(s), axis=1), b.op("Gather", a, b.whole(t), axis=1)
        )
    return b.total(b.op("Mul", forms, b.reshape(products, -1, 1, q)), 2)
