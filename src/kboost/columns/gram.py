"""Kernel matrices of the training rows, for support vector machines on samples of the rows.

A machine requires the square matrix of its sample for training, and its values at all rows for its
error. If all kernel matrices fit the budget they are computed once, from shared blocks, and sliced.
Otherwise values are computed on demand from the shared blocks, which are stored if at least they
fit. Stored matrices have one row per centre, because a machine needs some centres at all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.kernels.base import Kernel
from kboost.kernels.pairings import Pairing
from kboost.kernels.shared import evaluate

ZERO = 1e-9  # a decision value up to it (in units of the margin) counts as 0, despite rounding
_CHUNK = 1 << 22  # values per kernel computed at a time


@dataclass(frozen=True)
class SVM:
    """`sign(sum_i coef_i k(x, x_i) + bias)`; without support vectors it is a constant."""

    kernel: int
    support: IntArray  # (s,), training rows
    coef: FloatArray  # (s,)
    bias: float


def signs(values: FloatArray) -> FloatArray:
    """Predicted signs, -1 or 1; a value of 0, up to rounding, is -1."""
    return np.where(values > ZERO, 1.0, -1.0)


class Gram:
    """The kernel matrices of the training rows; `centers` are the rows as second argument."""

    def __init__(self, kernels: Sequence[Kernel], X: Any, centers: Any, budget: int) -> None:
        self.kernels = kernels
        self.n_rows = int(X.shape[0])
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        self._views = {
            view: (view.apply(X), view.apply(centers)) for view in {p.view for p in pairings}
        }
        self._matrices: dict[int, FloatArray] = {}
        self._blocks: dict[Pairing, FloatArray] = {}
        room = budget // (8 * self.n_rows**2)  # matrices
        if len(kernels) + len(pairings) <= room:
            every = np.arange(self.n_rows)
            for j, values in self._evaluate(range(len(kernels)), every, every):
                self._matrices[j] = np.ascontiguousarray(values.T)
        elif len(pairings) <= room:
            for pairing in pairings:
                self._blocks[pairing] = pairing.compute_viewed(*self._views[pairing.view])

    def submatrices(
        self, kernels: Sequence[int], rows: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the index and the matrix of each kernel on a sample of rows, (s, s), C order."""
        if self._matrices:
            flat = rows[:, None] + self.n_rows * rows  # flat indices of (row, centre)
            for j in kernels:
                yield j, self._matrices[j].ravel().take(flat)
        else:
            for j, values in self._evaluate(kernels, rows, rows):
                yield j, np.ascontiguousarray(values)

    def decisions(self, machines: Sequence[SVM], at: IntArray | None = None) -> FloatArray:
        """Decision values of the machines at all rows, (k, n), or at the rows `at`."""
        out = np.empty((len(machines), self.n_rows if at is None else len(at)))
        out[:] = np.array([machine.bias for machine in machines])[:, None]
        nonconstant = [(k, machine) for k, machine in enumerate(machines) if len(machine.support)]
        if self._matrices:
            for k, machine in nonconstant:
                index = machine.support if at is None else np.ix_(machine.support, at)
                out[k] += machine.coef @ self._matrices[machine.kernel][index]
        elif nonconstant:
            self._add_in_chunks(out, nonconstant, np.arange(self.n_rows) if at is None else at)
        return out

    def _add_in_chunks(
        self, out: FloatArray, machines: Sequence[tuple[int, SVM]], at: IntArray
    ) -> None:
        union = np.unique(np.concatenate([machine.support for _, machine in machines]))
        kernels = sorted({machine.kernel for _, machine in machines})
        positions = [np.searchsorted(union, machine.support) for _, machine in machines]
        step = max(1, _CHUNK // len(union))
        for start in range(0, len(at), step):
            chunk = slice(start, start + step)
            for j, values in self._evaluate(kernels, at[chunk], union):
                for (k, machine), position in zip(machines, positions, strict=True):
                    if machine.kernel == j:
                        coef = np.zeros(len(union))
                        coef[position] = machine.coef
                        out[k, chunk] += values @ coef

    def _evaluate(
        self, kernels: Sequence[int], rows: IntArray, centers: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        chosen = [self.kernels[j] for j in kernels]
        needed: dict[Pairing, FloatArray] = {}
        for pairing in {p for kernel in chosen for p in kernel.pairings}:
            if pairing in self._blocks:
                needed[pairing] = self._blocks[pairing][np.ix_(rows, centers)]
            else:
                viewed_rows, viewed_centers = self._views[pairing.view]
                needed[pairing] = pairing.compute_viewed(viewed_rows[rows], viewed_centers[centers])
        for index, values in evaluate(chosen, needed):
            yield kernels[index], values
