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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import cells_around, kernel_block, pair_block
from kboost.kernels.algebra import total
from kboost.kernels.ard import likelihood
from kboost.kernels.base import Kernel
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View
from kboost.solvers.ridge import precision, ridge_left_out

_ANCHORS, _LAST = 3, 2  # cells of each metric, and of a finalist's
_PART = 500  # rows of a cell in the first round
_LESSONS, _LEARN = 12, 400  # cells of the second round, and rows of each
_SEEN = 20_000  # rows on which transforms are fitted
_WIDTHS: dict[type[Gaussian] | type[Laplacian], tuple[float, ...]] = {
    Gaussian: (1.0, 4.0, 16.0),
    Laplacian: (0.3, 1.0, 3.0),
}  # times one over the mean distance in a cell
_RIDGES = (1e-3, 1e-2, 1e-1)
_ALL_RIDGES = np.logspace(-5, 1, 13)
_FINE_WIDTHS, _FINE_RIDGES = (1.0, 2.0, 4.0), (0.3, 3.0)  # cells are denser than parts
_STEPS, _PRIOR, _REACH = 30, 0.05, 12.0


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


@dataclass(frozen=True)
class LocalRows:
    """Rows of X by number, their targets (around their mean) and weights."""

    X: Any
    order: IntArray
    targets: FloatArray  # (n, q)
    weight: FloatArray  # (n,)


@dataclass(frozen=True)
class _Trial:
    metric: str
    kernel: Any
    ridge: float
    error: float = np.inf


Again = Callable[[Any], list[Any]]


class Hands:
    """Who does the work: so many threads of this process, here."""

    def __init__(self, width: int = 1) -> None:
        self.width = width

    def map(self, work: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
        """As the built-in."""
        with ThreadPoolExecutor(self.width) as pool:
            return list(pool.map(work, *each))

    def share(self, value: Any) -> Any:
        """A value that several pieces of work are given."""
        return value

    def keep(self, work: Callable[[Any, Any], Any], values: Sequence[Any]) -> Again:
        """What does `work` on each of the values, again and again."""
        return lambda more: self.map(work, values, [more] * len(values))


def choose_local(rows: LocalRows, size: int, rng: np.random.Generator, hands: Hands) -> LocalChoice:
    """The best kernel for cells of `size` rows."""
    views = _views(rows)
    drawn = [_anchors(rows, rng) for _ in views]
    with ThreadPoolExecutor(min(hands.width, len(views))) as threads:
        found = threads.map(lambda v, a: _around(rows, size, v, a), views.values(), drawn)
        whole = dict(zip(views, found, strict=True))
    parts = {name: [_some(cell, _PART, rng) for cell in own] for name, own in whole.items()}
    few = hands.share(_near(rows, [cell for own in parts.values() for cell in own]))
    cases = [(few, name, view, kind) for name, view in views.items() for kind in _WIDTHS]
    rough = hands.map(_first_round, *zip(*cases, strict=True))
    judged = [t for trials in rough for t in trials]
    linear = [t for t in judged if isinstance(t.kernel, Gaussian) and t.metric != "ranked"]
    start = _best(linear)
    own = _cells(rows, size, views[start.metric], rng, _LESSONS)
    learned = _learn(*_near(rows, [_some(cell, _LEARN, rng) for cell in own]), start, hands)
    finalists = [_best(judged), learned]
    around = _cells(rows, size, learned.kernel.pairing.view, rng)
    more = _near(rows, [*whole[finalists[0].metric][:_LAST], *around[:_LAST]])
    final = _compared(hands, more, [(t, _FINE_WIDTHS, (1.0,)) for t in finalists])
    final += _compared(hands, more, [(_best(final), (1.0,), (r,)) for r in _FINE_RIDGES])
    chosen = _best(final)
    errors = {f"{n}, in parts": min(t.error for t in judged if t.metric == n) for n in views}
    errors |= {t.metric: min(f.error for f in final if f.metric == t.metric) for t in finalists}
    return LocalChoice(chosen.kernel, chosen.ridge, chosen.metric, errors)


def choose_local_ridge(
    rows: LocalRows, size: int, kernels: Sequence[Kernel], rng: np.random.Generator
) -> LocalChoice:
    """The best ridge for the sum of kernels that are given."""
    kernel = total(kernels)
    assert kernel is not None
    errors, mass, unit = np.zeros(len(_ALL_RIDGES)), 0.0, 1.0
    for cell in _cells(rows, size, kernel.pairings[0].view, rng):
        X, w = rows.X[rows.order[cell]], rows.weight[cell]
        K = kernel_block(kernel, X, X, np.float64)
        unit = float(np.mean(np.diag(K))) or 1.0
        for j, ridge in enumerate(_ALL_RIDGES):
            now = K.astype(precision(len(K), ridge, w))
            left = ridge_left_out(now, rows.targets[cell], w, ridge * unit)
            errors[j] += float(w @ np.sum(left**2, axis=1))
        mass += float(w.sum())
    best = int(np.argmin(errors))
    ridge = float(_ALL_RIDGES[best]) * unit
    return LocalChoice(kernel, ridge, "given", {"given": float(errors[best]) / mass})


def _best(trials: Sequence[_Trial]) -> _Trial:
    return min(trials, key=lambda t: t.error)


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


def _cells(
    rows: LocalRows, size: int, view: View, rng: np.random.Generator, count: int = _ANCHORS
) -> list[IntArray]:
    """Places in `rows` of the cells around some of them."""
    return _around(rows, size, view, _anchors(rows, rng, count))


def _anchors(rows: LocalRows, rng: np.random.Generator, count: int = _ANCHORS) -> IntArray:
    anchors: IntArray = rows.order[rng.permutation(len(rows.order))[:count]]
    return anchors


def _around(rows: LocalRows, size: int, view: View, anchors: IntArray) -> list[IntArray]:
    place = np.empty(rows.X.shape[0], dtype=np.intp)
    place[rows.order] = np.arange(len(rows.order))
    return [place[cell] for cell in cells_around(rows.X, rows.order, size, view, anchors)]


def _some(cell: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    return cell[rng.permutation(len(cell))[:count]]


def _near(rows: LocalRows, cells: Sequence[IntArray]) -> tuple[LocalRows, list[IntArray]]:
    """Only the rows of some cells, read once, and the cells as places in them."""
    near = np.unique(np.concatenate(cells))
    few = LocalRows(
        rows.X[rows.order[near]], np.arange(len(near)), rows.targets[near], rows.weight[near]
    )
    return few, [np.searchsorted(near, cell) for cell in cells]


def _unit(
    rows: LocalRows, cells: Sequence[IntArray], view: View, kind: type[Gaussian] | type[Laplacian]
) -> float:
    """One over the mean distance inside a cell, 0 where that overflows."""
    pairing = kind(1.0, on=view.transform).pairing
    with np.errstate(over="ignore"):
        means = [pairing.compute(*[_dense(rows, cell[:200])] * 2).mean() for cell in cells]
    mean = float(np.mean(means))
    return 1.0 / mean if mean > 0 else 1.0


Case = tuple[_Trial, Sequence[float], Sequence[float]]  # and multiples of its gamma and ridge
Near = tuple[LocalRows, list[IntArray]]


def _first_round(few: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Any:
    """A metric and a kernel at some widths and ridges."""
    unit, (rows, cells) = _unit(*few, view, kind), few
    if not unit:  # distances have no end
        return [_Trial(name, kind(1.0, on=view.transform), 1.0)]
    case = _Trial(name, kind(unit, on=view.transform), 1.0), _WIDTHS[kind], _RIDGES
    return _summed(case, [_left_out(_only(rows, cell), case) for cell in cells])


def _compared(hands: Hands, near: Near, cases: Sequence[Case]) -> list[_Trial]:
    """Cases in all cells, each of them in each by itself."""
    rows, cells = near
    own = [_only(rows, cell) for cell in cells]
    work = [(each, case) for each in own for case in cases]  # cases, dear or cheap, are mixed
    found = hands.map(_left_out, *zip(*work, strict=True))
    summed = [_summed(case, found[i :: len(cases)]) for i, case in enumerate(cases)]
    return [trial for trials in summed for trial in trials]


def _only(rows: LocalRows, cell: IntArray) -> LocalRows:
    X = rows.X[rows.order[cell]]
    return LocalRows(X, np.arange(len(X)), rows.targets[cell], rows.weight[cell])


def _left_out(rows: LocalRows, case: Case) -> tuple[FloatArray, float]:
    """Sums over a cell: of squared left-out errors (n_widths, n_ridges), and of weights."""
    trial, widths, ridges = case
    X, w = rows.X, rows.weight
    kernels = _kernels(trial, widths)
    block = pair_block(trial.kernel.pairing, X, X, kernels[-1].gamma)
    total = np.zeros((len(widths), len(ridges)))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # then the sum says so
        for i, kernel in enumerate(kernels):
            for j, ridge in enumerate(ridges):
                K = kernel.profile(block)
                left = ridge_left_out(K, rows.targets, w, trial.ridge * ridge)
                total[i, j] = float(w @ np.sum(left**2, axis=1))
    return total, float(w.sum())


def _summed(case: Case, found: Sequence[tuple[FloatArray, float]]) -> list[_Trial]:
    """Trials at all widths and ridges, with the mean square of their left-out errors."""
    trial, widths, ridges = case
    total = np.sum([sums for sums, _ in found], axis=0)
    errors = np.where(np.isfinite(total), total, np.inf) / sum(mass for _, mass in found)
    return [
        replace(trial, kernel=kernel, ridge=trial.ridge * ridge, error=float(errors[i, j]))
        for i, kernel in enumerate(_kernels(trial, widths))
        for j, ridge in enumerate(ridges)
    ]


def _kernels(trial: _Trial, widths: Sequence[float]) -> list[Any]:
    return [replace(trial.kernel, gamma=trial.kernel.gamma * width) for width in widths]


def _learn(rows: LocalRows, cells: Sequence[IntArray], start: _Trial, hands: Hands) -> _Trial:
    """Widths for each feature: the likelihood of the cells, from the trial's, held by a prior."""
    view, gamma = start.kernel.pairing.view, start.kernel.gamma
    data = []
    for cell in cells:
        Z = np.asarray(view.apply(_dense(rows, cell)))
        unit = rows.weight[cell] / rows.weight[cell].mean()
        data.append((Z - Z.mean(axis=0), rows.targets[cell], unit))
    spread = np.sqrt(np.mean([np.mean(t**2) for _, t, _ in data])) or 1.0
    data = [(Z, targets / spread, unit) for Z, targets, unit in data]
    d, step = data[0][0].shape[1], -(-len(data) // hands.width)
    ask = hands.keep(_likelihoods, [data[i : i + step] for i in range(0, len(data), step)])
    first = np.concatenate(
        [np.full(d, np.log(2 * gamma)), np.log([1.0, 0.1, max(start.ridge, 1e-6)])]
    )

    def penalised(logs: FloatArray) -> tuple[float, FloatArray]:
        away = logs - first
        value, slope = 0.5 * _PRIOR * float(away @ away), _PRIOR * away
        for lesson in ask(logs):
            for own, its in lesson:
                value, slope = value + own, slope + its
        return value, slope

    found = minimize(
        penalised,
        first,
        jac=True,
        method="L-BFGS-B",
        bounds=[(x - _REACH, x + _REACH) for x in first],
        options={"maxiter": _STEPS, "ftol": 1e-4},
    ).x
    scale, _, noise = np.exp(found[-3:])
    root = np.sqrt(np.exp(found[:-3]) / 2)
    base = view.transform
    widths = (
        Standardize(np.zeros(d, dtype=np.intp), np.zeros(d), root)
        if base is None
        else Standardize(base.exponent, base.shift, base.scale * root)
    )
    return _Trial("learned", Gaussian(1.0, on=widths), float(noise / scale))


def _likelihoods(lesson: Sequence[Any], logs: FloatArray) -> list[tuple[float, FloatArray]]:
    return [likelihood(Z, targets, weight, logs) for Z, targets, weight in lesson]


def _dense(rows: LocalRows, cell: IntArray) -> FloatArray:
    return np.asarray(rows.X[rows.order[cell]], dtype=np.float64)
