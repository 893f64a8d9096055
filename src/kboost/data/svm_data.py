"""The input of support vector machines on several kernels: rows, kernels and binary problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kboost.data.merged_rows import MergedRows
from kboost.data.multiclass import BinaryProblem
from kboost.kernels.base import Kernel


@dataclass(frozen=True)
class SVMData:
    """Training rows, kernels and binary problems."""

    rows: MergedRows
    centers: Any  # (n, d), the rows as second argument of a kernel
    kernels: Sequence[Kernel]  # scaled
    library: Sequence[Kernel]  # the same kernels before scaling
    problems: Sequence[BinaryProblem]
    n_classes: int

    def only(self, kernel: int) -> SVMData:
        """The same with a single kernel."""
        kernels, library = [self.kernels[kernel]], [self.library[kernel]]
        return replace(self, kernels=kernels, library=library)
