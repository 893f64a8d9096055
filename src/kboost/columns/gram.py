"""Kernel matrices of the training rows, as machines on samples of the rows need them.

Two questions: the square matrix of a sample, to train on, and values of machines at all rows, to
judge them by. Where all matrices fit into the budget they are made once, from shared blocks, and
sliced. Otherwise values are made for each question, again from shared blocks, which are slices of
larger ones where at least these fit. Matrices are held with a centre a row: a machine needs some
centres at all rows.
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

ZERO = 1e-9  # of a value whose unit is the margin; rounding must not decide
_CHUNK = 1 << 22  # values at work a kernel, at a time


@dataclass(frozen=True)
class SVM:
    """`sign(sum_i coef_i k(x, x_i) + bias)`; without support it is a constant."""

    kernel: int
    support: IntArray  # (s,), training rows
    coef: FloatArray  # (s,)
    bias: float


def signs(values: FloatArray) -> FloatArray:
    """What machines say, -1 or 1: a value of 0 is -1, and so is one that is 0 but for rounding."""
    return np.where(values > ZERO, 1.0, -1.0)


class Gram:
    """The matrices of some kernels; `centers` are the rows as the second argument."""

    def __init__(self, kernels: Sequence[Kernel], X: Any, centers: Any, budget: int) -> None:
        self.kernels = kernels
        self.n_rows = int(X.shape[0])
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        self._views = {
            view: (view.apply(X), view.apply(centers)) for view in {p.view for p in pairings}
        }
        self._held: dict[int, FloatArray] = {}
        self._blocks: dict[Pairing, FloatArray] = {}
        room = budget // (8 * self.n_rows**2)  # matrices
        if len(kernels) + len(pairings) <= room:
            every = np.arange(self.n_rows)
            for j, values in self._evaluate(range(len(kernels)), every, every):
                self._held[j] = np.ascontiguousarray(values.T)
        elif len(pairings) <= room:
            for pairing in pairings:
                self._blocks[pairing] = pairing.compute_viewed(*self._views[pairing.view])

    def submatrices(
        self, kernels: Sequence[int], rows: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        """Yield the number and the matrix of each kernel on a sample, (s, s), C order."""
        if self._held:
            places = rows[:, None] + self.n_rows * rows  # a row drawn, then a centre
            for j in kernels:
                yield j, self._held[j].ravel().take(places)
        else:
            for j, values in self._evaluate(kernels, rows, rows):
                yield j, np.ascontiguousarray(values)

    def decisions(self, machines: Sequence[SVM], at: IntArray | None = None) -> FloatArray:
        """The machines at all rows, (k, n), or at some."""
        out = np.empty((len(machines), self.n_rows if at is None else len(at)))
        out[:] = np.array([machine.bias for machine in machines])[:, None]
        asked = [(k, machine) for k, machine in enumerate(machines) if len(machine.support)]
        if self._held:
            for k, machine in asked:
                own = machine.support if at is None else np.ix_(machine.support, at)
                out[k] += machine.coef @ self._held[machine.kernel][own]
        elif asked:
            self._add_in_chunks(out, asked, np.arange(self.n_rows) if at is None else at)
        return out

    def _add_in_chunks(
        self, out: FloatArray, asked: Sequence[tuple[int, SVM]], at: IntArray
    ) -> None:
        union = np.unique(np.concatenate([machine.support for _, machine in asked]))
        kernels = sorted({machine.kernel for _, machine in asked})
        places = [np.searchsorted(union, machine.support) for _, machine in asked]
        step = max(1, _CHUNK // len(union))
        for start in range(0, len(at), step):
            some = slice(start, start + step)
            for j, values in self._evaluate(kernels, at[some], union):
                for (k, machine), place in zip(asked, places, strict=True):
                    if machine.kernel == j:
                        full = np.zeros(len(union))
                        full[place] = machine.coef
                        out[k, some] += values @ full

    def _evaluate(
        self, kernels: Sequence[int], rows: IntArray, centers: IntArray
    ) -> Iterator[tuple[int, FloatArray]]:
        chosen = [self.kernels[j] for j in kernels]
        needed: dict[Pairing, FloatArray] = {}
        for pairing in {p for kernel in chosen for p in kernel.pairings}:
            if pairing in self._blocks:
                needed[pairing] = self._blocks[pairing][np.ix_(rows, centers)]
            else:
                left, right = self._views[pairing.view]
                needed[pairing] = pairing.compute_viewed(left[rows], right[centers])
        for place, values in evaluate(chosen, needed):
            yield kernels[place], values
