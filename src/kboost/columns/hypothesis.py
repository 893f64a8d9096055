"""Kernel columns as functions: `h(x) = k(x, centre) / scale`.

All columns of a kernel are a family. They are evaluated together, and combined into one part of the
model, whose coefficients are divided by the scales and so belong to unscaled columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from kboost._typing import FloatArray, IntArray
from kboost.columns.terms import Term, features_of
from kboost.kernels.algebra import sum_kernels, terms
from kboost.kernels.base import Kernel
from kboost.kernels.folding import fold


@dataclass(frozen=True)
class KernelColumn:
    """One column of a library; equal by kernel and index of the centre."""

    family: KernelFamily
    center: Any = field(compare=False, repr=False)  # (1, d), dense or CSR
    index: int  # of the centre among the library's centres
    scale: float = 1.0

    def __hash__(self) -> int:
        """Without the kernel, whose hash takes longer than a comparison of the few that collide."""
        return hash((self.index, self.scale))


@dataclass(frozen=True)
class KernelFamily:
    """The columns of one kernel; families are equal when their kernels are."""

    kernel: Kernel

    def columns(self, members: Sequence[KernelColumn], X: Any) -> FloatArray:
        """Values at the rows of X, (n, m), scaled as in training."""
        values = self.kernel(X, stack_rows([m.center for m in members]))
        scaled: FloatArray = values / np.array([m.scale for m in members])
        return scaled

    def combine(self, members: Sequence[KernelColumn], coef: FloatArray) -> KernelPart:
        """The sum of the members, with coefficients of the unscaled columns."""
        return KernelPart(
            self.kernel,
            stack_rows([m.center for m in members]),
            coef / np.array([m.scale for m in members])[:, None],
            np.array([m.index for m in members]),
        )


class KernelPart:
    """`sum_j coef_j k(x, c_j)`, folded if the kernel allows it and that is cheaper.

    A sum of kernels is folded term by term; the `rest` is evaluated for all pairs.
    """

    def __init__(self, kernel: Kernel, centers: Any, coef: FloatArray, indices: IntArray) -> None:
        self.kernel = kernel
        self.centers = centers  # (m, d)
        self.coef = coef  # (m, n_outputs)
        self.indices = indices  # (m,), of the centres in the training library
        parts = [(term, fold(term, centers, coef, only_if_cheaper=True)) for term in terms(kernel)]
        self.folded = tuple(folded for _, folded in parts if folded is not None)
        self.rest = sum_kernels([term for term, folded in parts if folded is None])

    def with_centers(self, centers: Any) -> KernelPart:
        """The same part with its centres in other memory."""
        part = copy(self)
        part.centers = centers
        return part

    def __call__(self, X: Any) -> FloatArray:
        if self.rest is None:
            return self.fold_at(X)
        values: FloatArray = self.rest(X, self.centers) @ self.coef
        return values + self.fold_at(X) if self.folded else values

    def terms_at(self, X: Any) -> Iterator[Term]:
        """The columns at the rows of X, to explain predictions."""
        for term in terms(self.kernel):
            yield Term(features_of(term), term(X, self.centers))

    def scaled(self, factor: float) -> KernelPart:
        """The part multiplied by a number."""
        return KernelPart(self.kernel, self.centers, self.coef * factor, self.indices)

    def fold_at(self, X: Any) -> FloatArray:
        """The folded terms, (n, n_outputs)."""
        values = self.folded[0](X)
        for folded in self.folded[1:]:
            values = values + folded(X)
        return values


def stack_rows(rows: Sequence[Any]) -> Any:
    """One matrix from single rows, dense or CSR."""
    if sparse.issparse(rows[0]):
        return sparse.csr_matrix(sparse.vstack(rows, format="csr"))
    return np.concatenate(rows)
