"""The first columns of a large margin problem: those of the same problem on a sample of its rows.

    minimise  sum_j |coef_j| + C sum_i w_i slack_i                    over all rows and columns
    pilot     the same over m of the n rows, with C W / W_m, and the columns centred at them

The pilot is a random sum with the same mean, so its columns lie near those of the whole problem. It
is solved loosely, in m^2 instead of n^2 operations per scan, and starts from a pilot of its own
while its rows are many. Columns with a coefficient become the first columns of the problem, at the
full C: it needs about half as many scans of the library. Nothing else is taken over, so
optimum and certificate are those of the whole problem. A pilot whose solver fails gives the columns
it has, at worst none. Ctrl-C in it leaves its model: the best there is for the whole problem.

The library of all rows has two thirds of the memory budget, the pilots a quarter, a sixteenth, ...
of it.

Rows are drawn from their canonical order, so a row given twice equals a row of weight two.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from kboost._typing import IntArray
from kboost.columns.library import KernelLibrary
from kboost.core.coefficients import in_use
from kboost.core.column_generation import ColumnGenerationMethod, GenerationResult
from kboost.core.deadline import Deadline
from kboost.core.protocols import Problem
from kboost.core.stopping import INTERRUPTED
from kboost.core.validation import columns_at
from kboost.data.merged_rows import MergedRows
from kboost.exceptions import SolverError
from kboost.plans.margin_parts import MarginParts
from kboost.plans.margin_plan import MarginPlan

FEWEST = 10_000  # rows, from which a pilot pays
PART = 4  # one row in so many
WHOLE = 1.5  # the memory budget is divided by this for the library above all pilots
_SHARE = 4  # and by a power of this for each pilot
_NONE = np.zeros(0, dtype=np.intp)


class Pilot:
    """The problem on a sample of the rows of a library, for every output."""

    def __init__(
        self,
        plan: MarginPlan,
        parts: MarginParts,
        rows: MergedRows,
        library: KernelLibrary,
        deadline: Deadline,
        depth: int = 1,
    ) -> None:
        n = len(rows.weight)
        order = np.random.default_rng(0).permutation(n)
        sample = np.sort(order[: n // PART])
        self._rows = rows.take(sample)
        self._factor = float(rows.weight.sum() / self._rows.weight.sum())
        self._centers = np.unique(rows.center_of_row[sample])  # in the library above
        self._n_above = library.n_centers
        options = plan.library.library_options(self._rows, deadline, _SHARE**depth)
        self._library = KernelLibrary(library.kernels, self._rows.X, **options)
        self._plan, self._parts, self._deadline = plan, parts, deadline
        self._below = None
        if has_pilot(plan, self._rows, deadline):
            self._below = Pilot(plan, parts, self._rows, self._library, deadline, depth + 1)

    def columns(self, output: int, C: float) -> IntArray | GenerationResult:
        """The columns of the library above with a coefficient; a result is what Ctrl-C left."""
        C *= self._factor
        first = _NONE if self._below is None else self._below.columns(output, C)
        if isinstance(first, GenerationResult):
            return first
        problem = self._plan.outputs.outputs[output].formulate(self._rows, C)
        whole = Problem(self._library, problem, self._deadline)
        try:
            oracle, master, stop = self._parts.from_columns(self._library, first, loose=True)
            method = ColumnGenerationMethod(oracle.start(whole), master.start(whole))
            result = method.run_until(
                stop, deadline=self._deadline, polish=False, level=logging.DEBUG
            )
        except SolverError:
            return _NONE
        if result.reason is INTERRUPTED:
            return result
        self._library.release(len(method.current[0]))
        return self._used(result)

    def _used(self, result: GenerationResult) -> IntArray:
        """The columns with a coefficient, as columns of the library above."""
        number_of = {kernel: p for p, kernel in enumerate(self._library.kernels)}
        used = np.flatnonzero(in_use(result.fit.coef))
        columns: list[Any] = [result.hypotheses[j] for j in used]
        kernel = np.array([number_of[column.family.kernel] for column in columns], dtype=np.intp)
        center = np.array([column.index for column in columns], dtype=np.intp)
        return np.asarray(kernel * self._n_above + self._centers[center])


def has_pilot(plan: MarginPlan, rows: MergedRows, deadline: Deadline) -> bool:
    """Whether the rows are many and the problem is one that can start from a pilot."""
    return starts_anywhere(plan, deadline) and len(rows.weight) >= FEWEST


def starts_anywhere(plan: MarginPlan, deadline: Deadline) -> bool:
    """Whether a fit of this plan may begin with any columns of its library."""
    return (
        isinstance(plan.parts, MarginParts)
        and plan.parts.takes_first_columns
        and plan.library.centers is None
        and deadline.seconds is None
    )


def pilot_of(plan: MarginPlan, rows: MergedRows, library: Any, deadline: Deadline) -> Pilot | None:
    """A pilot, where there is one."""
    parts = plan.parts
    if not (has_pilot(plan, rows, deadline) and isinstance(library, KernelLibrary)):
        return None
    assert isinstance(parts, MarginParts)
    return Pilot(plan, parts, rows, library, deadline)


def at_all_rows(result: GenerationResult, rows: MergedRows) -> GenerationResult:
    """The model of a pilot that Ctrl-C ended, evaluated at the rows of the whole problem."""
    decision = columns_at(rows.X, result.hypotheses) @ result.fit.coef + result.fit.bias
    fit = replace(result.fit, decision=decision, weights=np.zeros_like(decision))
    return replace(result, fit=fit, certified=False)
