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


def basic_solution_near(
    lp: DenseMarginLP, x: FloatArray, objective: float, duals: FloatArray
) -> BasicSolution | None:
    """The basic solution that x and `duals` point to; None if its basis is singular."""
    basic = _basic_columns(lp, x, lp.edges(duals), objective)
    rows = _rows(lp, duals, basic)
    share = (rows.duals + rows.least) / (rows.least + rows.most)
    size = len(basic) + int(lp.free_bias)
    tight = np.argsort(-np.minimum(share, 1.0 - share), kind="stable")[:size]
    if not 0 < size == len(tight):
        return None
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


def _rows(lp: DenseMarginLP, duals: FloatArray, basic: IntArray) -> _FoldedRows:
    """The rows; the two of a sample are one if the tube has no width."""
    half = len(duals) // 2
    mirrored = lp.n_mirrored == len(lp.cost) or (basic < lp.n_mirrored).all()
    if not (lp.n_mirrored and mirrored and (lp.targets[:half] == -lp.targets[half:]).all()):
        return _FoldedRows(duals, np.zeros(len(duals)), lp.upper, False)
    return _FoldedRows(duals[:half] - duals[half:], lp.upper[half:], lp.upper[:half], True)


def _basic_columns(
    lp: DenseMarginLP, x: FloatArray, edges: FloatArray, objective: float
) -> IntArray:
    """The columns whose coefficient is larger, by its cost, than the slack of its edge."""
    value = np.abs(x) * lp.cost / max(abs(objective), 1e-300)
    slack = 1.0 - np.where(x < 0.0, -edges, edges) / lp.cost
    return np.flatnonzero(value > np.maximum(slack, 0.0))


def _solve(factor: Any, matrix: FloatArray, right: FloatArray, *, transposed: bool) -> FloatArray:
    """The solution, refined once."""
    form, image = int(transposed), matrix.T if transposed else matrix
    first = lu_solve(factor, right, trans=form)
    return np.asarray(first + lu_solve(factor, right - image @ first, trans=form))
