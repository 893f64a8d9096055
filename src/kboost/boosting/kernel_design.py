"""A kernel built by boosting, as a sum of kernels of rank one.

Crammer, Keshet, Singer (NIPS 2002) boost the alignment of a kernel with the labels s, pair by pair:

    K(x, x') = sum_t alpha_t h_t(x) h_t(x'),        loss = sum_ij w_i w_j L(s_i s_j K(x_i, x_j)),
    L(m) = exp(-m)  or  log(1 + exp(-m)).

A round weights the pairs by -L' (normalised to D) and takes the function of the base kernel's space
that agrees best with the labels under these weights,

    maximise  h'(D o s s')h   relative to   sum_i w_i h_i^2 / W + ridge |h|^2,

the first generalised eigenvector. With |h| <= 1 at all rows and
W+, W- = sum of D |h_i h_j| over the pairs where s_i s_j h_i h_j is positive, negative,

    alpha = 1/2 ln(W+ / W-)

lowers both losses, by at least the sum of D times (sqrt W+ - sqrt W-)^2. Both sums are kept away
from 0 by 1 / (4 W), so that a round without an error has a finite weight.

Functions of the space at the rows are G v, for the base kernel's G G' (pivoted Cholesky); the
pivots are the centres. With rank r, at most 3 n^2 + 3 n r + 5 r^2 numbers are in memory: the
margins and D, G with its products, and the r x r matrices of the eigenvectors.

This was written without access to the full text of the paper, which learns from labelled and
unlabelled rows together; here all rows are labelled.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from scipy.linalg import eigh, lapack, solve_triangular

from kboost._typing import FloatArray, IntArray
from kboost.core.deadline import NO_LIMIT, Deadline
from kboost.core.iterate import Listener, Method, iterate
from kboost.core.rounds import DesignRound, Rounds
from kboost.core.stopping import StopReason, out_of_time
from kboost.kernels.base import Kernel

_RANK = 1e-9  # relative to the largest diagonal: smaller pivots are rounding
_RIDGE = 1e-6  # relative to the mean diagonal of G'G / W


@dataclass(frozen=True)
class DesignedKernel:
    """The functions `h_t(x) = k(x, centers) coef_t` and their weights."""

    centers: IntArray  # (r,), rows
    coef: FloatArray  # (r, T)
    values: FloatArray  # (n, T), h_t at the rows
    weights: FloatArray  # (T,), alpha
    losses: FloatArray  # (T + 1,), mean loss per pair, before the first and after each round
    trace: Rounds
    reason: StopReason


class KernelDesign(Method[DesignRound]):
    """Boosting rounds on the base kernel K, (n, n)."""

    trace: Rounds

    def __init__(
        self, K: FloatArray, signs: FloatArray, weight: FloatArray, loss: str, max_iter: int
    ) -> None:
        self._factor, self.centers, self._corner = pivoted_cholesky(K)
        self._loss, self._max_iter = loss, max_iter
        self._floor = 1 / (4 * weight.sum())
        self._signs, self._share = signs, weight / weight.sum()
        spread = (self._factor * self._share[:, None]).T @ self._factor
        ridge = _RIDGE * max(float(np.mean(np.diag(spread))), 1e-300)
        spread[np.diag_indices_from(spread)] += ridge
        self._spread = spread
        self._margins = np.zeros_like(K)
        self._vectors: list[FloatArray] = []
        self._values: list[FloatArray] = []
        self._started = time.monotonic()
        self._start_loss = self._mean_loss()
        self.trace = Rounds()

    def advance(self) -> DesignRound | StopReason:
        D = negative_slope(self._margins, self._loss)
        D *= self._share
        D *= self._share[:, None]
        D /= D.sum()
        signed = self._signs[:, None] * self._factor
        agreement = signed.T @ (D @ signed)
        del signed
        last = self._factor.shape[1] - 1
        _, top = eigh(agreement, self._spread, subset_by_index=[last, last], check_finite=False)
        h = self._factor @ top[:, 0]
        largest = float(np.abs(h).max())
        if not largest > 0:
            return self._no_agreement()
        h /= largest
        signed_h = self._signs * h
        agree = float(signed_h @ D @ signed_h)
        total = float(np.abs(h) @ D @ np.abs(h))
        del D
        if agree <= 0:
            return self._no_agreement()
        ratio = (total + agree + self._floor) / (total - agree + self._floor)
        alpha = float(np.log(ratio) / 2)
        self._margins += np.outer(alpha * signed_h, signed_h)
        self._vectors.append(top[:, 0] / largest)
        self._values.append(h)
        seconds = time.monotonic() - self._started
        return DesignRound(len(self.trace), self._mean_loss(), alpha, seconds)

    def limit(self, trace: Sequence[DesignRound]) -> StopReason | None:
        """The stop rule: enough rounds."""
        if len(trace) < self._max_iter:
            return None
        return StopReason("max_iter", f"max_iter={self._max_iter} rounds done.")

    def result(self, reason: StopReason) -> DesignedKernel:
        """The kernel of the recorded rounds."""
        n_rounds = len(self.trace)
        vectors = np.array(self._vectors[:n_rounds]).reshape(-1, len(self._corner)).T
        return DesignedKernel(
            centers=self.centers,
            coef=solve_triangular(self._corner, vectors, lower=True, trans="T"),
            values=np.array(self._values[:n_rounds]).reshape(-1, len(self._factor)).T,
            weights=self.trace.values("weight"),
            losses=np.concatenate([[self._start_loss], self.trace.values("loss")]),
            trace=self.trace,
            reason=reason,
        )

    def _mean_loss(self) -> float:
        return float(self._share @ pair_loss(self._margins, self._loss) @ self._share)

    def _no_agreement(self) -> StopReason:
        return StopReason(
            "agreement",
            f"after {len(self.trace)} rounds no function of the base kernel agrees with the labels "
            "under the pair weights.",
        )


def design(
    K: FloatArray,
    signs: FloatArray,
    weight: FloatArray,
    loss: str,
    max_iter: int,
    *,
    deadline: Deadline = NO_LIMIT,
    listeners: Sequence[Listener] = (),
) -> DesignedKernel:
    """Design a kernel on the base kernel K, (n, n), in at most `max_iter` rounds."""
    method = KernelDesign(K, signs, weight, loss, max_iter)
    del K  # the rounds need its factor only

    def stop(trace: Sequence[DesignRound]) -> StopReason | None:
        before = trace[-2].seconds if len(trace) > 1 else 0.0
        if deadline.remaining < trace[-1].seconds - before:  # another round would be late
            return method.limit(trace) or out_of_time(deadline, trace[-1])
        return method.limit(trace)

    return method.result(iterate(method, stop, deadline=deadline, listeners=listeners))


def pivoted_cholesky(K: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """G with G G' = K, (n, r), the rows that are its pivots, and G at these, lower triangular."""
    symmetric = K + K.T
    symmetric /= 2
    lower, pivots, rank, _ = lapack.dpstrf(
        symmetric.T, tol=_RANK * float(np.diag(K).max()), lower=1, overwrite_a=1
    )
    if rank == 0 and K.any():
        raise ValueError(
            "kernels must be positive semidefinite for a support vector machine; got k(x, x) = 0 "
            "at every training row, and other values between them."
        )
    rank = max(1, int(rank))
    order = pivots - 1
    G = np.empty((len(K), rank))
    G[order] = np.tril(lower[:, :rank])
    return G, order[:rank], np.tril(lower[:rank, :rank])


def pair_loss(margins: FloatArray, loss: str) -> FloatArray:
    """L of every pair."""
    values: FloatArray = np.negative(margins)
    return np.exp(values, out=values) if loss == "exp" else np.logaddexp(0.0, values, out=values)


def negative_slope(margins: FloatArray, loss: str) -> FloatArray:
    """-L' of every pair."""
    values: FloatArray = np.negative(margins if loss == "exp" else np.logaddexp(0.0, margins))
    return np.exp(values, out=values)


def design_bytes(n_rows: int, rank: int) -> int:
    """The memory of a design on `n` rows, with a base kernel of at most this rank."""
    rank = min(rank, n_rows)
    return 8 * (3 * n_rows**2 + 3 * n_rows * rank + 5 * rank**2)


def most_rank(kernels: Sequence[Kernel], X: Any, n_rows: int) -> int:
    """A bound on the rank of the sum of the kernels."""
    monomials = [kernel.monomials() for kernel in kernels]
    if not all(monomials):
        return n_rows
    return sum(comb(X.shape[1] + m.degree, m.degree) for each in monomials for m in each or ())
