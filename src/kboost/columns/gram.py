"""Kernel matrices of the training rows, for support vector machines on all rows or on samples.

`Gram` gives the square matrix of a sample of the rows, to train on, and the values of support
vector machines at the rows, to compute their errors. If all matrices fit into the memory budget
they are computed once, from shared distances and products, and sliced. Otherwise values are
computed on demand, from distances and products that are kept if at least these fit. Matrices are
kept with one row per centre, because an SVM needs few centres at all rows.

An SVM on s rows takes `sample_bytes`: distances and products, values of a kernel with those it was
computed from, a copy for each thread, and libsvm's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.shared import evaluate

ZERO = 1e-9  # values up to this are 0, so that rounding does not decide a sign
_CHUNK = 1 << 22  # values per kernel at a time
_BLOCK = 1 << 20  # the same, between two checks of the time limit
_WORK = 3  # matrices besides distances, products and one for each thread


@dataclass(frozen=True)
class SVM:
    """The classifier `sign(sum_i coef_i k(x, x_i) + bias)`; constant without support vectors."""

    kernel: int
    support: IntArray  # (s,), training rows
    coef: FloatArray  # (s,)
    bias: float


@dataclass(frozen=True)
class MixtureFunction:
    """The function `sum_p weight_p sum_i coef_i k_p(x, x_i) + bias`."""

    support: IntArray  # (s,), training rows
    coef: FloatArray  # (s,)
    kernel_weights: FloatArray  # (P,)
    bias: float


def signs(values: FloatArray) -> FloatArray:
    """The sign of each value, 1 or -1; 0 up to rounding is -1."""
    return np.where(values > ZERO, 1.0, -1.0)


def kernel_matrices(
    kernels: Sequence[Kernel],
    X: Any,
    centers: Any,
    before_block: Callable[[], None] = lambda: None,
) -> FloatArray:
    """All kernels between all rows, (P, n, n); `centers` are the rows as second argument.

    Values are computed in blocks of rows, after a call of `before_block`, which may raise.
    """
    matrices = np.empty((len(kernels), X.shape[0], X.shape[0]))
    for rows, j, values in _row_blocks(kernels, X, centers, before_block):
        matrices[j, rows] = values
    return matrices


def kernel_sum(
    kernels: Sequence[Kernel],
    X: Any,
    centers: Any,
    before_block: Callable[[], None] = lambda: None,
) -> FloatArray:
    """The sum of all kernels between all rows, (n, n), computed in blocks of rows."""
    total = np.zeros((X.shape[0], X.shape[0]))
    for rows, _, values in _row_blocks(kernels, X, centers, before_block):
        total[rows] += values
    return total


def _row_blocks(
    kernels: Sequence[Kernel], X: Any, centers: Any, before_block: Callable[[], None]
) -> Iterator[tuple[slice, int, FloatArray]]:
    """Yield rows, the number of a kernel, and its values there at all centres."""
    pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
    n = X.shape[0]
    step = max(1, _BLOCK // n)
    for rows in (slice(start, start + step) for start in range(0, n, step)):
        before_block()
        blocks = {pairing: pairing.compute(X[rows], centers) for pairing in pairings}
        for j, values in evaluate(kernels, blocks):
            yield rows, j, values


def sample_bytes(kernels: Sequence[Kernel], n_rows: int, n_jobs: int = 1) -> int:
    """The memory of SVMs on a sample of the rows, one per thread."""
    return 8 * _sample_matrices(kernels, n_jobs) * n_rows**2


def rows_within(kernels: Sequence[Kernel], budget: int, n_jobs: int = 1) -> int:
    """The rows of the largest sample that takes no more memory than the budget."""
    return isqrt(budget // (8 * _sample_matrices(kernels, n_jobs)))


def _sample_matrices(kernels: Sequence[Kernel], n_jobs: int) -> int:
    return len({p for kernel in kernels for p in kernel.pairings}) + _WORK + n_jobs


class Gram:
    """The matrices of several kernels; `centers` are the rows as second argument."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        X: Any,
        centers: Any,
        budget: int,
        before_block: Callable[[], None] = lambda: None,
        sample: int | None = None,
        n_jobs: int = 1,
    ) -> None:
        """Prepare the values; `before_block` is called before some are computed, and may raise.

        No more than `sample` rows are asked for at once, by default all; `n_jobs` submatrices are
        in use at a time.
        """
        self.kernels, self.before_block = kernels, before_block
        self.n_rows = int(X.shape[0])
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        self._views = {
            view: (view.apply(X), view.apply(centers)) for view in {p.view for p in pairings}
        }
        self._matrices: dict[int, FloatArray] = {}  # a row per centre
        self._blocks: dict[Pairing, FloatArray] = {}
        self._chunk = max(1, min(_CHUNK, budget // (32 * (len(pairings) + _WORK))))
        rows_of_sample = self.n_rows if sample is None else min(sample, self.n_rows)
        most = budget // (8 * self.n_rows**2)  # matrices
        remaining = budget - sample_bytes(kernels, rows_of_sample, n_jobs)
        if len(kernels) + max(len(pairings), n_jobs) + 2 <= most:
            rows = np.arange(self.n_rows)
            for j, values in self._evaluate(range(len(kernels)), rows, rows):
                self._matrices[j] = np.ascontiguousarray(values.T)
        elif 8 * len(pairings) * self.n_rows**2 <= remaining:
            for pairing in pairings:
                before_block()
                self._blocks[pairing] = pairing.compute_viewed(*self._views[pairing.view])

    def submatrices(
        self, kernels: Sequence[int], rows: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the number of each kernel and its matrix on a sample, (s, s), in C order."""
        if self._matrices:
            positions = rows[:, None] + self.n_rows * rows
            for j in kernels:
                yield j, self._matrices[j].ravel().take(positions)
        else:
            for j, values in self._evaluate(kernels, rows, rows):
                yield j, np.ascontiguousarray(values)

    def decisions(self, svms: Sequence[SVM], at: IntArray | None = None) -> FloatArray:
        """The values of the SVMs at the rows `at`, (k, len(at)); None means all rows."""
        values = np.empty((len(svms), self.n_rows if at is None else len(at)))
        values[:] = np.array([svm.bias for svm in svms])[:, None]
        varying = [(k, svm) for k, svm in enumerate(svms) if len(svm.support)]
        if self._matrices:
            for k, svm in varying:
                chosen = svm.support if at is None else np.ix_(svm.support, at)
                values[k] += svm.coef @ self._matrices[svm.kernel][chosen]
        elif varying:
            self._add_in_chunks(values, varying, np.arange(self.n_rows) if at is None else at)
        return values

    def _add_in_chunks(
        self, totals: FloatArray, svms: Sequence[tuple[int, SVM]], at: IntArray
    ) -> None:
        union = np.unique(np.concatenate([svm.support for _, svm in svms]))
        kernels = sorted({svm.kernel for _, svm in svms})
        positions = [np.searchsorted(union, svm.support) for _, svm in svms]
        step = max(1, self._chunk // len(union))
        for start in range(0, len(at), step):
            chunk = slice(start, start + step)
            for j, values in self._evaluate(kernels, at[chunk], union):
                for (k, svm), position in zip(svms, positions, strict=True):
                    if svm.kernel == j:
                        coef = np.zeros(len(union))
                        coef[position] = svm.coef
                        totals[k, chunk] += values @ coef

    def _evaluate(
        self, kernels: Sequence[int], rows: IntArray, centers: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        chosen = [self.kernels[j] for j in kernels]
        blocks: dict[Pairing, FloatArray] = {}
        for pairing in {p for kernel in chosen for p in kernel.pairings}:
            self.before_block()
            if pairing in self._blocks:
                blocks[pairing] = self._blocks[pairing][np.ix_(rows, centers)]
            else:
                first, second = self._views[pairing.view]
                blocks[pairing] = pairing.compute_viewed(first[rows], second[centers])
        for k, values in evaluate(chosen, blocks):
            yield kernels[k], values
