"""Kernels, widths and ridges judged in cells, by the errors of rows left out one at a time.

A case is a trial and multiples of its width and ridge; its errors in a cell come from
solvers/ridge.py. Out of time, only what was judged in the same cells is compared.
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
_NOT_YET = -1.0  # in place of a sum of squares


@dataclass(frozen=True)
class Trial:
    """A kernel on a metric with a ridge, and its mean squared error left out."""

    metric: str
    kernel: Any
    ridge: float
    error: float = np.inf


Case = tuple[Trial, Sequence[float], Sequence[float]]  # and multiples of its gamma and ridge
Near = tuple[LocalRows, list[IntArray]]
Sums = tuple[FloatArray, float]  # over a cell, of squared errors (n_widths, n_ridges); of weights


def best_of(trials: Sequence[Trial]) -> Trial:
    """The trial of the lowest error."""
    return min(trials, key=lambda t: t.error)


def least_errors(trials: Sequence[Trial]) -> dict[str, float]:
    """The lowest error of each metric."""
    names = dict.fromkeys(t.metric for t in trials)
    return {name: min(t.error for t in trials if t.metric == name) for name in names}


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
    hands: Executor, few: Near, views: Mapping[str, View], deadline: Deadline
) -> list[Trial]:
    """The first round."""
    kinds = [(name, view, kind) for name, view in views.items() for kind in _WIDTHS]
    if deadline.seconds is None:  # a kind is a piece of work, as these rows are shared
        shared = hands.share(few)
        found = hands.map(_kind_trials, *zip(*[(shared, *kind) for kind in kinds], strict=True))
        return [t for trials in found for t in trials]
    kinds.sort(key=lambda kind: kind[0] != "standardised")  # the likeliest first
    cases = [_case(few, *kind) for kind in kinds if deadline.remaining]
    judged = compared(hands, few, [case for case in cases if case is not None], deadline)
    places = {name: place for place, name in enumerate(views)}
    return sorted(judged, key=lambda trial: places[trial.metric])


def _kind_trials(few: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Any:
    """A metric and a kernel at some widths and ridges."""
    rows, cells = few
    case = _case(few, name, view, kind)
    if case is None:
        return [Trial(name, kind(1.0, on=view.transform), 1.0)]
    return _summed(case, [_left_out(rows_of_cell(rows, cell), case) for cell in cells])


def _case(few: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Case | None:
    """The widths and ridges that a metric and a kernel begin with; None: distances have no end."""
    unit = unit_of(*few, view, kind)
    return (
        (Trial(name, kind(unit, on=view.transform), 1.0), _WIDTHS[kind], _RIDGES) if unit else None
    )


def compared(hands: Executor, near: Near, cases: Sequence[Case], deadline: Deadline) -> list[Trial]:
    """Cases in all cells, each of them in each by itself; out of time, in as many as there are."""
    rows, cells = near
    own = [rows_of_cell(rows, cell) for cell in cells]
    work = [(each, case, deadline) for each in own for case in cases]  # dear and cheap are mixed
    found = hands.map(_left_out, *zip(*work, strict=True)) if work else []
    kept = _same_cells([found[i : i + len(cases)] for i in range(0, len(found), len(cases) or 1)])
    summed = [_summed(case, [own[i] for own in kept]) for i, case in enumerate(cases)]
    return [trial for trials in summed for trial in trials]


def _same_cells(found: list[list[Sums]]) -> list[list[Sums]]:
    """Of each cell its cases: the cells in which all were judged, or else the one with most."""
    missing = [sum(int(np.sum(sums == _NOT_YET)) for sums, _ in own) for own in found]
    least = min(missing, default=0)
    kept = [own for own, number in zip(found, missing, strict=True) if number == least]
    return kept if least == 0 else kept[:1]


def _left_out(rows: LocalRows, case: Case, deadline: Deadline = NO_LIMIT) -> Sums:
    """The left-out errors in a cell, as far as there is time."""
    trial, widths, ridges = case
    X, w = rows.X, rows.weight
    kernels = _kernels(trial, widths)
    total = np.full((len(widths), len(ridges)), _NOT_YET)
    if not deadline.remaining:
        return total, float(w.sum())
    block = pair_block(trial.kernel.pairing, X, X, kernels[-1].gamma)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # then the sum says so
        for i, kernel in enumerate(kernels):
            for j, ridge in enumerate(ridges):
                if not deadline.remaining:
                    return total, float(w.sum())
                K = kernel.profile(block)
                left = ridge_left_out(K, rows.targets, w, trial.ridge * ridge)
                total[i, j] = float(w @ np.sum(left**2, axis=1))
    return total, float(w.sum())


def _summed(case: Case, found: Sequence[Sums]) -> list[Trial]:
    """Trials at the widths and ridges judged, with the mean square of their left-out errors."""
    trial, widths, ridges = case
    total = np.sum([sums for sums, _ in found], axis=0)
    errors = np.where(np.isfinite(total), total, np.inf) / sum(mass for _, mass in found)
    return [
        replace(trial, kernel=kernel, ridge=trial.ridge * ridge, error=float(errors[i, j]))
        for i, kernel in enumerate(_kernels(trial, widths))
        for j, ridge in enumerate(ridges)
        if total[i, j] != _NOT_YET
    ]


def _kernels(trial: Trial, widths: Sequence[float]) -> list[Any]:
    return [replace(trial.kernel, gamma=trial.kernel.gamma * width) for width in widths]
