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

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.columns.cells import cells_around, kernel_block, pair_block
from kboost.core.protocols import NO_LIMIT, Deadline
from kboost.kernels.algebra import total
from kboost.kernels.ard import likelihood
from kboost.kernels.base import Kernel
from kboost.kernels.stationary import Gaussian, Laplacian
from kboost.kernels.transforms import Ranks, Standardize
from kboost.kernels.views import View
from kboost.solvers.lbfgs import minimise_until
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
_UNJUDGED = 1e-2  # the ridge where there was no time, times the kernel's diagonal
_NOT_YET = -1.0  # in place of a sum of squares


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


def choose_local(
    rows: LocalRows,
    size: int,
    rng: np.random.Generator,
    hands: Hands,
    deadline: Deadline = NO_LIMIT,
) -> tuple[LocalChoice, bool]:
    """The best kernel for cells of `size` rows, and whether there was time to finish."""
    views, until = _views(rows), deadline.share(3)
    drawn = [_anchors(rows, rng) for _ in views]
    with ThreadPoolExecutor(min(hands.width, len(views))) as threads:
        found = threads.map(lambda v, a: _around(rows, size, v, a), views.values(), drawn)
        whole = dict(zip(views, found, strict=True))
    parts = {name: [_some(cell, _PART, rng) for cell in own] for name, own in whole.items()}
    few = _near(rows, [cell for own in parts.values() for cell in own])
    judged = _rough(hands, few, views, until)
    finished = until.remaining > 0.0
    if not judged:
        return _unjudged(rows, views["standardised"]), False
    finalists, until = [_best(judged)], deadline.share(2)
    linear = [t for t in judged if isinstance(t.kernel, Gaussian) and t.metric != "ranked"]
    if linear and until.remaining:
        start = _best(linear)
        own = _cells(rows, size, views[start.metric], rng, _LESSONS)
        near = _near(rows, [_some(cell, _LEARN, rng) for cell in own])
        learned = _learn(*near, start, hands, until)
        finalists += [learned] if learned is not None else []
    finished = finished and until.remaining > 0.0
    final: list[_Trial] = []
    if deadline.remaining:
        around = _cells(rows, size, finalists[-1].kernel.pairing.view, rng)
        more = _near(rows, [*whole[finalists[0].metric][:_LAST], *around[:_LAST]])
        final = _compared(hands, more, [(t, _FINE_WIDTHS, (1.0,)) for t in finalists], deadline)
    if final and deadline.remaining:
        cases = [(_best(final), (1.0,), (r,)) for r in _FINE_RIDGES]
        finer = _compared(hands, more, cases, deadline)
        final += finer if deadline.remaining else []  # else perhaps judged in fewer cells
    chosen = _best(final or judged)
    errors = {f"{name}, in parts": error for name, error in _least(judged).items()}
    choice = LocalChoice(chosen.kernel, chosen.ridge, chosen.metric, errors | _least(final))
    return choice, finished and deadline.remaining > 0.0


def _least(trials: Sequence[_Trial]) -> dict[str, float]:
    """The lowest error of each metric."""
    names = dict.fromkeys(t.metric for t in trials)
    return {name: min(t.error for t in trials if t.metric == name) for name in names}


def _unjudged(rows: LocalRows, view: View) -> LocalChoice:
    """What is taken where there is no time to judge."""
    unit = _unit(rows, [np.arange(len(rows.order))], view, Gaussian)
    kernel = Gaussian(unit or 1.0, on=view.transform)
    return LocalChoice(kernel, _UNJUDGED, "standardised", {})


def given(kernels: Sequence[Kernel], ridge: float) -> LocalChoice:
    """Where nothing is left to choose."""
    kernel = total(kernels)
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
    kernel = total(kernels)
    assert kernel is not None
    errors, mass, unit = np.zeros(len(_ALL_RIDGES)), 0.0, 1.0
    order = np.argsort(np.abs(np.log(_ALL_RIDGES / _UNJUDGED)), kind="stable")
    cells = _cells(rows, size, kernel.pairings[0].view, rng)
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
Sums = tuple[FloatArray, float]  # over a cell, of squared errors (n_widths, n_ridges); of weights


def _rough(hands: Hands, few: Near, views: Mapping[str, View], deadline: Deadline) -> list[_Trial]:
    """The first round."""
    kinds = [(name, view, kind) for name, view in views.items() for kind in _WIDTHS]
    if deadline.seconds is None:  # a kind is a piece of work, as these rows are shared
        shared = hands.share(few)
        found = hands.map(_first_round, *zip(*[(shared, *kind) for kind in kinds], strict=True))
        return [t for trials in found for t in trials]
    kinds.sort(key=lambda kind: kind[0] != "standardised")  # the likeliest first
    cases = [_case(few, *kind) for kind in kinds if deadline.remaining]
    judged = _compared(hands, few, [case for case in cases if case is not None], deadline)
    places = {name: place for place, name in enumerate(views)}
    return sorted(judged, key=lambda trial: places[trial.metric])


def _first_round(few: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Any:
    """A metric and a kernel at some widths and ridges."""
    rows, cells = few
    case = _case(few, name, view, kind)
    if case is None:
        return [_Trial(name, kind(1.0, on=view.transform), 1.0)]
    return _summed(case, [_left_out(_only(rows, cell), case) for cell in cells])


def _case(few: Near, name: str, view: View, kind: type[Gaussian] | type[Laplacian]) -> Case | None:
    """The widths and ridges that a metric and a kernel begin with; None: distances have no end."""
    unit = _unit(*few, view, kind)
    return (
        (_Trial(name, kind(unit, on=view.transform), 1.0), _WIDTHS[kind], _RIDGES) if unit else None
    )


def _compared(hands: Hands, near: Near, cases: Sequence[Case], deadline: Deadline) -> list[_Trial]:
    """Cases in all cells, each of them in each by itself; out of time, in as many as there are."""
    rows, cells = near
    own = [_only(rows, cell) for cell in cells]
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


def _only(rows: LocalRows, cell: IntArray) -> LocalRows:
    X = rows.X[rows.order[cell]]
    return LocalRows(X, np.arange(len(X)), rows.targets[cell], rows.weight[cell])


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


def _summed(case: Case, found: Sequence[Sums]) -> list[_Trial]:
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


def _kernels(trial: _Trial, widths: Sequence[float]) -> list[Any]:
    return [replace(trial.kernel, gamma=trial.kernel.gamma * width) for width in widths]


def _learn(
    rows: LocalRows, cells: Sequence[IntArray], start: _Trial, hands: Hands, deadline: Deadline
) -> _Trial | None:
    """Widths for each feature: the likelihood of the cells, from the trial's, held by a prior.

    None where there was no time to look at any.
    """
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

    found, value, finished = minimise_until(
        lambda: not deadline.remaining,
        penalised,
        first,
        [(x - _REACH, x + _REACH) for x in first],
        maxiter=_STEPS,
        ftol=1e-4,
    )
    if not finished and np.isnan(value):
        return None
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
