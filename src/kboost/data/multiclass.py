"""Multiclass problems as binary problems, and values of the binary problems as class scores.

One against one ("ovo"): one problem per pair of classes, on the rows of these two. The score of a
class is its number of votes; the sum of its values, mapped to below 1/3, breaks ties. One against
the rest ("ovr"): one problem per class, on all rows; the score of a class is its value. Classes
without rows have no problem and the lowest score. Two classes are a single problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray


@dataclass(frozen=True)
class BinaryProblem:
    """The rows of a binary problem, with their signs, and the two classes."""

    rows: IntArray  # (m,)
    signs: FloatArray  # (m,), 1 for the positive class, else -1
    positive: int
    negative: int | None  # None: all other classes


def binary_problems(codes: IntArray, n_classes: int, multi_class: str) -> list[BinaryProblem]:
    """The problems among the classes that have rows, at least two."""
    present = np.unique(codes).tolist()
    if multi_class == "ovr" and n_classes > 2:
        rows = np.arange(len(codes))
        return [BinaryProblem(rows, np.where(codes == k, 1.0, -1.0), k, None) for k in present]
    problems = []
    for first, second in combinations(present, 2):
        rows = np.flatnonzero((codes == first) | (codes == second))
        signs = np.where(codes[rows] == second, 1.0, -1.0)
        problems.append(BinaryProblem(rows, signs, second, first))
    return problems


def class_scores(
    values: FloatArray, problems: Sequence[BinaryProblem], n_classes: int
) -> FloatArray:
    """Values of the problems, (n, n_problems), as (n,) for two classes, else (n, n_classes)."""
    if n_classes == 2:
        return values[:, 0]
    wins = np.zeros((len(values), n_classes))
    sums = np.zeros_like(wins)
    has_problem = np.zeros(n_classes, dtype=bool)
    for value, problem in zip(values.T, problems, strict=True):
        sums[:, problem.positive] += value
        has_problem[problem.positive] = True
        if problem.negative is not None:
            sums[:, problem.negative] -= value
            wins[:, problem.positive] += value > 0
            wins[:, problem.negative] += value <= 0
            has_problem[problem.negative] = True
    pairwise = problems[0].negative is not None
    scores = wins + sums / (3 * (np.abs(sums) + 1)) if pairwise else sums
    if not has_problem.all():
        scores[:, ~has_problem] = scores[:, has_problem].min(axis=1, keepdims=True) - 1.0
    return scores


def predicted_codes(scores: FloatArray) -> IntArray:
    """The class of each row from its scores, (n,) for two classes or (n, n_classes)."""
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
    return np.asarray(codes)


def output_names(problems: Sequence[BinaryProblem], classes: Any) -> tuple[Any, ...]:
    """What a positive value of each problem means: a class, or "one class over another"."""
    names = classes.tolist()
    if len(names) == 2:
        return (names[1],)
    return tuple(
        names[problem.positive]
        if problem.negative is None
        else f"{names[problem.positive]} over {names[problem.negative]}"
        for problem in problems
    )
