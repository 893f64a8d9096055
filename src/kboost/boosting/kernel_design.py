"""A kernel built by boosting, from rank-one pieces.

Crammer, Keshet, Singer (NIPS 2002) boost the alignment of a kernel with the labels s, pair by pair:

    K(x, x') = sum_t alpha_t h_t(x) h_t(x'),        loss = sum_ij w_i w_j L(s_i s_j K(x_i, x_j)),
    L(m) = exp(-m)  or  log(1 + exp(-m)).

A round weighs the pairs by -L' (normalised to D), and takes the function of the base kernel's space
that agrees best with the labels under these weights,

    maximise  h'(D o s s')h   relative to   sum_i w_i h_i^2 / W + ridge |h|^2,

the first generalised eigenvector. With |h| <= 1 at all rows and
W+, W- = sum of D |h_i h_j| over the pairs where s_i s_j h_i h_j is positive, negative,

    alpha = 1/2 ln(W+ / W-)

lowers both losses, by sums of D times (sqrt W+ - sqrt W-)^2 at least. Both sums are kept away from
0 by 1 / (4 W), so that a round without an error has a finite weight.

Functions of the space at the rows are G v, for the base kernel's G G' (pivoted Cholesky); the
pivots are the centres. The paper's own text was not at hand; it learns on labelled and unlabelled
rows together, here the rows to learn from are all there are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular

from kboost._typing import FloatArray, IntArray

_RANK = 1e-9  # of the largest diagonal: pivots below it are rounding
_RIDGE = 1e-6  # of the mean diagonal of G'G / W
_log = logging.getLogger("kboost")


@dataclass(frozen=True)
class Designed:
    """The pieces: `h_t(x) = k(x, centres) coef_t`."""

    centers: IntArray  # (r,), rows
    coef: FloatArray  # (r, T)
    values: FloatArray  # (n, T), h_t at the rows
    weights: FloatArray  # (T,), alpha
    losses: FloatArray  # (T + 1,), mean loss of a pair, before the first and after each round


def design(
    K: FloatArray,
    signs: FloatArray,
    weight: FloatArray,
    loss: str,
    n_rounds: int,
    out_of_time: Callable[[], bool] = lambda: False,
) -> Designed:
    """Pieces on the base kernel K, (n, n); fewer than `n_rounds` where none agrees."""
    factor, centers, corner = pivoted(K)
    share = weight / weight.sum()
    pairs, sides = np.outer(share, share), np.outer(signs, signs)
    spread = (factor * share[:, None]).T @ factor
    spread[np.diag_indices_from(spread)] += _RIDGE * max(float(np.mean(np.diag(spread))), 1e-300)
    margins = np.zeros_like(K)
    vectors, values, weights = [], [], []
    losses = [float((pairs * loss_of(margins, loss)).sum())]
    for t in range(n_rounds):
        if t and out_of_time():
            break
        D = pairs * slope_of(margins, loss)
        D /= D.sum()
        last = factor.shape[1] - 1
        label = factor.T @ ((D * sides) @ factor)
        _, top = eigh(label, spread, subset_by_index=[last, last], check_finite=False)
        h = factor @ top[:, 0]
        most = float(np.abs(h).max())
        if not most > 0:
            break
        h /= most
        agree = float(h @ (D * sides) @ h)
        total = float(np.abs(h) @ D @ np.abs(h))
        if agree <= 0:
            break
        floor = 1 / (4 * weight.sum())
        alpha = float(np.log((total + agree + floor) / (total - agree + floor)) / 2)
        margins += alpha * sides * np.outer(h, h)
        vectors.append(top[:, 0] / most)
        values.append(h)
        weights.append(alpha)
        losses.append(float((pairs * loss_of(margins, loss)).sum()))
        _log.info("round %3d  loss %.6g", t + 1, losses[-1])
    coef = solve_triangular(
        corner, np.array(vectors).reshape(-1, len(corner)).T, lower=True, trans="T"
    )
    at_rows = np.array(values).reshape(-1, len(signs)).T
    return Designed(centers, coef, at_rows, np.array(weights), np.array(losses))


def pivoted(K: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """G with G G' = K, (n, r), the rows that are its pivots, and G at these, lower triangular."""
    lower, pivots, rank, _ = lapack.dpstrf(
        (K + K.T) / 2, tol=_RANK * float(np.diag(K).max()), lower=1
    )
    if rank == 0 and K.any():
        raise ValueError(
            "kernels must be positive semidefinite for a support vector machine; got k(x, x) = 0 "
            "at every training row, and other values between them."
        )
    rank = max(1, int(rank))
    order = pivots - 1
    G = np.empty((len(K), rank))
    G[order] = np.tril(lower)[:, :rank]
    return G, order[:rank], np.tril(lower[:rank, :rank])


def loss_of(margins: FloatArray, loss: str) -> FloatArray:
    """L of every pair."""
    out: FloatArray = np.exp(-margins) if loss == "exp" else np.logaddexp(0.0, -margins)
    return out


def slope_of(margins: FloatArray, loss: str) -> FloatArray:
    """-L' of every pair."""
    out: FloatArray = np.exp(-margins) if loss == "exp" else np.exp(-np.logaddexp(0.0, margins))
    return out
