"""Widths per feature, noise and scale of a Gaussian process by marginal likelihood (SYB (33)).

On n rows, standardised, with targets y_k of mean 0 and variance 1 (k = 1 ... q share it all),

    C = scale E + offset + noise D,   E_ij = exp(-1/2 sum_d theta_d (x_id - x_jd)^2),

D the inverse weights of the rows, the negative logarithm of the likelihood is

    L = sum_k [ 1/2 y_k' C^-1 y_k + 1/2 log |C| ]      (constants dropped).

With `A = q C^-1 - sum_k a_k a_k'`, `a_k = C^-1 y_k`, every derivative is `1/2 <A, dC>`. For a width
only `G = scale A * E` is needed, and all of them come from one product with the rows Z:

    dL / d log theta_d = -1/2 theta_d [ sum_i g_i z_id^2 - z_d' G z_d ],   g = G 1.

All parameters are positive; L-BFGS runs on their logarithms, with a weak Gaussian prior around the
start (without it theta of an irrelevant feature decreases forever). A few steps on a quarter of the
rows come first: they cost 1/64 and get close to the optimum. When the time limit is reached, the
best parameters so far are returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from kboost._typing import FloatArray
from kboost.kernels.base import Kernel
from kboost.kernels.rows import as_dense, as_rows, as_weights, distinct_rows
from kboost.kernels.sample import Sample
from kboost.kernels.stationary import Gaussian
from kboost.kernels.transforms import Standardize
from kboost.solvers._lapack import cholesky_in_place, invert_in_place, solve_lower_in_place
from kboost.solvers.lbfgs import minimise_until
from kboost.solvers.threads import one_blas_thread

_PRIOR = 1e-2  # precision of the prior, per parameter
_LOWEST, _HIGHEST = np.log(1e-4), np.log(1e4)
_LEAST_NOISE = np.log(1e-8)
_SHORT, _LONG = 60, 120  # steps of the two rounds


@dataclass(frozen=True)
class ARD:
    """Result of :func:`fit_ard`.

    Parameters
    ----------
    kernel : Kernel
        ``exp(-1/2 sum_d theta_d (x_d - z_d)^2)`` on raw features.
    ridge : float
        Noise over scale: the ridge of kernel least squares with `kernel`.
    widths : ndarray of shape (n_features,)
        ``1 / sqrt(theta_d)`` in the unit of each feature; infinite for a constant one.
    noise : float
        Variance of the noise, in squared units of the targets.
    scale : float
        Variance of the process, in the same units.
    offset : float
        Variance of the constant, in the same units.
    log_likelihood : float
        At the fitted parameters, on the rows used, for targets of variance 1. If `max_seconds`
        ended the search, these may be a quarter of the rows; NaN if it never began.
    finished : bool
        False if `max_seconds` ended the search.
    """

    kernel: Kernel
    ridge: float
    widths: FloatArray
    noise: float
    scale: float
    offset: float
    log_likelihood: float
    finished: bool = True


def fit_ard(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    n_rows: int = 1000,
    random_state: Any = 0,
    max_seconds: float | None = None,
) -> ARD:
    """Fit a Gaussian kernel with a width per feature, and its ridge, by marginal likelihood.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Rows.
    y : array-like of shape (n,) or (n, q)
        Targets; labels as numbers (-1 and 1, or one column per class).
    sample_weight : array-like of shape (n,), optional
        Weights; a row of weight w has 1/w of the noise.
    n_rows : int, default=1000
        Number of rows to draw; the time is cubic in it.
    random_state : int, Generator or RandomState, default=0
        Draws the rows.
    max_seconds : float or None, default=None
        Time limit of the search; the best parameters so far are returned.

    Returns
    -------
    ARD
        Pass its ``kernel`` to an estimator as ``kernels=[...]``, and its ``ridge`` as ``ridge=``.

    Examples
    --------
    >>> import numpy as np
    >>> from kboost.kernels import fit_ard
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(200, 3))
    >>> found = fit_ard(X, np.sin(3 * X[:, 0]))
    >>> bool(found.widths[0] < found.widths[1:].min() / 5)
    True
    """
    rows, weight = as_rows(X), as_weights(sample_weight, as_rows(X).shape[0])
    targets = _numbers(y)
    if targets.shape[:1] != (rows.shape[0],) or targets.ndim > 2:
        raise ValueError(
            f"y must have shape (n,) or (n, q) for the n={rows.shape[0]} rows of X; "
            f"got shape {targets.shape}."
        )
    for name, values in (("X", rows.data if issparse(rows) else rows), ("y", targets)):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite; got nan or infinite values.")
    if not rows.shape[0]:
        raise ValueError(f"X must have at least one row; got shape {rows.shape}.")
    if not isinstance(n_rows, int | np.integer) or n_rows < 2:
        raise ValueError(f"n_rows must be an integer of at least 2; got n_rows={n_rows!r}.")
    if max_seconds is not None and not _is_positive(max_seconds):
        raise ValueError(f"max_seconds must be positive, or None; got max_seconds={max_seconds!r}.")
    ends = np.inf if max_seconds is None else time.monotonic() + max_seconds
    chosen = _draw(rows, targets.reshape(len(targets), -1), weight, n_rows, random_state)
    with one_blas_thread():
        return _fit(*chosen, lambda: time.monotonic() >= ends)


def _is_positive(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and bool(value > 0)


def _numbers(y: Any) -> FloatArray:
    try:
        return np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "y must be numeric, with labels as -1 and 1 or one column per class; got "
            f"{np.asarray(y, dtype=object).ravel()[0]!r}."
        ) from error


def _draw(
    X: Any, y: FloatArray, weight: FloatArray, n_rows: int, random_state: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw distinct rows; they are ordered by content first, so that the order of rows is free."""
    keep = np.flatnonzero(weight > 0)
    if len(keep) > 20 * n_rows:  # sorting all rows by content would be expensive
        keep = keep[np.linspace(0, len(keep) - 1, 20 * n_rows).astype(np.intp)]
    dense = as_dense(X[keep]).astype(np.float64)
    first, merged = distinct_rows(np.column_stack([dense, y[keep]]), weight[keep])
    rng = np.random.default_rng(_seed(random_state))
    order = rng.permutation(len(first))[:n_rows]
    picked = keep[first[order]]
    return as_dense(X[picked]).astype(np.float64), y[picked], merged[order]


def _seed(random_state: Any) -> Any:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def _fit(X: FloatArray, y: FloatArray, weight: FloatArray, over: Callable[[], bool]) -> ARD:
    standard = Standardize.fit(X, weight)
    Z = standard.apply(X)
    Z = Z[:, standard.scale > 0]
    unit = weight / weight.mean()
    mean = unit @ y / unit.sum()
    spread = np.sqrt(unit @ (y - mean) ** 2 / unit.sum())
    targets = (y - mean) / np.where(spread > 0, spread, 1.0)
    d = max(1, Z.shape[1])
    start = np.concatenate([np.full(Z.shape[1], -np.log(d)), np.log([1.0, 0.1, 0.1])])
    parameters, value, finished = start, np.nan, True
    for rows, steps in ((len(Z) // 4, _SHORT), (len(Z), _LONG)):
        if finished and (rows >= 50 or rows == len(Z)):
            part = Z[:rows], targets[:rows], unit[:rows]
            parameters, likelihood_now, finished = _search(*part, parameters, start, steps, over)
            value = value if np.isnan(likelihood_now) else likelihood_now
    theta = np.zeros(X.shape[1])
    theta[standard.scale > 0] = np.exp(parameters[:-3])
    scale, offset, noise = np.exp(parameters[-3:])
    root = np.sqrt(theta / 2)
    view = Standardize(standard.exponent, standard.shift, standard.scale * root)
    kernel = Gaussian(1.0, on=view).resolve_on(Sample(X, weight))
    raw = np.ldexp(1.0, standard.exponent)
    with np.errstate(divide="ignore"):
        widths = raw / (standard.scale * np.sqrt(theta))
    power = float(np.mean(spread**2))
    return ARD(
        kernel,
        float(noise / scale),
        widths,
        float(noise * power),
        float(scale * power),
        float(offset * power),
        -value,
        finished,
    )


def _search(
    Z: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    start: FloatArray,
    prior: FloatArray,
    steps: int,
    over: Callable[[], bool],
) -> tuple[FloatArray, float, bool]:
    """L-BFGS from `start`: the parameters, L there without the prior, and whether it converged."""
    bounds = [(_LOWEST, _HIGHEST)] * (len(start) - 1) + [(_LEAST_NOISE, _HIGHEST)]

    def penalised(logs: FloatArray) -> tuple[float, FloatArray]:
        value, slope = likelihood(Z, y, weight, logs)
        away = logs - prior
        return value + 0.5 * _PRIOR * float(away @ away), slope + _PRIOR * away

    best, value, finished = minimise_until(over, penalised, start, bounds, maxiter=steps, ftol=1e-5)
    if finished:
        return best, likelihood(Z, y, weight, best)[0], True
    return best, value - 0.5 * _PRIOR * float((best - prior) @ (best - prior)), False


def likelihood(
    Z: FloatArray, y: FloatArray, weight: FloatArray, logs: FloatArray
) -> tuple[float, FloatArray]:
    """L and its gradient in the logarithms of (theta, scale, offset, noise)."""
    theta, (scale, offset, noise) = np.exp(logs[:-3]), np.exp(logs[-3:])
    n, q = y.shape
    scaled = Z * np.sqrt(theta)
    square = np.einsum("ij,ij->i", scaled, scaled)
    E = scaled @ scaled.T
    E -= 0.5 * square[:, None]
    E -= 0.5 * square
    np.minimum(E, 0.0, out=E)
    np.exp(E, out=E)
    C = scale * E
    C += offset
    C[np.diag_indices(n)] += noise / weight + 1e-10 * (scale + offset)
    cholesky_in_place(C)
    logs_of_factor = float(np.log(np.diag(C)).sum())
    a = y.copy()  # (n, q)
    solve_lower_in_place(C, a)
    value = 0.5 * float(np.sum(a * a)) + q * logs_of_factor
    solve_lower_in_place(C, a, transposed=True)
    invert_in_place(C)
    if q != 1:
        C *= q
    C -= a @ a.T
    on_noise = 0.5 * noise * float(np.diag(C) @ (1 / weight))
    C *= _folded(n)  # A, of which only the lower triangle is stored
    on_offset = 0.5 * offset * C.sum()
    C *= E
    C *= scale
    pull = np.einsum("id,id->d", Z, C @ Z)
    sums = 0.5 * (C.sum(axis=0) + C.sum(axis=1))
    widths = -0.5 * theta * (sums @ Z**2 - pull)
    return value, np.concatenate([widths, [0.5 * sums.sum(), on_offset, on_noise]])


@lru_cache(maxsize=2)
def _folded(n: int) -> FloatArray:
    """Factors of a lower triangle (2 below the diagonal) that give sums of the full matrix."""
    return np.tri(n) + np.tri(n, k=-1)
