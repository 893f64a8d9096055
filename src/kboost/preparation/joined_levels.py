"""Categories with one-hots of frequent levels, and the means and frequencies of all levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kboost._typing import FloatArray
from kboost.preparation.level_means import MeanEncoding
from kboost.preparation.levels import LevelEncoding
from kboost.preparation.typed_column import TypedColumn


@dataclass(frozen=True)
class JoinedEncoding:
    """The columns of two encodings of the same levels."""

    one_hots: LevelEncoding
    means: MeanEncoding

    @property
    def reads(self) -> str:
        return "strings"

    def names(self, name: str) -> list[str]:
        return self.one_hots.names(name) + self.means.names(name)

    @property
    def one_hot(self) -> list[bool]:
        return self.one_hots.one_hot + self.means.one_hot

    def encode(self, column: TypedColumn) -> FloatArray:
        return np.column_stack([self.one_hots.encode(column), self.means.encode(column)])
