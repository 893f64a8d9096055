"""Probabilities of classifiers made of support vector machines, from rows left out.

Kernels and their weights stay; on a sample of the rows each binary problem is solved again without
a third of the distinct x at a time (`left_out_svms`). A kernel that is designed from the labels is
designed again too (`left_out_designs`). The rows that a boosting round did not draw
are left out of it anyway (`left_out_rounds`): their value is the mean of the other rounds, on the
scale of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.boosting.kernel_choice import stratified_folds
from kboost.columns.gram import MixtureFunction
from kboost.data.multiclass import BinaryProblem, class_scores
from kboost.data.svm_data import SVMData
from kboost.selection.calibration import LeftOut
from kboost.solvers.libsvm import solve_dual

ROWS, PARTS = 1000, 3
SLOPE = 1.0  # of a margin of 1, without rows left out
BOOSTED_SLOPE = 2.0  # AdaBoost's value is half of the log odds

Matrix = Callable[[int, IntArray], FloatArray]  # of an output, between rows


def left_out_svms(data: SVMData, matrix: Matrix, C: float, tol: float) -> LeftOut | None:
    """Scores of a sample of the rows by machines without them."""
    at = sampled_rows(data)
    rows, n = data.rows.take(at), len(at)
    folds = stratified_folds(rows, PARTS, np.random.RandomState(0))
    if folds.max() == 0:
        return None
    values = np.zeros((n, len(data.problems)))
    for output, problem in enumerate(data.problems):
        signs = _signs(problem, len(data.rows.weight))[at]
        K = matrix(output, at)
        for fold in range(int(folds.max()) + 1):
            training = np.flatnonzero((signs != 0) & (folds != fold))
            if not len(training):
                return None
            out, s = folds == fold, signs[training]
            if np.ptp(s) == 0:
                values[out, output] = s[0]
                continue
            inside = np.ascontiguousarray(K[np.ix_(training, training)])
            duals, bias, _ = solve_dual(inside, s, C * rows.weight[training], tol)
            values[out, output] = K[np.ix_(out, training)] @ (s * duals) + bias
    scores = class_scores(values, data.problems, data.n_classes)
    return LeftOut(scores, rows.codes, rows.weight)


def left_out_designs(
    data: SVMData, refit: Callable[[SVMData], Sequence[MixtureFunction]]
) -> LeftOut | None:
    """Scores of a sample of the rows by functions that `refit` learns without them."""
    at = sampled_rows(data)
    folds = stratified_folds(data.rows.take(at), PARTS, np.random.RandomState(0))
    values = np.zeros((len(at), len(data.problems)))
    for fold in range(int(folds.max()) + 1):
        part = _part(data, at[folds != fold])
        if any(len(np.unique(problem.signs)) < 2 for problem in part.problems):
            return None
        X = data.rows.X[at[folds == fold]]
        for output, function in enumerate(refit(part)):
            rows = part.problems[output].rows[function.support]
            total = np.full(X.shape[0], function.bias)
            for weight, kernel in zip(function.kernel_weights, data.kernels, strict=True):
                total += weight * (kernel(X, part.centers[rows]) @ function.coef)
            values[folds == fold, output] = total
    scores = class_scores(values, data.problems, data.n_classes)
    return LeftOut(scores, data.rows.codes[at], data.rows.weight[at])


def _part(data: SVMData, rows: IntArray) -> SVMData:
    """The data of some of the rows."""
    number = np.full(len(data.rows.weight), -1)
    number[rows] = np.arange(len(rows))
    problems = []
    for problem in data.problems:
        inside = number[problem.rows] >= 0
        kept = number[problem.rows[inside]]
        problems.append(replace(problem, rows=kept, signs=problem.signs[inside]))
    return replace(data, rows=data.rows.take(rows), centers=data.centers[rows], problems=problems)


def left_out_rounds(
    data: SVMData, means: Sequence[FloatArray], decision: Callable[[IntArray], FloatArray]
) -> LeftOut | None:
    """Scores of the rows by the rounds that did not draw them.

    `means` are those of each problem at its rows, NaN where every round has drawn a row;
    `decision` gives the values of all outputs at given rows.
    """
    at = np.arange(len(data.rows.weight)) if data.n_classes == 2 else sampled_rows(data)
    values = np.zeros((len(at), len(data.problems)))
    if data.n_classes > 2:
        values[:] = decision(at)
    for output, (problem, mean) in enumerate(zip(data.problems, means, strict=True)):
        votes = np.zeros(len(data.rows.weight))
        votes[problem.rows] = mean
        inside = _signs(problem, len(data.rows.weight))[at] != 0
        values[inside, output] = votes[at][inside]
    complete = ~np.isnan(values).any(axis=1)
    if not complete.any():
        return None
    scores = class_scores(values[complete], data.problems, data.n_classes)
    return LeftOut(scores, data.rows.codes[at][complete], data.rows.weight[at][complete])


def sampled_rows(data: SVMData) -> IntArray:
    """Rows of at most `ROWS` distinct x, drawn from the canonical order."""
    n_centers = len(data.rows.first)
    drawn = np.zeros(n_centers, dtype=bool)
    drawn[np.random.RandomState(0).permutation(n_centers)[:ROWS]] = True
    return np.flatnonzero(drawn[data.rows.center_of_row])


def _signs(problem: BinaryProblem, n_rows: int) -> FloatArray:
    """The sign of each row; 0 outside the problem."""
    signs = np.zeros(n_rows)
    signs[problem.rows] = problem.signs
    return signs
