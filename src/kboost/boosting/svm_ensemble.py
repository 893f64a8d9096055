"""Rounds of machines at new rows: `f_t(x) = sign(sum_j v_tj sign(sum_i coef_i k_j(x, x_i) + b))`.

Machines of one kernel are one product of its values with a matrix of coefficients. All kernels
are made from shared blocks; where a kernel folds and that is cheaper, it needs none.
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


@dataclass(frozen=True)
class SVMGroup:
    """The machines of one kernel in one task."""

    task: int
    kernel: int
    support: IntArray  # (s,), places among the centres
    coef: FloatArray  # (s, m)
    bias: FloatArray  # (m,)
    rounds: IntArray  # (m,), the round of each; no kernel comes twice in one
    votes: FloatArray  # (m,)
    folded: Folded | None

    def add(self, totals: Sequence[FloatArray], rows: slice, values: FloatArray) -> None:
        """Add the votes of the machines, whose values are (n, m) before the offset."""
        totals[self.task][rows, self.rounds] += self.votes * signs(values + self.bias)


class SVMEnsemble:
    """Rounds of several tasks on shared centres; made by `assemble`."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        centers: Any,
        n_rounds: Sequence[int],
        bundles: Sequence[SVMGroup],
    ) -> None:
        self.kernels, self.centers = kernels, centers
        self.n_rounds = n_rounds
        self.bundles = bundles

    @classmethod
    def assemble(
        cls,
        kernels: Sequence[Kernel],
        centers: Any,
        tasks: Sequence[Sequence[tuple[Sequence[SVM], FloatArray]]],
    ) -> SVMEnsemble:
        """From machines and votes, round by round in each task; support is among `centers`."""
        every = [m.support for rounds in tasks for machines, _ in rounds for m in machines]
        used = np.unique(np.concatenate(every)) if every else np.zeros(0, dtype=np.intp)
        kept = centers[used]
        bundles = []
        for task, rounds in enumerate(tasks):
            found: dict[int, list[tuple[int, SVM, float]]] = {}
            for t, (machines, votes) in enumerate(rounds):
                for machine, vote in zip(machines, votes, strict=True):
                    found.setdefault(machine.kernel, []).append((t, machine, float(vote)))
            for j, members in sorted(found.items()):
                bundles.append(_bundle(task, kernels[j], members, used, kept))
        return cls(kernels, kept, [len(rounds) for rounds in tasks], bundles)

    @property
    def columns_per_kernel(self) -> list[int]:
        """How many centres each kernel has."""
        own: list[list[IntArray]] = [[] for _ in self.kernels]
        for bundle in self.bundles:
            own[bundle.kernel].append(bundle.support)
        return [len(np.unique(np.concatenate(some))) if some else 0 for some in own]

    def rounds(self, X: Any) -> list[FloatArray]:
        """What each round says at the rows of X, -1 or 1: (n, n_rounds) a task."""
        n = X.shape[0]
        totals = [np.zeros((n, count)) for count in self.n_rounds]
        step = max(64, _CHUNK // max(1, self.centers.shape[0], X.shape[1]))
        for start in range(0, n, step):
            self._add(totals, slice(start, min(start + step, n)), X[start : start + step])
        return [signs(total) for total in totals]

    def _add(self, totals: Sequence[FloatArray], rows: slice, chunk: Any) -> None:
        pending: dict[int, list[SVMGroup]] = {}
        for bundle in self.bundles:
            if not len(bundle.support):
                nothing = np.zeros((chunk.shape[0], len(bundle.bias)))
                bundle.add(totals, rows, nothing)
            elif bundle.folded is not None:
                bundle.add(totals, rows, bundle.folded(chunk))
            else:
                pending.setdefault(bundle.kernel, []).append(bundle)
        order = list(pending)
        kernels = [self.kernels[j] for j in order]
        pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
        blocks = {pairing: pairing.compute(chunk, self.centers) for pairing in pairings}
        for place, values in evaluate(kernels, blocks):
            for bundle in pending[order[place]]:
                bundle.add(totals, rows, values[:, bundle.support] @ bundle.coef)


def _bundle(
    task: int,
    kernel: Kernel,
    members: Sequence[tuple[int, SVM, float]],
    used: IntArray,
    centers: Any,
) -> SVMGroup:
    own = np.unique(np.concatenate([machine.support for _, machine, _ in members]))
    coef = np.zeros((len(own), len(members)))
    for column, (_, machine, _) in enumerate(members):
        coef[np.searchsorted(own, machine.support), column] = machine.coef
    support = np.searchsorted(used, own)
    return SVMGroup(
        task=task,
        kernel=members[0][1].kernel,
        support=support,
        coef=coef,
        bias=np.array([machine.bias for _, machine, _ in members]),
        rounds=np.array([t for t, _, _ in members]),
        votes=np.array([vote for _, _, vote in members]),
        folded=fold(kernel, centers[support], coef, only_if_cheaper=True) if len(own) else None,
    )
