"""The basic solution that a nearly optimal interior solution of the margin LP points to.

Problem and dual are those of interior_point.py. At an optimum whose basis is unique, a set J of
columns has a coefficient, with edges at their bounds s_j cost_j, and as many rows E as there are
such columns (and a free bias) hold with equality, with duals inside their box; all other duals are
0 or at their bound. So the vertex solves two systems with one square matrix:

    (G_EJ  sign_E) (x_J, b) = target_E
    (G_EJ  sign_E)' u_E     = (s cost, 0) - (G_OJ  sign_O)' u_O           O: the other rows

If a tube has no width, the two rows of a sample are one, with the difference of their duals as its
dual: only that is determined.

An interior solution to a gap of 1e-9 names J and E: of each pair of a variable and its dual slack,
each as a share of the objective or of its bound, one is far larger than the other. That costs one
factorisation, where simplex from the same basis first factors it several times, and in a nearly
degenerate problem pivots for minutes. Whether the result is optimal is for the caller to see.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lu_factor, lu_solve

from kboost._typing import FloatArray, IntArray
from kboost.solvers.predictor_corrector import DenseMarginLP


@dataclass(frozen=True)
class BasicSolution:
    """Coefficients, bias and duals that solve the systems of a basis."""

    x: FloatArray  # (k,)
    bias: float
    duals: FloatArray  # (n,)


@dataclass(frozen=True)
class _FoldedRows:
    """Rows with duals between `-least` and `most`; `folded` if each is two of the problem."""

    duals: FloatArray
    least: FloatArray
    most: FloatArray
    folded: bool

    def spread(self, v: FloatArray) -> FloatArray:
        """Such duals as those of all rows of the problem."""
        return np.concatenate([np.maximum(v, 0.0), np.maximum(-v, 0.0)]) if self.folded else v


def basic_solutions_near(
    lp: DenseMarginLP, x: FloatArray, bias: float, duals: FloatArray
) -> Iterator[BasicSolution]:
    """Basic solutions that this point of the interior points to, with different sizes of basis.

    Columns and rows are ranked by the ratio of the two sides of their pairs. Where the numbers of
    columns and of rows above 1 do not agree, both are tried.
    """
    objective = max(abs(lp.objective(x, bias)), 1e-300)
    edges = np.where(x < 0.0, -1.0, 1.0) * lp.edges(duals)
    slack = np.maximum(1.0 - edges / lp.cost, 1e-300)
    of_columns = np.abs(x) * lp.cost / objective / slack
    folds = lp.n_mirrored == len(x) or (of_columns[lp.n_mirrored :] < 1.0).all()
    rows = _rows(lp, duals, folded=bool(folds))
    share = (rows.duals + rows.least) / (rows.least + rows.most)
    residual = lp.targets - lp.margins(x) - lp.signs * bias
    missed = np.abs(residual) * lp.upper / objective
    of_rows = np.minimum(share, 1.0 - share) / np.maximum(missed[: len(share)], 1e-300)
    columns, tight = np.argsort(-of_columns, kind="stable"), np.argsort(-of_rows, kind="stable")
    bias_rows = int(lp.free_bias)
    sizes = {int(np.sum(of_columns > 1.0)): None, int(np.sum(of_rows > 1.0)) - bias_rows: None}
    for size in sizes:
        if 0 <= size <= len(columns) and 0 < size + bias_rows <= len(tight):
            found = _solution(lp, x, rows, share, columns[:size], tight[: size + bias_rows])
            if found is not None:
                yield found


def _solution(
    lp: DenseMarginLP,
    x: FloatArray,
    rows: _FoldedRows,
    share: FloatArray,
    basic: IntArray,
    tight: IntArray,
) -> BasicSolution | None:
    """The solution of one basis; None if it is singular."""
    v = np.where(share > 0.5, rows.most, -rows.least)
    v[tight] = 0.0
    matrix = lp.columns[np.ix_(tight, basic)]
    right = np.sign(x[basic]) * lp.cost[basic] - lp.edges(rows.spread(v))[basic]
    if lp.free_bias:
        matrix = np.column_stack([matrix, lp.signs[tight]])
        right = np.append(right, -float(lp.signs[: len(v)] @ v))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error", LinAlgWarning)
            factor = lu_factor(matrix)
            primal = _solve(factor, matrix, lp.targets[tight], transposed=False)
            v[tight] = _solve(factor, matrix, right, transposed=True)
    except (LinAlgError, LinAlgWarning, ValueError):
        return None
    solution = np.zeros(len(x))
    solution[basic] = primal[: len(basic)]
    return BasicSolution(solution, float(primal[-1]) if lp.free_bias else 0.0, rows.spread(v))


def _rows(lp: DenseMarginLP, duals: FloatArray, *, folded: bool) -> _FoldedRows:
    """The rows; if the tube has no width, the two of a sample are one."""
    half = len(duals) // 2
    if not (folded and lp.n_mirrored and (lp.targets[:half] == -lp.targets[half:]).all()):
        return _FoldedRows(duals, np.zeros(len(duals)), lp.upper, False)
    return _FoldedRows(duals[:half] - duals[half:], lp.upper[half:], lp.upper[:half], True)


def _solve(factor: Any, matrix: FloatArray, right: FloatArray, *, transposed: bool) -> FloatArray:
    """The solution, refined once."""
    form, image = int(transposed), matrix.T if transposed else matrix
    first = lu_solve(factor, right, trans=form)
    return np.asarray(first + lu_solve(factor, right - image @ first, trans=form))
