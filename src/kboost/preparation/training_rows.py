"""The rows of a fit: in the order of their content, without those of weight 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.preparation.level_means import crossfitted_means
from kboost.preparation.merging import Hashes, as_repetitions, distinct_rows, row_hashes
from kboost.preparation.target import Target
from kboost.preparation.typed_column import TypedColumn


@dataclass(frozen=True)
class TrainingRows:
    """Columns as given, and the order in which they are used."""

    columns: Sequence[TypedColumn]  # all rows, as given
    all_targets: Target | None
    all_weights: FloatArray
    hashes: Hashes
    order: IntArray  # of the rows of positive weight

    @classmethod
    def of(
        cls, columns: Sequence[TypedColumn], target: Target | None, weight: FloatArray
    ) -> TrainingRows:
        """Order the rows by their content."""
        hashes = row_hashes(columns, len(weight))
        keys = () if target is None else tuple(target.values.T)
        order = np.lexsort((weight, *keys, hashes))
        order = order[weight[order] > 0]
        n_distinct = len(distinct_rows(hashes[order]))
        return cls(columns, target, as_repetitions(weight, n_distinct), hashes, order)

    @cached_property
    def ordered(self) -> list[TypedColumn]:
        """The columns at the rows of positive weight."""
        return [column.take(self.order) for column in self.columns]

    @cached_property
    def weight(self) -> FloatArray:
        """The positive weights; their sum is at least the number of distinct rows."""
        return self.all_weights[self.order]

    @cached_property
    def target(self) -> Target | None:
        """The targets of the rows of positive weight."""
        if self.all_targets is None:
            return None
        return replace(self.all_targets, values=self.all_targets.values[self.order])

    @cached_property
    def distinct(self) -> IntArray:
        """One row of each content."""
        return distinct_rows(self.hashes[self.order])

    def crossfitted_means(self, j: int) -> FloatArray | None:
        """The means by which a category encodes each of the rows given."""
        if self.target is None:
            return None
        return crossfitted_means(self.columns[j], self.hashes, self.order, self.target, self.weight)
