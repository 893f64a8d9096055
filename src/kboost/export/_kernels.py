"""Kernels in ONNX: profiles of blocks of pairs, and folded sums, which stay in float64."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kboost.export._pairs import Pairs
from kboost.export._rows import InputRows
from kboost.kernels.algebra import Product, Scaled, Sum
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear, Polynomial, Sigmoid
from kboost.kernels.folding import Folded, FoldedTerm
from kboost.kernels.functions import Precomputed, SklearnKernel
from kboost.kernels.stationary import Gaussian, Laplacian, Matern


@singledispatch
def kernel_values(kernel: Kernel, pairs: Pairs) -> str:
    """The kernel's values between the rows and the centres, (n, m)."""
    raise ValueError(f"kernels must not contain functions for ONNX; got {kernel!r}.")


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
    negative = b.op("Neg", pairs.block("chi2", view))
    return b.op("Exp", negative) if kernel.name == "chi2" else negative


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


def folded_values(folded: Folded, rows: InputRows) -> str:
    """The sum of the folded terms, (n, n_outputs), float64."""
    return rows.builder.total_of([_folded_term(term, rows) for term in folded.terms])


def _folded_term(term: FoldedTerm, rows: InputRows) -> str:
    b, monomial = rows.builder, term.monomial
    V = rows.viewed(monomial.view)
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
