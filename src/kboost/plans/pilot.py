"""The first columns of a large margin problem: those of the same problem on a sample of its rows.

    minimise  sum_j |coef_j| + C sum_i w_i slack_i                    over all rows and columns
    pilot     the same over m of the n rows, with C W / W_m, and the columns centred at them

The pilot is a random sum with the same mean, so its columns lie near those of the whole problem. It
is solved loosely, in m^2 instead of n^2 operations per scan, and starts from a pilot of its own
while its rows are many. Columns with a coefficient become the first columns of the problem, at the
full C: it needs about half as many scans of the library. Nothing else is taken over, so
optimum and certificate are those of the whole problem.

Rows are drawn from their canonical order, so a row given twice equals a row of weight two.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from kboost._typing import IntArray
from kboost.columns.library import KernelLibrary
from kboost.core.column_generation import ColumnGenerationMethod
from kboost.core.deadline import Deadline
from kboost.core.protocols import PathMaster, PathOracle, Problem
from kboost.core.stopping import INTERRUPTED, StopRule
from kboost.data.merged_rows import MergedRows
from kboost.plans.margin_parts import MarginParts
from kboost.plans.margin_plan import MarginPlan
from kboost.selection.c_path import in_use

FEWEST = 10_000  # rows, from which a pilot pays
PART = 4  # one row in so many
_SHARE = 4  # one part in so many of the memory budget is added for the pilot


class Pilot:
    """The problem on a sample of the rows of a library, for every output."""

    def __init__(
        self,
        plan: MarginPlan,
        parts: MarginParts,
        rows: MergedRows,
        library: KernelLibrary,
        deadline: Deadline,
    ) -> None:
        n = len(rows.weight)
        order = np.random.default_rng(0).permutation(n)
        sample = np.sort(order[: n // PART])
        self._rows = rows.take(sample)
        self._factor = float(rows.weight.sum() / self._rows.weight.sum())
        self._centers = np.unique(rows.center_of_row[sample])  # in the library above
        self._n_above = library.n_centers
        options = plan.library.library_options(self._rows, deadline, _SHARE)
        self._library = KernelLibrary(library.kernels, self._rows.X, **options)
        self._plan, self._parts, self._deadline = plan, parts, deadline
        self._below = pilot_of(plan, self._rows, self._library, deadline)

    def parts(
        self, library: KernelLibrary, output: int, C: float, *, loose: bool = False
    ) -> tuple[PathOracle, PathMaster, StopRule]:
        """The parts of a fit on the library above that begins with the pilot's columns."""
        return self._parts.from_columns(library, self._columns(output, C), loose=loose)

    def _columns(self, output: int, C: float) -> IntArray:
        """The columns of the library above with a coefficient in the pilot."""
        C *= self._factor
        problem = self._plan.outputs.outputs[output].formulate(self._rows, C)
        if self._below is None:
            none = np.zeros(0, dtype=np.intp)
            oracle, master, stop = self._parts.from_columns(self._library, none, loose=True)
        else:
            oracle, master, stop = self._below.parts(self._library, output, C, loose=True)
        whole = Problem(self._library, problem, self._deadline)
        method = ColumnGenerationMethod(oracle.start(whole), master.start(whole))
        result = method.run_until(stop, deadline=self._deadline, polish=False, level=logging.DEBUG)
        if result.reason is INTERRUPTED:
            raise KeyboardInterrupt("interrupted before there was a model; nothing has changed.")
        self._library.release(len(method.current[0]))
        place = {kernel: p for p, kernel in enumerate(self._library.kernels)}
        used = np.flatnonzero(in_use(result.fit.coef))
        columns: list[Any] = [result.hypotheses[j] for j in used]
        kernel = np.array([place[column.family.kernel] for column in columns], dtype=np.intp)
        center = np.array([column.index for column in columns], dtype=np.intp)
        return np.asarray(kernel * self._n_above + self._centers[center])


def pilot_of(plan: MarginPlan, rows: MergedRows, library: Any, deadline: Deadline) -> Pilot | None:
    """A pilot, if the rows are many and the problem is one that can start from it."""
    parts = plan.parts
    if not (
        isinstance(parts, MarginParts)
        and parts.takes_first_columns
        and isinstance(library, KernelLibrary)
        and plan.library.centers is None
        and deadline.seconds is None
        and len(rows.weight) >= FEWEST
    ):
        return None
    return Pilot(plan, parts, rows, library, deadline)
