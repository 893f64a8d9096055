"""The first columns of a fit after C was chosen: those that the models of the path use at that C.

A split has most of the rows, so its model needs nearly the columns of the whole problem. The fit
begins with the columns that any split uses, at the full C, and scans the library a few times
instead of some dozens. Nothing else is taken over: optimum and certificate are those of the whole
problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import IntArray
from kboost.columns.library import KernelLibrary
from kboost.data.merged_rows import MergedRows
from kboost.selection.c_path import UsedColumns


def columns_in(
    library: KernelLibrary,
    rows: MergedRows,
    models: Sequence[UsedColumns],
    splits: Sequence[tuple[KernelLibrary, MergedRows]],
) -> IntArray:
    """The columns of `library`, on `rows`, that these models of the splits use."""
    center_of_input = np.full(int(rows.first.max(initial=-1)) + 1, -1)
    center_of_input[rows.first] = np.arange(len(rows.first))
    found = [np.zeros(0, dtype=np.intp)]
    for used, (part, part_rows) in zip(models, splits, strict=True):
        number_of: dict[Any, int] = {kernel: p for p, kernel in enumerate(part.kernels)}
        kernel = np.array([number_of[column.family.kernel] for column in used], dtype=np.intp)
        index = np.array([column.index for column in used], dtype=np.intp)
        found.append(kernel * library.n_centers + center_of_input[part_rows.first[index]])
    columns = np.unique(np.concatenate(found))
    return np.asarray(columns[library.rms[columns] > 0], dtype=np.intp)
