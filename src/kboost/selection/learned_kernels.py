"""Kernels whose metric is learned, chosen on a sample of the rows by their error on other rows.

Families of kernels learn one width per feature (metric/). The library of the margin machines is the
family of the lowest error, with a second one of another kind and the linear kernel where they are
almost as good: the mixture decides. Where no metric can be learned (few rows, sparse rows) the
plain library stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.base import Kernel
from kboost.kernels.dot_product import Linear
from kboost.metric.compare import Judged, compare_families
from kboost.metric.families import FAMILIES, families_for
from kboost.metric.folds import LearningRows, folds_of
from kboost.metric.rounds import Fold

FEWEST = 80  # rows, to learn a metric
ROWS = 800  # of the sample
MOST_FEATURES = 150  # above, city-block distances cost too much
_SECOND = 1.03  # error of a second family, relative to the best
_LINEAR = 1.5  # the same of the linear kernel
_ROUNDS = 3
_MOST = 3  # families on the second fold
_NAMES = ("laplacian ranks", "matern", "gaussian", "gaussian ARD", "linear")
_FAMILIES = [family for family in FAMILIES if family.name in _NAMES]


def can_learn(n_rows: int, n_features: int) -> bool:
    """Whether a metric can be learned on so many rows."""
    return n_rows >= FEWEST and n_features <= MOST_FEATURES


def judge_kernels(
    rows: LearningRows, n_folds: int = 2, deadline: Deadline = NO_LIMIT
) -> tuple[list[Judged], list[Fold]]:
    """The families of kernels, the best first, and the folds in which they were judged."""
    n, d = rows.X.shape
    families = families_for(n, d, rows.targets.shape[1], _FAMILIES)
    folds = folds_of(rows, 3, n_folds, n)
    judged, _ = compare_families(folds, families, _ROUNDS, deadline, most=_MOST)
    return judged, folds[: len(judged[0].errors)] if judged else []


def learned_library(rows: LearningRows, deadline: Deadline = NO_LIMIT) -> tuple[Kernel, ...]:
    """The library of the margin machines; empty where none can be learned."""
    shuffled = rows.take(np.random.default_rng(0).permutation(len(rows))[:ROWS])
    if not can_learn(*shuffled.X.shape):
        return ()
    judged, _ = judge_kernels(shuffled, deadline=deadline)
    if not judged:
        return ()
    return tuple(each.kernel(rows.X, rows.weight) for each in mixture_of(judged))


def mixture_of(judged: Sequence[Judged]) -> list[Judged]:
    """The best family, and those of another kind that are almost as good; the best is first."""
    best = judged[0]
    kept = [best]
    for each in judged[1:]:
        near = _LINEAR if each.family.kind is Linear else _SECOND
        if each.error <= near * best.error and all(
            each.family.kind is not other.family.kind for other in kept
        ):
            kept.append(each)
    return kept
