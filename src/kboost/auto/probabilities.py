"""Probabilities of blended decision values, calibrated on rows left out.

With the values f_k of the classes (two classes: -f and f), a matrix A and offsets b,

    p_k = exp(s_k) / sum_l exp(s_l),    s = A f + b

minimise the weighted log loss of rows left out, with Platt's targets, so that no probability is 0,
and a weak penalty on the offsets. A is a multiple of the identity, a > 0, to compare candidates and
for two classes. With more classes the values of one class also inform about the others: a free A,

    with the penalty  c/2 |A - (tr A / K) I|^2  per total weight, on values of size 1,

is taken if it lowers the log loss of a fifth of the rows, calibrated on the others in turn. The
predicted class is the most probable one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from kboost._typing import FloatArray, IntArray
from kboost.solvers.softmax import log_softmax

_OFFSET_PENALTY, _MATRIX_PENALTY = 1e-2, 1.0
_SLOPES = (1e-2, 1e3)
_PARTS = 5  # that judge a free matrix
_MOST_CLASSES, _ROWS_PER_CLASS = 50, 10  # for a free matrix

Calibrate = Callable[[FloatArray, FloatArray, FloatArray], "Probabilities"]


@dataclass(frozen=True)
class Probabilities:
    """Matrix and offsets."""

    matrix: FloatArray  # (n_classes, n_classes)
    offsets: FloatArray  # (n_classes,)

    @property
    def slope(self) -> float:
        """The mean slope of a class in its own value."""
        return float(np.trace(self.matrix) / len(self.matrix))

    def scores(self, values: FloatArray) -> FloatArray:
        """`A f + b` of each row, (n, n_classes)."""
        return np.asarray(per_class(values) @ self.matrix.T + self.offsets)

    def log_probabilities(self, values: FloatArray) -> FloatArray:
        """`log p_k`, (n, n_classes)."""
        return log_softmax(self.scores(values))

    def log_loss(self, values: FloatArray, shares: FloatArray, weight: FloatArray) -> float:
        """The weighted sum over these rows."""
        return -float(weight @ np.sum(shares * self.log_probabilities(values), axis=1))


def per_class(values: FloatArray) -> FloatArray:
    """One column per class."""
    return np.hstack([-values, values]) if values.shape[1] == 1 else values


def calibrate(values: FloatArray, shares: FloatArray, weight: FloatArray) -> Probabilities:
    """Fit one slope and offsets to rows left out; `shares` are those of the classes in each row."""
    scores = per_class(values)
    unit = float(np.abs(scores).max()) or 1.0
    scores, n_classes = scores / unit, scores.shape[1]
    target, part = _targets(shares, weight), weight / weight.sum()
    penalty = _OFFSET_PENALTY / len(scores)

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        value, away = _log_loss(np.exp(z[0]) * scores + z[1:], target, part)
        slope = np.exp(z[0]) * float(np.sum(away * scores))
        offset = away.sum(axis=0) + penalty * z[1:]
        return value + 0.5 * penalty * float(z[1:] @ z[1:]), np.concatenate([[slope], offset])

    start = np.concatenate([[np.log(2.0 * unit)], np.zeros(n_classes)])
    bounds = [tuple(np.log(np.multiply(_SLOPES, unit)))] + [(-20.0, 20.0)] * n_classes
    solution = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Probabilities(np.exp(solution[0]) / unit * np.eye(n_classes), solution[1:])


def calibrate_jointly(values: FloatArray, shares: FloatArray, weight: FloatArray) -> Probabilities:
    """The same with a free matrix, if it is better on rows that it did not see."""
    n, n_classes = shares.shape
    if not 2 < n_classes <= min(_MOST_CLASSES, n // _ROWS_PER_CLASS):
        return calibrate(values, shares, weight)
    plain, free = (_judged(how, values, shares, weight) for how in (calibrate, _free_matrix))
    how = _free_matrix if free < plain else calibrate
    return how(values, shares, weight)


def _judged(how: Calibrate, values: FloatArray, shares: FloatArray, weight: FloatArray) -> float:
    """The log loss of each part of the rows, calibrated on the others."""
    number, total = np.arange(len(values)) % _PARTS, 0.0
    for k in range(_PARTS):
        inside, outside = number != k, number == k
        head = how(values[inside], shares[inside], weight[inside])
        total += head.log_loss(values[outside], shares[outside], weight[outside])
    return total


def _free_matrix(values: FloatArray, shares: FloatArray, weight: FloatArray) -> Probabilities:
    unit = float(np.abs(values).max()) or 1.0
    values, n_classes = values / unit, values.shape[1]
    target, part = _targets(shares, weight), weight / weight.sum()
    c, penalty = _MATRIX_PENALTY / weight.sum(), _OFFSET_PENALTY / weight.sum()
    identity = np.eye(n_classes)

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        A, b = z[n_classes:].reshape(n_classes, -1), z[:n_classes]
        value, away = _log_loss(values @ A.T + b, target, part)
        free = A - np.trace(A) / n_classes * identity
        value += 0.5 * c * float(np.sum(free**2)) + 0.5 * penalty * float(b @ b)
        slopes = away.T @ values + c * free
        return value, np.concatenate([away.sum(axis=0) + penalty * b, slopes.ravel()])

    start = np.concatenate([np.zeros(n_classes), (2.0 * unit * identity).ravel()])
    solution = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return Probabilities(solution[n_classes:].reshape(n_classes, -1) / unit, solution[:n_classes])


def _targets(shares: FloatArray, weight: FloatArray) -> FloatArray:
    """Platt's targets."""
    doubt = shares / (weight @ shares + 2.0)  # probability of a row that is given to other classes
    others = (doubt.sum(axis=1, keepdims=True) - doubt) / (shares.shape[1] - 1)
    return np.asarray(shares - doubt + others)


def _log_loss(scores: FloatArray, target: FloatArray, part: FloatArray) -> tuple[float, FloatArray]:
    """The log loss, and its derivatives in the scores."""
    logs = log_softmax(scores)
    value = -float(part @ np.sum(target * logs, axis=1))
    return value, part[:, None] * (np.exp(logs) - target)


def class_shares(codes: IntArray, n_classes: int) -> FloatArray:
    """One-hot rows."""
    return np.asarray(np.eye(n_classes)[codes])


def class_signs(codes: IntArray, n_classes: int) -> FloatArray:
    """Targets: 1 for the class of a row, -1 for others; of two classes, for the second alone."""
    signs = 2 * class_shares(codes, n_classes) - 1
    return signs[:, 1:] if n_classes == 2 else signs


def shares_of(targets: FloatArray) -> FloatArray:
    """The share of each class in each distinct row, from targets between -1 and 1."""
    if targets.shape[1] == 1:
        targets = np.hstack([-targets, targets])
    return np.asarray((targets + 1) / 2)
