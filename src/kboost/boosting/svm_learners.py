"""Weak classifiers: one support vector machine per kernel, on rows drawn from a distribution.

A round of Algorithms 1 to 4 of Xia and Hoi, up to its weight:

    draw n rows with replacement from D_t                                            (step 3)
    S1, S2: draw kernels, independently, with probability S_t(j)                     (step 4)
    train an SVM f_j with each kernel on the rows drawn;  e_j is its error under D_t
    S1, S2: S_t+1(j) = S_t(j) decay^e_j for the kernels drawn, then all / max S_t+1  (step 10)
    D1, S1: f_t is the SVM of the lowest error
    D2, S2: f_t = sign(sum_j a_j f_j),  a_j = 1/2 ln((1 - e_j) / e_j)

The paper prints h_t for the f_t of S2. The largest S is 1, so at least one kernel is drawn; a
kernel that was not drawn keeps its S before the division. With a decay of 1 the S variants equal
the D variants. A row drawn c times is one row with the cap c C, which is the same problem. If all
rows drawn are of one class, the classifier is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np

from kboost._threads import ThreadPool
from kboost._typing import FloatArray, IntArray
from kboost.columns.gram import SVM, Gram, signs

SolveDual: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], tuple[FloatArray, float, int]]
"""From a matrix (s, s), signs (s,) and upper (s,) to duals (s,), the bias, and the iterations."""


@dataclass(frozen=True)
class RoundClassifier:
    """The classifier of a round: SVMs, their weights in the vote, and the vote at all rows."""

    svms: Sequence[SVM]
    votes: FloatArray  # (k,)
    predicted: FloatArray  # (n,), -1 and 1


class SVMLearners:
    """Trains one SVM per kernel on a sample of the rows."""

    def __init__(self, gram: Gram, targets: FloatArray, C: float, solve_dual: SolveDual) -> None:
        self._gram, self._targets = gram, targets
        self._C, self._solve_dual = C, solve_dual

    def train(
        self,
        kernels: Sequence[int],
        rows: IntArray,
        counts: FloatArray,
        pool: ThreadPool | None = None,
        n_jobs: int = 1,
    ) -> list[SVM]:
        """One SVM per kernel, in the order of the kernels."""
        targets, upper = self._targets[rows], self._C * counts
        if np.ptp(targets) == 0:
            return [SVM(j, rows[:0], np.zeros(0), float(targets[0])) for j in kernels]

        def train_svm(square: tuple[int, FloatArray]) -> SVM:
            duals, bias, _ = self._solve_dual(square[1], targets, upper)
            support = duals.nonzero()[0]
            return SVM(square[0], rows[support], (duals * targets)[support], bias)

        squares = self._gram.submatrices(kernels, rows)
        if pool is None:
            svms = [train_svm(square) for square in squares]
        else:
            svms = []
            while batch := list(islice(squares, n_jobs)):  # no more matrices than threads
                svms.extend(pool.map(train_svm, batch))
        return sorted(svms, key=lambda svm: svm.kernel)

    def predicted(self, svms: Sequence[SVM]) -> FloatArray:
        """The signs of the SVMs at all rows, (k, n)."""
        return signs(self._gram.decisions(svms))


class KernelDraw:
    """The probabilities S_t of the kernels."""

    def __init__(self, n_kernels: int, decay: float) -> None:
        self.probability = np.ones(n_kernels)
        self._decay = decay

    def draw(self, uniform: FloatArray) -> list[int]:
        """The kernels drawn, from one uniform number per kernel."""
        chosen: list[int] = np.flatnonzero(uniform < self.probability).tolist()
        return chosen

    def update(self, kernels: Iterable[int], errors: FloatArray) -> None:
        """Lower the probabilities of trained kernels by their errors."""
        self.probability[list(kernels)] *= self._decay**errors
        self.probability /= self.probability.max()
