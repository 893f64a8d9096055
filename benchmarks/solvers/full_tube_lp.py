"""The peer of the tube: Gaussian columns of all widths at once, solved by HiGHS directly.

It shares no line with kboost; the kernels are written out here. With `H = [K_1 ... K_P]`, n rows
and m columns, SRE (8) for C a row and columns as they are, with p = d - d':

    maximise  y'p    -1 <= H'p <= 1        (m rows)        0 <= d, d' <= C
                      sum p = 0             (1 row)         |p| <= C
                      p - d + d' = 0        (n rows)
                      sum (d + d') <= C nu n   (1 row)

This is the shape with columns as rows. Written with p, the dense block stands there once, not once
for d and once for d'.
"""

from __future__ import annotations

import time
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csc_matrix, eye_array, hstack, vstack

from benchmarks.datasets import FloatArray

INF = highspy.kHighsInf


def gaussians(X: FloatArray, gammas: tuple[float, ...]) -> FloatArray:
    """Columns of every width at every row, side by side, (n, m)."""
    lengths = np.square(X).sum(axis=1)
    distance = np.maximum(lengths[:, None] + lengths - 2 * X @ X.T, 0.0)
    return np.hstack([np.exp(-gamma * distance) for gamma in gammas])


def program(H: FloatArray, y: FloatArray, C: float, nu: float) -> highspy.HighsLp:
    """The linear program above, for HiGHS, which minimises."""
    n, m = H.shape
    same = eye_array(n)
    dense = csc_matrix(np.vstack([H.T, np.ones(n)]))
    parts = [
        hstack([dense, csc_matrix((m + 1, 2 * n))]),
        hstack([same, -same, same]),
        csc_matrix(np.concatenate([np.zeros(n), np.ones(2 * n)])[None, :]),
    ]
    matrix = vstack(parts).tocsc()
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = matrix.shape
    lp.col_cost_ = np.concatenate([-y, np.zeros(2 * n)])
    lp.col_lower_ = np.concatenate([np.full(n, -C), np.zeros(2 * n)])
    lp.col_upper_ = np.full(3 * n, C)
    lp.row_lower_ = np.concatenate([-np.ones(m), np.zeros(n + 1), [-INF]])
    lp.row_upper_ = np.concatenate([np.ones(m), np.zeros(n + 1), [C * nu * n]])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    return lp


def solve(lp: highspy.HighsLp, method: str, time_limit: float) -> dict[str, Any]:
    """Timed: `run`. Not timed: kernels, matrix, handing it over. Presolve is for interior point."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    options = {"output_flag": False, "solver": method, "time_limit": time_limit,
               "presolve": "on" if method == "ipm" else "off"}  # fmt: skip
    for name, value in options.items():
        highs.setOptionValue(name, value)
    highs.passModel(lp)
    cpu, wall = time.process_time(), time.perf_counter()
    highs.run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    done = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    value = -float(highs.getInfo().objective_function_value)
    return {"fit_seconds": wall, "fit_cpu_seconds": cpu, "done": done,
            "objective": value if done else None}  # fmt: skip
