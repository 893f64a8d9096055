"""The metric, the kernel, its width and the ridge for cells, chosen inside a few of them.

What is best depends on how dense the rows are, so it is judged where it will be used: in the cells
around rows drawn at random, by the errors of rows left out one at a time (solvers/ridge.py). Each
metric has cells of its own, some harder than others, so all are judged in some cells of each.
Three rounds, each dearer and among fewer:

1. raw, standardised, half standardised (over the root of the deviation) and ranked features,
   Gaussian and city-block kernels, some widths and ridges, on a part of each cell;
2. widths for each feature, learned from the best Gaussian of round 1 by the likelihood of
   kernels/ard.py, summed over the cells;
3. the best of both rounds, at more widths and ridges, on whole cells.

With a limit a third of the time is for each round, and what the rounds before it leave. Out of it,
those judged in the same cells are compared; a round that judged none changes nothing, and if no
round did, it is a Gaussian on standardised features.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost.columns.cells import kernel_block
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.kernels.algebra import sum_kernels
from kboost.kernels.base import Kernel
from kboost.kernels.stationary import Gaussian
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View
from kboost.local.executor import Executor
from kboost.local.rows import (
    LocalRows,
    anchors_of,
    cells_at,
    cells_near,
    rows_near,
    some_of,
)
from kboost.local.trials import (
    Trial,
    best_of,
    compared,
    first_round,
    least_errors,
    unit_of,
)
from kboost.local.widths import learned_widths
from kboost.solvers.ridge import precision, ridge_left_out

_LAST = 2  # cells of a finalist
_PART = 500  # rows of a cell in the first round
_LESSONS, _LEARN = 12, 400  # cells of the second round, and rows of each
_SEEN = 20_000  # rows on which transforms are fitted
_ALL_RIDGES = np.logspace(-5, 1, 13)
_FINE_WIDTHS, _FINE_RIDGES = (1.0, 2.0, 4.0), (0.3, 3.0)  # cells are denser than parts
_UNJUDGED = 1e-2  # the ridge where there was no time, times the kernel's diagonal


@dataclass(frozen=True)
class LocalChoice:
    """What was chosen, and the mean squared error left out of the best of each metric."""

    kernel: Any  # Gaussian or Laplacian, resolved
    ridge: float
    metric: str
    errors: dict[str, float]

    def __str__(self) -> str:
        told = ", ".join(f"{name} {error:.3g}" for name, error in self.errors.items())
        return f"cells: {self.metric} features, {self.kernel!r}, ridge {self.ridge:.2g} ({told})"


def choose_local(
    rows: LocalRows,
    size: int,
    rng: np.random.Generator,
    hands: Executor,
    deadline: Deadline = NO_LIMIT,
) -> tuple[LocalChoice, bool]:
    """The best kernel for cells of `size` rows, and whether there was time to finish."""
    views, until = _views(rows), deadline.share(3)
    drawn = [anchors_of(rows, rng) for _ in views]
    with ThreadPoolExecutor(min(hands.width, len(views))) as threads:
        found = threads.map(lambda v, a: cells_at(rows, size, v, a), views.values(), drawn)
        whole = dict(zip(views, found, strict=True))
    parts = {name: [some_of(cell, _PART, rng) for cell in own] for name, own in whole.items()}
    few = rows_near(rows, [cell for own in parts.values() for cell in own])
    judged = first_round(hands, few, views, until)
    finished = until.remaining > 0.0
    if not judged:
        return _unjudged(rows, views["standardised"]), False
    finalists, until = [best_of(judged)], deadline.share(2)
    linear = [t for t in judged if isinstance(t.kernel, Gaussian) and t.metric != "ranked"]
    if linear and until.remaining:
        start = best_of(linear)
        own = cells_near(rows, size, views[start.metric], rng, _LESSONS)
        near = rows_near(rows, [some_of(cell, _LEARN, rng) for cell in own])
        learned = learned_widths(*near, start, hands, until)
        finalists += [learned] if learned is not None else []
    finished = finished and until.remaining > 0.0
    final: list[Trial] = []
    if deadline.remaining:
        around = cells_near(rows, size, finalists[-1].kernel.pairing.view, rng)
        more = rows_near(rows, [*whole[finalists[0].metric][:_LAST], *around[:_LAST]])
        final = compared(hands, more, [(t, _FINE_WIDTHS, (1.0,)) for t in finalists], deadline)
    if final and deadline.remaining:
        cases = [(best_of(final), (1.0,), (r,)) for r in _FINE_RIDGES]
        finer = compared(hands, more, cases, deadline)
        final += finer if deadline.remaining else []  # else perhaps judged in fewer cells
    chosen = best_of(final or judged)
    errors = {f"{name}, in parts": error for name, error in least_errors(judged).items()}
    choice = LocalChoice(chosen.kernel, chosen.ridge, chosen.metric, errors | least_errors(final))
    return choice, finished and deadline.remaining > 0.0


def _unjudged(rows: LocalRows, view: View) -> LocalChoice:
    """What is taken where there is no time to judge."""
    unit = unit_of(rows, [np.arange(len(rows.order))], view, Gaussian)
    kernel = Gaussian(unit or 1.0, on=view.transform)
    return LocalChoice(kernel, _UNJUDGED, "standardised", {})


def given(kernels: Sequence[Kernel], ridge: float) -> LocalChoice:
    """Where nothing is left to choose."""
    kernel = sum_kernels(kernels)
    assert kernel is not None
    return LocalChoice(kernel, ridge, "given", {})


def choose_local_ridge(
    rows: LocalRows,
    size: int,
    kernels: Sequence[Kernel],
    rng: np.random.Generator,
    deadline: Deadline = NO_LIMIT,
) -> tuple[LocalChoice, bool]:
    """The best ridge for the sum of kernels given, and whether there was time to finish."""
    kernel = sum_kernels(kernels)
    assert kernel is not None
    errors, mass, unit = np.zeros(len(_ALL_RIDGES)), 0.0, 1.0
    order = np.argsort(np.abs(np.log(_ALL_RIDGES / _UNJUDGED)), kind="stable")
    cells = cells_near(rows, size, kernel.pairings[0].view, rng)
    for cell in cells:
        X, w = rows.X[rows.order[cell]], rows.weight[cell]
        if not deadline.remaining:
            break
        K = kernel_block(kernel, X, X, np.float64)
        own = float(np.mean(np.diag(K))) or 1.0
        here: dict[int, float] = {}
        for j in order:
            if deadline.remaining:
                now = K.astype(precision(len(K), _ALL_RIDGES[j], w))
                left = ridge_left_out(now, rows.targets[cell], w, _ALL_RIDGES[j] * own)
                here[j] = float(w @ np.sum(left**2, axis=1))
        if not here or (mass and len(here) < len(order)):  # ridges are compared in the same cells
            break
        errors += [here.get(j, np.inf) for j in range(len(order))]
        mass, unit = mass + float(w.sum()), own
    finished = deadline.remaining > 0.0
    if not mass:
        unit = float(np.mean(kernel.diag(rows.X[rows.order[cells[0]]]))) or 1.0
        return LocalChoice(kernel, _UNJUDGED * unit, "given", {}), finished
    best = int(np.argmin(errors))
    ridge = float(_ALL_RIDGES[best]) * unit
    return LocalChoice(kernel, ridge, "given", {"given": float(errors[best]) / mass}), finished


def _views(rows: LocalRows) -> dict[str, View]:
    X = np.asarray(rows.X[rows.order[:_SEEN]], dtype=np.float64)  # their order is a random one
    weight = rows.weight[:_SEEN]
    standard = Standardize.fit(X, weight)
    half = replace(standard, scale=np.sqrt(np.ldexp(standard.scale, standard.exponent)))
    return {
        "raw": View(),
        "half standardised": View(transform=half),
        "standardised": View(transform=standard),
        "ranked": View(transform=Ranks.fit(X, weight)),
    }
