"""Kernels, widths and ridges compared in cells by their leave-one-out errors (solvers/ridge.py).

All rows of a cell are learned from, and the last half of them is judged, in less than half the time
that all would take. The order of the rows in a cell must therefore be random.

A case is a trial and multiples of its width and ridge. When the time limit is reached, only results
from the same cells are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import pair_block
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.kernels.views import View
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows, dense_rows, rows_of_cell
from kboost.solvers.ridge import ridge_left_out

_WIDTHS: dict[type[Gaussian] | type[Laplacian], tuple[float, ...]] = {
    Gaussian: (1.0, 4.0, 16.0),
    Laplacian: (0.3, 1.0, 3.0),
}  # times one over the mean distance in a cell
_RIDGES = (1e-3, 1e-2, 1e-1)
_MISSING = -1.0  # in place of a sum of squares
_FEW = 100  # rows of a cell that are all judged


@dataclass(frozen=True)
class Trial:
    """A kernel on a metric with a ridge, and its mean squared leave-one-out error."""

    metric: str
    kernel: Any
    ridge: float
    error: float = np.inf


Case = tuple[Trial, Sequence[float], Sequence[float]]  # and multiples of its gamma and ridge
Near = tuple[LocalRows, list[IntArray]]
Sums = tuple[FloatArray, float]  # squared errors of a cell (n_widths, n_ridges), its weight


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial of the lowest error."""
    return min(trials, key=lambda t: t.error)


def least_errors(trials: Sequence[Trial]) -> dict[str, float]:
    """The lowest error of each metric."""
    names = dict.fromkeys(t.metric for t in trials)
    return {name: min(t.error for t in trials if t.metric == name) for name in names}


def n_judged(n_rows: int) -> int:
    """The number of rows of a cell, the last ones, that are judged."""
    return min(n_rows, max(_FEW, n_rows // 2))


def unit_of(
    rows: LocalRows, cells: Sequence[IntArray], view: View, kind: type[Gaussian] | type[Laplacian]
) -> float:
    """One over the mean distance inside a cell, 0 where that overflows."""
    pairing = kind(1.0, on=view.transform).pairing
    with np.errstate(over="ignore"):
        means = [pairing.compute(*[dense_rows(rows, cell[:200])] * 2).mean() for cell in cells]
    mean = float(np.mean(means))
    return 1.0 / mean if mean > 0 else 1.0


def first_round(
    executor: Executor, near: Near, views: Mapping[str, View], deadline: Deadline
) -> list[Trial]:
    """Every metric and kernel at a few widths and ridges."""
    kinds = [(name, view, kind) for name, view in views.items() for kind in _WIDTHS]
    if deadline.seconds is None:  # one task per kind, as all use the same rows
        shared = executor.scatter(near)
        arguments = zip(*[(shared, *kind) for kind in kinds], strict=True)
        return [t for trials in executor.map(_kind_trials, *arguments) for t in trials]
    kinds.sort(key=lambda kind: kind[0] != "standardised")  # the likeliest first
    cases = [_case(near, *kind) for kind in kinds if deadline.remaining]
    trials = compared(executor, near, [case for case in cases if case is not None], deadline)
    order = {name: number for number, name in enumerate(views)}
    return sorted(trials, key=lambda trial: order[trial.metric])


def _kind_trials(near: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Any:
    """A metric and a kernel at a few widths and ridges."""
    rows, cells = near
    case = _case(near, name, view, kind)
    if case is None:
        return [Trial(name, kind(1.0, on=view.transform), 1.0)]
    return _summed(case, [_left_out(rows_of_cell(rows, cell), case) for cell in cells])


def _case(near: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Case | None:
    """The first widths and ridges of a metric and a kernel; None if distances overflow."""
    unit = unit_of(*near, view, kind)
    return (
        (Trial(name, kind(unit, on=view.transform), 1.0), _WIDTHS[kind], _RIDGES) if unit else None
    )


def compared(
    executor: Executor, near: Near, cases: Sequence[Case], deadline: Deadline
) -> list[Trial]:
    """The cases in all cells, or in the cells there was time for; one task per case and cell."""
    rows, cells = near
    rows_by_cell = [rows_of_cell(rows, cell) for cell in cells]
    work = [(inside, case, deadline) for inside in rows_by_cell for case in cases]
    results = executor.map(_left_out, *zip(*work, strict=True)) if work else []
    by_cell = [results[i : i + len(cases)] for i in range(0, len(results), len(cases) or 1)]
    kept = _same_cells(by_cell)
    summed = [_summed(case, [sums[i] for sums in kept]) for i, case in enumerate(cases)]
    return [trial for trials in summed for trial in trials]


def _same_cells(by_cell: list[list[Sums]]) -> list[list[Sums]]:
    """The cells in which every case has a result, or else the one with most results."""
    missing = [sum(int(np.sum(sums == _MISSING)) for sums, _ in cases) for cases in by_cell]
    least = min(missing, default=0)
    kept = [cases for cases, number in zip(by_cell, missing, strict=True) if number == least]
    return kept if least == 0 else kept[:1]


def _left_out(rows: LocalRows, case: Case, deadline: Deadline = NO_LIMIT) -> Sums:
    """The leave-one-out errors in a cell, as far as there is time."""
    trial, widths, ridges = case
    X, w, last = rows.X, rows.weight, n_judged(len(rows.weight))
    judged = w[len(w) - last :]
    kernels = _kernels(trial, widths)
    total = np.full((len(widths), len(ridges)), _MISSING)
    if not deadline.remaining:
        return total, float(judged.sum())
    block = pair_block(trial.kernel.pairing, X, X, kernels[-1].gamma)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # the sum is then not finite
        for i, kernel in enumerate(kernels):
            for j, ridge in enumerate(ridges):
                if not deadline.remaining:
                    return total, float(judged.sum())
                K = kernel.profile(block)
                error = ridge_left_out(K, rows.targets, w, trial.ridge * ridge, last)
                total[i, j] = float(judged @ np.sum(error**2, axis=1))
    return total, float(judged.sum())


def _summed(case: Case, results: Sequence[Sums]) -> list[Trial]:
    """Trials at the widths and ridges tested, with their mean squared leave-one-out errors."""
    trial, widths, ridges = case
    total = np.sum([sums for sums, _ in results], axis=0)
    errors = np.where(np.isfinite(total), total, np.inf) / sum(mass for _, mass in results)
    return [
        replace(trial, kernel=kernel, ridge=trial.ridge * ridge, error=float(errors[i, j]))
        for i, kernel in enumerate(_kernels(trial, widths))
        for j, ridge in enumerate(ridges)
        if total[i, j] != _MISSING
    ]


def _kernels(trial: Trial, widths: Sequence[float]) -> list[Any]:
    return [replace(trial.kernel, gamma=trial.kernel.gamma * width) for width in widths]
