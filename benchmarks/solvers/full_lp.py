"""The peer of the linear program: all columns at once, solved by HiGHS directly.

It shares no line with kboost; the kernels are written out here. With `H = [K_L K_Q K_R]`, n rows
and m columns, the problem `min sum|coef| + C sum slack` has two shapes.

    shape "samples": n rows                          shape "columns": m + 1 rows, u boxed

      coef+   coef-    b   slack                            u in [0, C]
    [ y*H    -y*H      y     I  ]  >=  1             -1 <= [ (y*H)' ] <= 1     (m rows)
      cost 1, 1, 0, C; coef, slack >= 0               0  = [   y'   ]          (1 row)
                                                      maximise sum u

They are each other's dual: the coefficients of one are the multipliers of the other.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy.sparse import csc_matrix

from benchmarks.datasets import Data, FloatArray

INF = highspy.kHighsInf


def mean_squared_distance(X: FloatArray) -> float:
    """Over all pairs of rows, a row with itself included."""
    return float(2 * (np.square(X).sum(axis=1).mean() - np.square(X.mean(axis=0)).sum()))


def all_columns(X: FloatArray, centers: FloatArray, library: str, width: float) -> FloatArray:
    """Linear, quadratic and Gaussian columns of every centre, side by side."""
    products = X @ centers.T
    parts = []
    for letter in library:
        if letter == "L":
            parts.append(products)
        elif letter == "Q":
            parts.append((products + 1) ** 2)
        else:
            lengths = np.square(X).sum(axis=1)[:, None] + np.square(centers).sum(axis=1)
            parts.append(np.exp(-np.maximum(lengths - 2 * products, 0) / width))
    return np.hstack(parts)


def linear_program(
    matrix: FloatArray, cost: FloatArray, lower: FloatArray, upper: FloatArray, rows: FloatArray
) -> highspy.HighsLp:
    """`min cost'x`, `lower <= x <= upper`, `rows[0] <= matrix x <= rows[1]`."""
    sparse = csc_matrix(matrix)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
    lp.row_lower_, lp.row_upper_ = rows
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = sparse.indptr, sparse.indices
    lp.a_matrix_.value_ = sparse.data
    return lp


def samples_shape(H: FloatArray, y: FloatArray, C: float) -> highspy.HighsLp:
    n, m = H.shape
    signed = H * y[:, None]
    matrix = np.hstack([signed, -signed, y[:, None], np.eye(n)])  # (n, 2m + 1 + n)
    cost = np.concatenate([np.ones(2 * m), [0.0], np.full(n, C)])
    lower = np.zeros(2 * m + 1 + n)
    lower[2 * m] = -INF
    rows = np.array([np.ones(n), np.full(n, INF)])
    return linear_program(matrix, cost, lower, np.full(2 * m + 1 + n, INF), rows)


def columns_shape(H: FloatArray, y: FloatArray, C: float) -> highspy.HighsLp:
    n, m = H.shape
    matrix = np.vstack([(H * y[:, None]).T, y])  # (m + 1, n)
    rows = np.array([np.append(-np.ones(m), 0.0), np.append(np.ones(m), 0.0)])
    return linear_program(matrix, -np.ones(n), np.zeros(n), np.full(n, C), rows)


class Solver:
    """HiGHS on the full program. Timed: `run`. Not timed: kernels, matrix, handing it over."""

    def __init__(
        self,
        library: str = "LQR",
        C: float = 1.0,
        shape: str = "samples",
        method: str = "simplex",
        presolve: bool = True,
        time_limit: float = 600.0,
    ) -> None:
        self.library, self.C, self.shape = library, C, shape
        self.options: dict[str, Any] = {
            "output_flag": False,
            "solver": method,
            "presolve": "on" if presolve else "off",
            "time_limit": time_limit,
        }

    def prepare(self, data: Data) -> None:
        X, y = data.X_train, data.y_train
        self.width = mean_squared_distance(X)
        H = all_columns(X, X, self.library, self.width)
        lp = (samples_shape if self.shape == "samples" else columns_shape)(H, y, self.C)
        self.highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in self.options.items():
            self.highs.setOptionValue(option, value)
        self.highs.passModel(lp)

    def fit(self, data: Data) -> Model:
        self.highs.run()
        status = self.highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS: {self.highs.modelStatusToString(status)}")
        return Model(self, data)


class Model:
    """Coefficients of all columns, most of them zero."""

    def __init__(self, solver: Solver, data: Data) -> None:
        self.library, self.width, self.centers = solver.library, solver.width, data.X_train
        solution, info = solver.highs.getSolution(), solver.highs.getInfo()
        m = len(solver.library) * len(data.X_train)
        if solver.shape == "samples":
            values = np.asarray(solution.col_value)
            self.coef, self.intercept = values[:m] - values[m : 2 * m], values[2 * m]
        else:
            duals = -np.asarray(solution.row_dual)  # maximising, so their sign turns
            self.coef, self.intercept = duals[:m], duals[m]
        self.reported = abs(float(info.objective_function_value))
        self.iterations = max(int(info.simplex_iteration_count), int(info.ipm_iteration_count), 0)

    def decision(self, X: FloatArray) -> FloatArray:
        used = np.flatnonzero(self.coef)
        columns = all_columns(X, self.centers, self.library, self.width)[:, used]
        return np.asarray(columns @ self.coef[used] + self.intercept)

    def predict(self, X: FloatArray) -> FloatArray:
        return np.where(self.decision(X) >= 0, 1.0, -1.0)

    def penalty(self) -> float:
        return float(np.abs(self.coef).sum())

    def facts(self) -> dict[str, Any]:
        return {
            "columns": int(np.count_nonzero(np.abs(self.coef) > 1e-9)),
            "objective_reported": self.reported,
            "iterations": self.iterations,
        }
