"""The metric, the kernel, its width and the ridge for cells, chosen inside a few of them.

The best choice depends on the density of the rows, so it is made at the density of use: in the
cells around rows drawn at random, by the leave-one-out error (solvers/ridge.py). Each metric cuts
different cells, some harder than others, so every metric is tested in cells of all metrics. Three
rounds, each with more work per candidate and fewer candidates:

1. raw, standardised, half standardised (divided by the root of the deviation) and ranked features,
   Gaussian and city-block kernels, a few widths and ridges, on a part of each cell;
2. one width per feature, learned from the best Gaussian of round 1 by the likelihood of
   kernels/ard.py, summed over the cells;
3. the best of both rounds, at more widths and ridges, on whole cells.

With a time limit each round gets a third of the time, and what earlier rounds did not use. When the
time limit is reached, candidates tested in the same cells are compared; a round without results
changes nothing, and if no round has any, the choice is a Gaussian on standardised features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._threads import ThreadPool
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
    sample_of,
)
from kboost.local.trials import (
    Trial,
    best_of,
    compared,
    first_round,
    least_errors,
    n_judged,
    unit_of,
)
from kboost.local.widths import learned_widths
from kboost.solvers.ridge import precision, ridge_left_out

_FINAL_CELLS = 2  # per finalist
_FIRST_ROWS = 500  # per cell in the first round
_WIDTH_CELLS, _WIDTH_ROWS = 12, 400  # cells of the second round, and rows per cell
_TRANSFORM_ROWS = 20_000  # rows on which transforms are fitted
_ALL_RIDGES = np.logspace(-5, 1, 13)
_FINE_WIDTHS, _FINE_RIDGES = (1.0, 2.0, 4.0), (0.3, 3.0)  # cells are denser than parts
_DEFAULT_RIDGE = 1e-2  # without time to choose, times the kernel's diagonal


@dataclass(frozen=True)
class LocalChoice:
    """The choice, and the mean squared leave-one-out error of the best of each metric."""

    kernel: Any  # Gaussian or Laplacian, resolved
    ridge: float
    metric: str
    errors: dict[str, float]

    def __str__(self) -> str:
        errors = ", ".join(f"{name} {error:.3g}" for name, error in self.errors.items())
        return f"cells: {self.metric} features, {self.kernel!r}, ridge {self.ridge:.2g} ({errors})"


def choose_local(
    rows: LocalRows,
    size: int,
    rng: np.random.Generator,
    executor: Executor,
    deadline: Deadline = NO_LIMIT,
) -> tuple[LocalChoice, bool]:
    """The best kernel for cells of `size` rows, and whether there was time to finish."""
    views, until = _views(rows), deadline.share(3)
    drawn = [anchors_of(rows, rng) for _ in views]
    with ThreadPool(min(executor.n_workers, len(views))) as threads:
        results = threads.map(lambda v, a: cells_at(rows, size, v, a), views.values(), drawn)
        cells_of = dict(zip(views, results, strict=True))
    parts = [sample_of(cell, _FIRST_ROWS, rng) for cells in cells_of.values() for cell in cells]
    first = first_round(executor, rows_near(rows, parts), views, until)
    finished = until.remaining > 0.0
    if not first:
        return _default_choice(rows, views["standardised"]), False
    finalists, until = [best_of(first)], deadline.share(2)
    linear = [t for t in first if isinstance(t.kernel, Gaussian) and t.metric != "ranked"]
    if linear and until.remaining:
        start = best_of(linear)
        cells = cells_near(rows, size, views[start.metric], rng, _WIDTH_CELLS)
        near = rows_near(rows, [sample_of(cell, _WIDTH_ROWS, rng) for cell in cells])
        learned = learned_widths(*near, start, executor, until)
        finalists += [learned] if learned is not None else []
    finished = finished and until.remaining > 0.0
    final: list[Trial] = []
    if deadline.remaining:
        around = cells_near(rows, size, finalists[-1].kernel.pairing.view, rng)
        shared = cells_of[finalists[0].metric]
        whole = [*shared[:_FINAL_CELLS], *around[:_FINAL_CELLS]]
        near = rows_near(rows, [sample_of(cell, len(cell), rng) for cell in whole])
        final = compared(executor, near, [(t, _FINE_WIDTHS, (1.0,)) for t in finalists], deadline)
    if final and deadline.remaining:
        cases = [(best_of(final), (1.0,), (r,)) for r in _FINE_RIDGES]
        finer = compared(executor, near, cases, deadline)
        final += finer if deadline.remaining else []  # else perhaps tested in fewer cells
    chosen = best_of(final or first)
    errors = {f"{name}, in parts": error for name, error in least_errors(first).items()}
    choice = LocalChoice(chosen.kernel, chosen.ridge, chosen.metric, errors | least_errors(final))
    return choice, finished and deadline.remaining > 0.0


def _default_choice(rows: LocalRows, view: View) -> LocalChoice:
    """The choice without time to compare."""
    unit = unit_of(rows, [np.arange(len(rows.order))], view, Gaussian)
    kernel = Gaussian(unit or 1.0, on=view.transform)
    return LocalChoice(kernel, _DEFAULT_RIDGE, "standardised", {})


def given(kernels: Sequence[Kernel], ridge: float) -> LocalChoice:
    """The choice of a user who gave kernels and ridge."""
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
    order = np.argsort(np.abs(np.log(_ALL_RIDGES / _DEFAULT_RIDGE)), kind="stable")
    cells = cells_near(rows, size, kernel.pairings[0].view, rng)
    for cell in [sample_of(cell, len(cell), rng) for cell in cells]:
        X, w = rows.X[rows.order[cell]], rows.weight[cell]
        last = n_judged(len(cell))
        judged = w[len(w) - last :]
        if not deadline.remaining:
            break
        K = kernel_block(kernel, X, X, np.float64)
        diagonal = float(np.mean(np.diag(K))) or 1.0
        sums: dict[int, float] = {}
        for j in order:
            if deadline.remaining:
                rounded = K.astype(precision(len(K), _ALL_RIDGES[j], w))
                scaled = _ALL_RIDGES[j] * diagonal
                error = ridge_left_out(rounded, rows.targets[cell], w, scaled, last)
                sums[j] = float(judged @ np.sum(error**2, axis=1))
        if not sums or (mass and len(sums) < len(order)):  # ridges are compared in the same cells
            break
        errors += [sums.get(j, np.inf) for j in range(len(order))]
        mass, unit = mass + float(judged.sum()), diagonal
    finished = deadline.remaining > 0.0
    if not mass:
        unit = float(np.mean(kernel.diag(rows.X[rows.order[cells[0]]]))) or 1.0
        return LocalChoice(kernel, _DEFAULT_RIDGE * unit, "given", {}), finished
    best = int(np.argmin(errors))
    ridge = float(_ALL_RIDGES[best]) * unit
    return LocalChoice(kernel, ridge, "given", {"given": float(errors[best]) / mass}), finished


def _views(rows: LocalRows) -> dict[str, View]:
    X = np.asarray(rows.X[rows.order[:_TRANSFORM_ROWS]], dtype=np.float64)  # in random order
    weight = rows.weight[:_TRANSFORM_ROWS]
    standard = Standardize.fit(X, weight)
    half = replace(standard, scale=np.sqrt(np.ldexp(standard.scale, standard.exponent)))
    return {
        "raw": View(),
        "half standardised": View(transform=half),
        "standardised": View(transform=standard),
        "ranked": View(transform=Ranks.fit(X, weight)),
    }
