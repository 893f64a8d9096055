"""Scorings of scikit-learn in plain words: neg_log_loss is a log loss; the lowest is the best."""

from __future__ import annotations

import math

_NEGATIVE = "neg_"


def score_words(scoring: str) -> str:
    """What is measured, such as "log loss"."""
    return scoring.removeprefix(_NEGATIVE).replace("_", " ")


def is_error(scoring: str) -> bool:
    """Whether it is the negative of something that should be small."""
    return scoring.startswith(_NEGATIVE)


def best_word(scoring: str) -> str:
    """What the best has: the lowest error, the highest of anything else."""
    return "lowest" if is_error(scoring) else "highest"


def as_measured(scoring: str, score: float) -> float:
    """A score as what is measured: errors without their minus sign."""
    return -score if is_error(scoring) else score


def figure_words(value: float, sign: str = "") -> str:
    """A number of four digits, or a large one in full, such as 52,403; `sign` as in formats."""
    if not math.isfinite(value):
        return "not defined"
    return f"{value:{sign},.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:{sign}.4g}"
