"""Rounds of SVMs at new rows: `f_t(x) = sign(sum_j v_tj sign(sum_i coef_i k_j(x, x_i) + b))`.

The SVMs of one kernel are one product of its values with a matrix of coefficients. All kernels are
computed from shared distances and products; a kernel that folds needs none if that is cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.gram import SVM, signs
from kboost.kernels.base import Kernel
from kboost.kernels.folding import Folded, fold
from kboost.kernels.shared import evaluate

_CHUNK = 1 << 21  # kernel values at a time
TINY = 1e-300
GRID = 2.0**40  # mean margins are multiples of 1/GRID, so that rounding does not decide a tie


@dataclass(frozen=True)
class SVMGroup:
    """The SVMs of one kernel and one output."""

    output: int
    kernel: int
    support: IntArray  # (s,), indices of centres
    coef: FloatArray  # (s, m)
    bias: FloatArray  # (m,)
    rounds: IntArray  # (m,), the round of each; at most one per round
    votes: FloatArray  # (m,)
    folded: Folded | None

    def add(self, totals: Sequence[FloatArray], rows: slice, values: FloatArray) -> None:
        """Add the votes of the SVMs, given their values (n, m) without the bias."""
        totals[self.output][rows, self.rounds] += self.votes * signs(values + self.bias)


class SVMEnsemble:
    """The rounds of all outputs on shared centres; made by `assemble`."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        centers: Any,
        n_rounds: Sequence[int],
        groups: Sequence[SVMGroup],
    ) -> None:
        self.kernels, self.centers = kernels, centers
        self.n_rounds = n_rounds
        self.groups = groups

    @classmethod
    def assemble(
        cls,
        kernels: Sequence[Kernel],
        centers: Any,
        outputs: Sequence[Sequence[tuple[Sequence[SVM], FloatArray]]],
    ) -> SVMEnsemble:
        """From the SVMs and votes of the rounds of each output; `support` are rows of `centers`."""
        supports = [svm.support for rounds in outputs for svms, _ in rounds for svm in svms]
        used = np.unique(np.concatenate(supports)) if supports else np.zeros(0, dtype=np.intp)
        kept = centers[used]
        groups = []
        for output, rounds in enumerate(outputs):
            members: dict[int, list[tuple[int, SVM, float]]] = {}
            for t, (svms, votes) in enumerate(rounds):
                for svm, vote in zip(svms, votes, strict=True):
                    members.setdefault(svm.kernel, []).append((t, svm, float(vote)))
            for j, of_kernel in sorted(members.items()):
                groups.append(_group(output, kernels[j], of_kernel, used, kept))
        return cls(list(kernels), kept, [len(rounds) for rounds in outputs], groups)

    @property
    def columns_per_kernel(self) -> list[int]:
        """The number of centres of each kernel."""
        supports: list[list[IntArray]] = [[] for _ in self.kernels]
        for group in self.groups:
            supports[group.kernel].append(group.support)
        return [len(np.unique(np.concatenate(each))) if each else 0 for each in supports]

    def rounds(self, X: Any) -> list[FloatArray]:
        """The sign of each round at the rows of X, (n, n_rounds) per output."""
        n = X.shape[0]
        totals = [np.zeros((n, count)) for count in self.n_rounds]
        step = max(64, _CHUNK // max(1, self.centers.shape[0], X.shape[1]))
        for start in range(0, n, step):
            self._add(totals, slice(start, min(start + step, n)), X[start : start + step])
        return [signs(total) for total in totals]

    def _add(self, totals: Sequence[FloatArray], rows: slice, chunk: Any) -> None:
        pending: dict[int, list[SVMGroup]] = {}
        for group in self.groups:
            if not len(group.support):
                group.add(totals, rows, np.zeros((chunk.shape[0], len(group.bias))))
            elif group.folded is not None:
                group.add(totals, rows, group.folded(chunk))
            else:
                pending.setdefault(group.kernel, []).append(group)
        order = list(pending)
        kernels = [self.kernels[j] for j in order]
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        blocks = {pairing: pairing.compute(chunk, self.centers) for pairing in pairings}
        for k, values in evaluate(kernels, blocks):
            for group in pending[order[k]]:
                group.add(totals, rows, values[:, group.support] @ group.coef)


def mean_margins(weighted_sum: FloatArray, total_weight: float) -> FloatArray:
    """The weighted mean of the signs of the rounds, rounded to the grid."""
    margins: FloatArray = np.rint(weighted_sum / max(total_weight, TINY) * GRID) / GRID
    return margins


def _group(
    output: int,
    kernel: Kernel,
    members: Sequence[tuple[int, SVM, float]],
    used: IntArray,
    centers: Any,
) -> SVMGroup:
    rows = np.unique(np.concatenate([svm.support for _, svm, _ in members]))
    coef = np.zeros((len(rows), len(members)))
    for column, (_, svm, _) in enumerate(members):
        coef[np.searchsorted(rows, svm.support), column] = svm.coef
    support = np.searchsorted(used, rows)
    return SVMGroup(
        output=output,
        kernel=members[0][1].kernel,
        support=support,
        coef=coef,
        bias=np.array([svm.bias for _, svm, _ in members]),
        rounds=np.array([t for t, _, _ in members]),
        votes=np.array([vote for _, _, vote in members]),
        folded=fold(kernel, centers[support], coef, only_if_cheaper=True) if len(rows) else None,
    )
