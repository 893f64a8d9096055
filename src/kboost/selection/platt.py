"""Logistic functions of decision values, fitted to rows that were left out.

With the scores f_k of the classes (two classes: 0 and f), a slope a >= 0 and offsets b_k,

    p_k = exp(a f_k + b_k) / sum_l exp(a f_l + b_l)

and the weighted negative log-likelihood, with N_k the weight of class k (Platt's targets),

    minimise  - sum_i w_i sum_k t_ik log p_ik,    t_ik = (N_k + 1) / (N_k + 2)  for the row's class,

the rest of 1 shared by the other classes. It is convex in a and b, and the targets keep it finite
where the classes are separated. `fit_slope` has no offsets, so that the largest p stays with the
largest f. `calibrated_log_loss` is the minimum with offsets, per unit of weight: a measure of
decision values that depends neither on their scale nor on their threshold. A model that knows
nothing about the classes has the entropy of their frequencies, however few rows a class has.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

from kboost._typing import FloatArray, IntArray

LEAST, MOST = 1e-3, 1e6  # slope times the size of the decision values
_STEPS, _PRECISION = 200, 1e-12


def fit_slope(decision: FloatArray, codes: IntArray, weight: FloatArray) -> float:
    """The slope of maximum likelihood without offsets, from (n,) or (n, n_classes) values."""
    scores = per_class(decision)
    size = _size(scores)
    if not 0.0 < size < np.inf:
        return 1.0
    scores, targets = scores / size, _targets(codes, weight, scores.shape[1])

    def rise(slope: float) -> float:
        """Derivative of the negative log-likelihood."""
        surplus = softmax(slope * scores, axis=1) - targets
        return float(weight @ np.einsum("ij,ij->i", surplus, scores))

    if rise(LEAST) >= 0.0:
        return LEAST / size
    if rise(MOST) <= 0.0:
        return MOST / size
    return float(brentq(rise, LEAST, MOST, rtol=1e-12)) / size


def calibrated_log_loss(decision: FloatArray, codes: IntArray, weight: FloatArray) -> float:
    """The mean negative log-likelihood at the best slope and offsets."""
    scores = per_class(decision)
    n_classes, size = scores.shape[1], _size(scores)
    if not size < np.inf:
        return np.inf
    scores = (scores - scores.mean(axis=1, keepdims=True)) / (size or 1.0)
    targets = _targets(codes, weight, n_classes)
    share = weight / weight.sum()

    def loss(point: FloatArray) -> tuple[float, FloatArray]:
        logits = point[0] * scores + point[1:]
        logs = log_softmax(logits, axis=1)
        surplus = share[:, None] * (np.exp(logs) - targets)
        slope = np.append(np.sum(surplus * scores), surplus.sum(axis=0))
        return -float(share @ np.sum(targets * logs, axis=1)), slope

    frequency = share @ targets
    start = np.append(0.0, np.log(frequency))
    bounds = [(0.0, MOST)] + [(None, None)] * n_classes
    options = {"maxiter": _STEPS, "ftol": _PRECISION, "gtol": 1e-9}
    solution = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(solution.fun)


def per_class(decision: FloatArray) -> FloatArray:
    """A value for each class: (0, f) for two classes."""
    if decision.ndim == 2:
        return decision
    return np.column_stack([np.zeros_like(decision), decision])


def _size(scores: FloatArray) -> float:
    """The largest distance of a score from the mean of its row."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(scores - scores.mean(axis=1, keepdims=True)).max(initial=0.0)
    return float(away) if np.isfinite(away) else np.inf


def _targets(codes: IntArray, weight: FloatArray, n_classes: int) -> FloatArray:
    """Platt's targets, (n, n_classes)."""
    mass = np.bincount(codes, weights=weight, minlength=n_classes)
    target = ((mass + 1.0) / (mass + 2.0))[codes]
    targets = np.repeat(((1.0 - target) / (n_classes - 1))[:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = target
    return targets
