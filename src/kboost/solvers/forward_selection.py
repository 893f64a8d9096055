"""Forward selection on a few rows, against the residual there (SYB III-C).

On T rows with weights w and residual r, one column per row, all coefficients updated after each
pick. With `K = U U'` the regularised problem

    minimise  1/2 sum_i w_i (r_i - (K a)_i)^2 + ridge/2 a' K a      over chosen columns a

is plain least squares with longer columns: `b_j = (sqrt(w) k_j, sqrt(ridge) u_j)`, target
`(sqrt(w) r, 0)`. So the picks are orthogonal matching pursuit on B = [b_1 ... b_T], and the scores
are correlations with the long residual rho:

    MAX-RES  |r_j|     MP (28)  1/2 (b_j' rho)^2 / |b_j|^2     BOOST (27)  1/2 (b_j' rho)^2 / k_jj

U is never needed: `B'B = K W K + ridge K`, computed at once, or column by column if few are picked.
A pick j adds one column to a pivoted Cholesky factor V of B'B, `V = B'[q_1 q_2 ...]` for
orthonormal q, and to the upper halves of the q; correlations and residual follow from these.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from kboost._typing import FloatArray, IntArray

LocalRule = Literal["max-res", "mp", "boost"]

_VECTOR_COST = 15  # matrix-vector products that cost as much as one row of a matrix product
_DEPENDENT = 1e-9  # squared norm left of a column, relative, below which it depends on the others


def select(
    K: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    ridge: float,
    count: int,
    rule: LocalRule,
) -> tuple[IntArray, float]:
    """Up to `count` columns of K (T, T), in order, and how much they lower the objective."""
    T = len(K)
    K = (K + K.T) / 2
    weighted = weight[:, None] * K
    whole = K @ weighted + ridge * K if _VECTOR_COST * count >= T else None  # B'B
    norms = np.einsum("ij,ij->j", K, weighted) + ridge * np.diag(K)
    correlation = weighted.T @ residual  # B' rho, (T, q)
    remaining = residual.copy()
    divisor = np.diag(K) if rule == "boost" else norms
    divisor = np.where(divisor > 0, divisor, 1.0)
    available = norms > 0
    V, Q = np.empty((2, T, min(count, T)))  # B'q, and the upper halves of q over sqrt(w)
    picked: list[int] = []
    drop = 0.0
    while len(picked) < count and available.any():
        if rule == "max-res":
            score = np.sum(remaining**2, axis=1)
        else:
            score = np.sum(correlation**2, axis=1) / divisor
        j, k = int(np.argmax(np.where(available, score, -1.0))), len(picked)
        available[j] = False
        row = V[j, :k].copy()
        pivot = norms[j] - float(row @ row)
        if pivot <= _DEPENDENT * norms[j]:
            continue
        root = np.sqrt(pivot)
        gram = K @ weighted[:, j] + ridge * K[:, j] if whole is None else whole[:, j]
        V[:, k] = (gram - V[:, :k] @ row) / root
        Q[:, k] = (K[:, j] - Q[:, :k] @ row) / root
        step = correlation[j] / root  # q' rho
        correlation = correlation - np.outer(V[:, k], step)
        remaining -= np.outer(Q[:, k], step)
        drop += 0.5 * float(step @ step)
        picked.append(j)
    return np.array(picked, dtype=np.intp), drop
