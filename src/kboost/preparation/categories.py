"""The encodings of a category, by name.

    one-hot      a 0/1 column per level; with more than `max_levels`, only of the frequent ones
    target       the mean target and the log frequency of each level
    mean         the mean target only
    frequency    the log frequency only
    both         one-hot and target

Without a target, those with means are the frequency.
"""

from __future__ import annotations

from kboost._typing import FloatArray
from kboost.preparation.joined_levels import JoinedEncoding
from kboost.preparation.level_means import MeanEncoding, fit_means
from kboost.preparation.levels import LevelEncoding, fit_levels
from kboost.preparation.target import Target
from kboost.preparation.typed_column import TypedColumn

ENCODINGS = ("target", "mean", "frequency", "one-hot", "both")

CategoryEncoding = LevelEncoding | MeanEncoding | JoinedEncoding


def fit_category(
    column: TypedColumn, target: Target | None, weight: FloatArray, how: str, max_levels: int
) -> CategoryEncoding | None:
    """The encoding; None if there is no level to distinguish."""
    if how in ("one-hot", "both"):
        one_hots = fit_levels(column, weight, max_levels)
        if how == "one-hot":
            return one_hots
        means = fit_means(column, target, weight)
        return means if one_hots is None else JoinedEncoding(one_hots, means)
    if how == "frequency":
        target = None
    return fit_means(column, target, weight, counted=target is None or how != "mean")


def means_of(encoding: object) -> tuple[int, int]:
    """The first column with a mean of the target, and the end of these columns."""
    if isinstance(encoding, JoinedEncoding):
        first = len(encoding.one_hots.one_hot)
        return first, first + len(encoding.means.labels)
    return 0, len(encoding.labels) if isinstance(encoding, MeanEncoding) else 0


def levels_of(encoding: object) -> list[str]:
    """The values of a category that `fit` saw."""
    part = encoding.one_hots if isinstance(encoding, JoinedEncoding) else encoding
    return part.levels if isinstance(part, LevelEncoding | MeanEncoding) else []
