"""Families of kernels compared by the error of their learned metrics on rows left out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from kboost._typing import FloatArray
from kboost.core.checkpoint import digest
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.stopping import StopReason
from kboost.kernels.base import ViewKernel
from kboost.metric.families import FAMILIES, MetricFamily
from kboost.metric.rounds import (
    ROUNDS,
    Fold,
    RoundResult,
    learn_rounds,
    mean_width,
    starts_for,
)

_FAR = 1.5  # families with this multiple of the lowest error of the first fold end there
COMPARED = StopReason("compared", "every family was compared.")


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


@dataclass(frozen=True)
class FamilyStep:
    """The record of a family learned on one fold."""

    family: str
    fold: int
    n_folds: int
    error: float  # of its best round
    seconds: float

    def __str__(self) -> str:
        where = f"fold {self.fold} of {self.n_folds}"
        return f"{self.family}, {where}: error {self.error:.4g}  {self.seconds:.1f} s"


class FamilyComparison(Method[FamilyStep]):
    """One step learns one family on one fold; families far behind on the first are left out."""

    def __init__(
        self,
        folds: Sequence[Fold],
        families: Sequence[MetricFamily],
        rounds: int,
        deadline: Deadline,
        starts: Mapping[str, Judged],
        most: int,
    ) -> None:
        self._folds, self._families, self._rounds = folds, list(families), rounds
        self._deadline, self._starts, self._most = deadline, starts, most
        self._fold, self._position = 0, 0  # of the next step
        self._fits: dict[str, list[list[RoundResult]]] = {}
        self._seconds = {
            f.name: starts[f.name].seconds if f.name in starts else 0.0 for f in families
        }
        self.trace: list[FamilyStep] = []

    def advance(self) -> FamilyStep | StopReason:
        """Learn the next family on the current fold."""
        if self._position == len(self._families):
            self._families = self._near()
            self._fold, self._position = self._fold + 1, 0
        if self._fold == len(self._folds):
            return COMPARED
        family, start = self._families[self._position], time.perf_counter()
        fits = self._learn(family)
        seconds = time.perf_counter() - start
        self._fits.setdefault(family.name, []).append([_result(fit) for fit in fits])
        self._seconds[family.name] += seconds
        self._position += 1
        error = min(fit.error for fit in fits)
        return FamilyStep(family.name, self._fold + 1, len(self._folds), error, seconds)

    def identity(self) -> str:
        """The folds, and the families in question."""
        names = [(f.name, f.name in self._starts) for f in self._families]
        targets = [array for fold in self._folds for array in (fold.targets, fold.targets_left_out)]
        return digest(names, self._rounds, self._most, *targets)

    def state(self) -> Any:
        """What was learned on every fold, and which step comes next."""
        return {
            "families": [family.name for family in self._families],
            "next": (self._fold, self._position),
            "fits": {
                name: [[astuple(fit) for fit in fold] for fold in folds]
                for name, folds in self._fits.items()
            },
            "seconds": dict(self._seconds),
            "trace": [astuple(step) for step in self.trace],
        }

    def restore(self, state: Any) -> None:
        """Continue with the next family."""
        by_name = {family.name: family for family in self._families}
        self._families = [by_name[name] for name in state["families"]]
        self._fold, self._position = state["next"]
        self._fits = {
            name: [[RoundResult(*fit) for fit in fold] for fold in folds]
            for name, folds in state["fits"].items()
        }
        self._seconds = state["seconds"]
        self.trace = [FamilyStep(*step) for step in state["trace"]]

    def judged(self) -> list[Judged]:
        """The families in the order of their errors, on the folds that all of them have."""
        families = self._near()
        n_folds = min((len(self._fits[f.name]) for f in families), default=0)
        judged = [
            judge(family, self._fits[family.name][:n_folds], self._seconds[family.name])
            for family in families
        ]
        return sorted(judged, key=lambda each: each.error)

    def _learn(self, family: MetricFamily) -> Sequence[RoundResult]:
        fold, until = self._folds[self._fold], self._deadline
        if self._fold == 0:
            until = until.share(len(self._families) - self._position)
        before = self._starts.get(family.name)
        if before is not None:
            start = before.length, before.ridge
            return learn_rounds(family, fold, self._rounds, until, before.scale, [start])
        starts, fits = starts_for(fold), self._fits.get(family.name)
        if fits and len(starts) > 1:  # so that folds agree on one minimum
            starts.append((fits[0][0].length, fits[0][0].ridge))
        return learn_rounds(family, fold, self._rounds, until, None, starts)

    def _near(self) -> list[MetricFamily]:
        """The families that are not far behind on the first fold."""
        least = {name: min(f.error for f in fits[0]) for name, fits in self._fits.items()}
        names = sorted(least, key=lambda name: least[name])[: self._most]
        near = {name for name in names if least[name] <= _FAR * least[names[0]]}
        return [family for family in self._families if family.name in near]


def compare_families(
    folds: Sequence[Fold],
    families: Sequence[MetricFamily] = FAMILIES,
    rounds: int = ROUNDS,
    deadline: Deadline = NO_LIMIT,
    starts: Mapping[str, Judged] | None = None,
    listeners: Sequence[Listener] = (),
    most: int = 4,
) -> tuple[list[Judged], StopReason]:
    """The families in the order of their errors, and why there are no more.

    Families far behind on the first fold are left out, and all but the `most` best. Without time
    for all folds, families are compared on the folds that all of them have; the first family is
    always learned. `starts` are results of an earlier comparison to start from. After Ctrl-C in the
    first step there are no families.
    """
    comparison = FamilyComparison(folds, families, rounds, deadline, starts or {}, most)
    reason = iterate(comparison, deadline=deadline, listeners=listeners)
    return comparison.judged(), reason


def _result(fit: RoundResult) -> RoundResult:
    """The result alone, without kernel and coefficients."""
    return RoundResult(*(getattr(fit, field.name) for field in fields(RoundResult)))


def judge(family: MetricFamily, fits: Sequence[Sequence[RoundResult]], seconds: float) -> Judged:
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
