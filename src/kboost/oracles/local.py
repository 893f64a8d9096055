"""Forward selection on few rows, against the residual there (SYB III-C).

On T rows with weights w and residual r, a column for each row, full update after each pick. With
`K = U U'` the regularised problem

    minimise  1/2 sum_i w_i (r_i - (K a)_i)^2 + ridge/2 a' K a      over chosen columns a

is plain least squares on longer columns: `b_j = (sqrt(w) k_j, sqrt(ridge) u_j)`, target
`(sqrt(w) r, 0)`. So the picks are orthogonal matching pursuit on B = [b_1 ... b_T], one
Gram-Schmidt step each, and the scores are correlations with the long residual rho:

    MAX-RES  |r_j|     MP (28)  1/2 (b_j' rho)^2 / |b_j|^2     BOOST (27)  1/2 (b_j' rho)^2 / k_jj
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.linalg import eigh

from kboost._typing import FloatArray, IntArray

LocalRule = Literal["max-res", "mp", "boost"]

_DEPENDENT = 1e-10  # of a column's square: what is left of one that the others span


def select(
    K: FloatArray,
    residual: FloatArray,
    weight: FloatArray,
    ridge: float,
    count: int,
    rule: LocalRule,
) -> tuple[IntArray, float]:
    """Up to `count` columns of K (T, T), in order, and how much they lower the objective."""
    T, q = residual.shape
    root = np.sqrt(weight)
    long = np.empty((2 * T, T), order="F")
    long[:T] = root[:, None] * K
    long[T:] = np.sqrt(ridge) * _square_root(K).T
    rho = np.zeros((2 * T, q))
    rho[:T] = root[:, None] * residual
    norms = np.einsum("ij,ij->j", long, long)
    start = float(np.sum(rho**2))
    divisor = np.diag(K) if rule == "boost" else norms
    open_ = norms > 0
    basis = np.empty((2 * T, count), order="F")
    picked: list[int] = []
    while len(picked) < count and open_.any():
        if rule == "max-res":
            score = np.sum(rho[:T] ** 2, axis=1) / weight
        else:
            score = 0.5 * np.sum((long.T @ rho) ** 2, axis=1) / np.where(divisor > 0, divisor, 1.0)
        j = int(np.argmax(np.where(open_, score, -1.0)))
        open_[j] = False
        new = long[:, j].copy()
        done = basis[:, : len(picked)]
        for _ in range(2):  # twice is enough
            new -= done @ (done.T @ new)
        power = float(new @ new)
        if power <= _DEPENDENT * norms[j]:
            continue
        new /= np.sqrt(power)
        basis[:, len(picked)] = new
        rho -= np.outer(new, new @ rho)
        picked.append(j)
    return np.array(picked, dtype=np.intp), 0.5 * (start - float(np.sum(rho**2)))


def _square_root(K: FloatArray) -> FloatArray:
    """`U` with `K = U U'`, for K that is semidefinite up to rounding; rows belong to columns."""
    K = (K + K.T) / 2
    try:
        jittered = K + 1e-10 * max(float(np.diag(K).max()), 1e-300) * np.eye(len(K))
        root: FloatArray = np.linalg.cholesky(jittered)
    except np.linalg.LinAlgError:
        values, vectors = eigh(K)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
