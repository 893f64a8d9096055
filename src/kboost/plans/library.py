"""How the library of columns is made: kernels resolved on the rows, centres, scaling, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kboost._typing import IntArray
from kboost.core.deadline import Deadline
from kboost.data.merged_rows import MergedRows
from kboost.kernels.adapters import as_kernels
from kboost.kernels.base import Kernel
from kboost.plans.bases import KernelColumns

# Copies of a column, at most, in a master and its solver, as measured. The interior point works on
# the active ones, and simplex at the end on fewer.
COPIES = {"simplex": 32, "interior point": 8, "l2": 4}

FEW_VALUES = 4_000_000  # rows times centres: a pass takes well below a second
BLOCK_VALUES = 1 << 19  # per kernel, between two looks at a limited time
MEASURING = 6  # one part in so many of a limited time goes into the scales of the columns


@dataclass(frozen=True)
class CenterRows:
    """Rows that serve as centres and for widths and scales, if not the training rows alone."""

    rows: MergedRows
    center_of_input: IntArray  # (n_input_rows,), -1 for rows without weight


@dataclass(frozen=True)
class LibraryPlan:
    """What is needed to make the library from any part of the rows."""

    base: KernelColumns
    n_input_rows: int  # the width of a precomputed kernel matrix
    feature_names: Any = None
    scaling: Any = "floored"
    memory_budget: int = 2**30
    n_jobs: int = 1
    copies: int = COPIES["simplex"]
    centers: CenterRows | None = None

    def build(self, rows: MergedRows, deadline: Deadline, *, among: float = 1) -> Any:
        """The library on these rows, one of `among` that share the memory budget.

        If a pass over it would take too much of a limited time, it has as many of the centres,
        drawn at random, as there is time for; without time it is empty.
        """
        source, _ = self._center_source(rows)
        if not deadline.remaining:
            return self.base.empty_library(rows)

        def resolve(kernels: Any) -> Sequence[Kernel]:
            return as_kernels(
                kernels,
                source.X,
                sample_weight=source.weight,
                feature_names=self.feature_names,
                width=self.n_input_rows,
            )

        options = self.library_options(rows, deadline, among)
        centers, at = options["centers"], options["center_of_row"]
        if deadline.seconds is not None and len(rows.weight) * centers.shape[0] > FEW_VALUES:
            order = np.random.RandomState(0).permutation(centers.shape[0])
            options |= {
                "centers": centers[order],
                "center_of_row": np.argsort(order)[at],
                "enough": _Measuring(deadline),
                "block_width": max(1, BLOCK_VALUES // len(rows.weight)),
            }
        return self.base.library(rows, resolve, options)

    def n_centers(self, rows: MergedRows) -> int:
        """The centres of the whole library on these rows."""
        return len(self._center_source(rows)[0].first)

    def library_options(self, rows: MergedRows, deadline: Deadline, among: float) -> dict[str, Any]:
        """The arguments of a library."""
        source, center_of_row = self._center_source(rows)
        precomputed = isinstance(self.base.kernels, str) and self.base.kernels == "precomputed"
        return {
            "centers": source.first[:, None] if precomputed else source.centers,
            "center_of_row": center_of_row,
            "measured_on": None if source is rows else (source.X, source.weight),
            "sample_weight": rows.weight,
            "scaling": self.scaling,
            "memory_budget": int(self.memory_budget / among),
            "n_jobs": self.n_jobs,
            "copies": self.copies,
            "before_block": deadline.check,
        }

    def _center_source(self, rows: MergedRows) -> tuple[MergedRows, IntArray]:
        """The rows whose distinct x are the centres, and the centre of each training row."""
        if self.centers is None:
            return rows, rows.center_of_row
        inputs = rows.first[rows.center_of_row]
        return self.centers.rows, self.centers.center_of_input[inputs]


def has_columns(library: Any) -> bool:
    """Whether there was time to make a library; an infinite one has no number of columns."""
    return bool(getattr(library, "n_columns", 1))


class _Measuring:
    """Whether the time to measure columns is over; it begins with the first call."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._until: Deadline | None = None

    def __call__(self) -> bool:
        if self._until is None:
            self._until = self._deadline.share(MEASURING)
        return not self._until.remaining
