"""Families of kernels compared by the error of their learned metrics on rows left out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.base import ViewKernel
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.rounds import ROUNDS, Fold, RoundFit, learn_rounds, mean_width

_FAR, _MOST = (
    1.25,
    4,
)  # families tried on further folds: near the best of the first, at most so many


@dataclass(frozen=True)
class Judged:
    """A family with the metric, width and ridge of its best round."""

    family: MetricFamily
    n_rounds: int
    scale: FloatArray
    length: float
    ridge: float
    errors: tuple[float, ...]  # one per fold
    left_out: tuple[FloatArray, ...]  # values of the rows left out, per fold
    seconds: float
    entry_seconds: float  # of a kernel value in a prediction

    @property
    def error(self) -> float:
        """The mean over the folds."""
        return float(np.mean(self.errors))

    @property
    def spread(self) -> float:
        """The standard error of the mean; 0 for a single fold."""
        n = len(self.errors)
        return float(np.std(self.errors, ddof=1) / np.sqrt(n)) if n > 1 else 0.0

    def kernel(self, X: FloatArray, weight: FloatArray) -> ViewKernel:
        """The kernel, with transform and width fitted to these rows."""
        transform = self.family.transform(X, weight).scaled(self.scale)
        unit = mean_width(self.family, transform.apply(X), weight)
        return self.family.kernel(self.family.widen(unit, self.length), transform)


def compare_families(
    folds: Sequence[Fold],
    families: Sequence[MetricFamily] = FAMILIES,
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
) -> list[Judged]:
    """The families in the order of their errors; those that are far behind are left out.

    Without time for all folds, families are compared on the folds all of them have.
    """
    fits: dict[str, list[list[RoundFit]]] = {}
    seconds: dict[str, float] = {}
    remaining = list(families)
    for number, fold in enumerate(folds):
        for position, family in enumerate(remaining):
            if (number or position) and not deadline.remaining:
                break
            start = time.perf_counter()
            until = deadline.share(max(1, len(remaining) - position)) if not number else deadline
            fits.setdefault(family.name, []).append(learn_rounds(family, fold, rounds, until))
            seconds[family.name] = seconds.get(family.name, 0.0) + time.perf_counter() - start
        if not number:
            least = {name: min(fit.error for fit in first[0]) for name, first in fits.items()}
            names = sorted(least, key=lambda name: least[name])[:_MOST]
            near = {name for name in names if least[name] <= _FAR * least[names[0]]}
            remaining = [f for f in families if f.name in near]
    n_folds = min(len(fits[f.name]) for f in remaining)
    judged = [judge(f, fits[f.name][:n_folds], seconds[f.name]) for f in remaining]
    return sorted(judged, key=lambda each: each.error)


def judge(family: MetricFamily, fits: Sequence[Sequence[RoundFit]], seconds: float) -> Judged:
    """The round of the lowest mean error, with the geometric means of what its folds found."""
    n_rounds = max(map(len, fits))
    padded = [[*fold, *[fold[-1]] * (n_rounds - len(fold))] for fold in fits]
    errors = np.array([[fit.error for fit in fold] for fold in padded])
    best = int(errors.mean(axis=0).argmin())
    chosen = [fold[best] for fold in padded]
    scale = np.exp(np.mean([np.log(fit.scale) for fit in chosen], axis=0))
    return Judged(
        family,
        best,
        scale / scale.max(),
        float(np.exp(np.mean([np.log(fit.length) for fit in chosen]))),
        float(np.exp(np.mean([np.log(fit.ridge) for fit in chosen]))),
        tuple(float(e) for e in errors[:, best]),
        tuple(fit.left_out for fit in chosen),
        seconds,
        min(fit.entry_seconds for fit in chosen),
    )
