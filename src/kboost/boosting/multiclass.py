"""More than two classes as duels of two sides each, and the duels' values as scores of classes.

One against one ("ovo"): a duel for every pair of classes, on their rows alone. A class scores its
wins, and ties are broken by the sum of its values, squashed below a third of a win. One against the
rest ("ovr"): a duel a class, on all rows; a class scores its value. Classes without a row take part
in no duel and score below all others. Two classes are one duel.
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
    """Some rows and the side each is on."""

    rows: IntArray  # (m,)
    signs: FloatArray  # (m,), 1 for `winner`, -1 for the other side
    winner: int  # the class that a positive value speaks for
    loser: int | None  # None: the rest


def binary_problems(codes: IntArray, n_classes: int, multi_class: str) -> list[BinaryProblem]:
    """The duels among the classes that have rows, at least two."""
    present = np.unique(codes).tolist()
    if multi_class == "ovr" and n_classes > 2:
        rows = np.arange(len(codes))
        return [BinaryProblem(rows, np.where(codes == k, 1.0, -1.0), k, None) for k in present]
    found = []
    for first, second in combinations(present, 2):
        rows = np.flatnonzero((codes == first) | (codes == second))
        found.append(BinaryProblem(rows, np.where(codes[rows] == second, 1.0, -1.0), second, first))
    return found


def class_scores(values: FloatArray, duels: Sequence[BinaryProblem], n_classes: int) -> FloatArray:
    """Values of the duels, (n, n_duels), as (n,) for two classes, else as (n, n_classes)."""
    if n_classes == 2:
        return values[:, 0]
    wins = np.zeros((len(values), n_classes))
    sums = np.zeros_like(wins)
    for value, duel in zip(values.T, duels, strict=True):
        sums[:, duel.winner] += value
        if duel.loser is not None:
            sums[:, duel.loser] -= value
            wins[:, duel.winner] += value > 0
            wins[:, duel.loser] += value <= 0
    pairs = duels[0].loser is not None
    scores = wins + sums / (3 * (np.abs(sums) + 1)) if pairs else sums
    there = np.zeros(n_classes, dtype=bool)
    for duel in duels:
        there[[duel.winner, duel.winner if duel.loser is None else duel.loser]] = True
    if not there.all():
        scores[:, ~there] = scores[:, there].min(axis=1, keepdims=True) - 1.0
    return scores


def output_names(duels: Sequence[BinaryProblem], classes: Any) -> tuple[Any, ...]:
    """What a positive value of each speaks for: a class, or one class over another."""
    names = classes.tolist()
    if len(names) == 2:
        return (names[1],)
    return tuple(
        names[duel.winner]
        if duel.loser is None
        else f"{names[duel.winner]} over {names[duel.loser]}"
        for duel in duels
    )


def predicted_codes(scores: FloatArray) -> IntArray:
    """The class of each row from its scores."""
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
    return np.asarray(codes)
