"""One width per feature, learned inside cells by the likelihood of kernels/ard.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.core.deadline import Deadline
from kboost.kernels.ard import likelihood
from kboost.kernels.stationary import Gaussian
from kboost.kernels.transforms import Standardize
from kboost.local.executor import Executor
from kboost.local.rows import LocalRows, dense_rows
from kboost.local.trials import Trial
from kboost.solvers.lbfgs import minimise_until

_STEPS, _PRIOR, _REACH = 30, 0.05, 12.0


def learned_widths(
    rows: LocalRows, cells: Sequence[IntArray], start: Trial, executor: Executor, deadline: Deadline
) -> Trial | None:
    """The widths of the highest likelihood in the cells, near those of the trial by a prior.

    None without time for one evaluation.
    """
    view, gamma = start.kernel.pairing.view, start.kernel.gamma
    data = []
    for cell in cells:
        Z = np.asarray(view.apply(dense_rows(rows, cell)))
        unit = rows.weight[cell] / rows.weight[cell].mean()
        data.append((Z - Z.mean(axis=0), rows.targets[cell], unit))
    spread = np.sqrt(np.mean([np.mean(t**2) for _, t, _ in data])) or 1.0
    data = [(Z, targets / spread, unit) for Z, targets, unit in data]
    d, step = data[0][0].shape[1], -(-len(data) // executor.n_workers)
    groups = [data[i : i + step] for i in range(0, len(data), step)]
    evaluate = executor.bind(_likelihoods, groups)
    first = np.concatenate(
        [np.full(d, np.log(2 * gamma)), np.log([1.0, 0.1, max(start.ridge, 1e-6)])]
    )

    def penalised(logs: FloatArray) -> tuple[float, FloatArray]:
        away = logs - first
        value, slope = 0.5 * _PRIOR * float(away @ away), _PRIOR * away
        for group in evaluate(logs):
            for term, gradient in group:
                value, slope = value + term, slope + gradient
        return value, slope

    solution, value, finished = minimise_until(
        lambda: not deadline.remaining,
        penalised,
        first,
        [(x - _REACH, x + _REACH) for x in first],
        maxiter=_STEPS,
        ftol=1e-4,
    )
    if not finished and np.isnan(value):
        return None
    scale, _, noise = np.exp(solution[-3:])
    root = np.sqrt(np.exp(solution[:-3]) / 2)
    base = view.transform
    widths = (
        Standardize(np.zeros(d, dtype=np.intp), np.zeros(d), root)
        if base is None
        else Standardize(base.exponent, base.shift, base.scale * root)
    )
    return Trial("learned", Gaussian(1.0, on=widths), float(noise / scale))


def _likelihoods(cells: Sequence[Any], logs: FloatArray) -> list[tuple[float, FloatArray]]:
    return [likelihood(Z, targets, weight, logs) for Z, targets, weight in cells]
