"""Probabilities of blended decision values, calibrated on rows left out.

With the values f_k of the classes (two classes: -f and f), one slope a > 0 and offsets b_k,

    p_k = exp(a f_k + b_k) / sum_l exp(a f_l + b_l)

minimise the weighted log loss of rows left out, with Platt's targets, so that no probability is 0,
and a weak penalty on the offsets. The predicted class is the most probable one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from kboost._typing import FloatArray, IntArray
from kboost.solvers.softmax import log_softmax

_OFFSET_PENALTY = 1e-2
_SLOPES = (1e-2, 1e3)


@dataclass(frozen=True)
class Probabilities:
    """Slope and offsets."""

    slope: float
    offsets: FloatArray  # (n_classes,)

    def scores(self, values: FloatArray) -> FloatArray:
        """`a f_k + b_k` of each class, (n, n_classes)."""
        return np.asarray(self.slope * per_class(values) + self.offsets)

    def log_probabilities(self, values: FloatArray) -> FloatArray:
        """`log p_k`, (n, n_classes)."""
        return log_softmax(self.scores(values))


def per_class(values: FloatArray) -> FloatArray:
    """One column per class."""
    return np.hstack([-values, values]) if values.shape[1] == 1 else values


def calibrate(values: FloatArray, shares: FloatArray, weight: FloatArray) -> Probabilities:
    """Fit slope and offsets to rows left out; `shares` are those of the classes in each row."""
    scores = per_class(values)
    unit = float(np.abs(scores).max()) or 1.0
    n_classes = scores.shape[1]
    mass = weight @ shares
    doubt = shares / (mass + 2.0)  # what a row of a class leaves to the others
    target = shares - doubt + (doubt.sum(axis=1, keepdims=True) - doubt) / (n_classes - 1)
    part = weight / weight.sum()

    def loss(z: FloatArray) -> tuple[float, FloatArray]:
        logs = log_softmax(np.exp(z[0]) * scores / unit + z[1:])
        value = -float(part @ np.sum(target * logs, axis=1))
        away = part[:, None] * (np.exp(logs) - target)
        slope = np.exp(z[0]) * float(np.sum(away * scores / unit))
        offset = away.sum(axis=0) + _OFFSET_PENALTY / len(scores) * z[1:]
        value += 0.5 * _OFFSET_PENALTY / len(scores) * float(z[1:] @ z[1:])
        return value, np.concatenate([[slope], offset])

    start = np.concatenate([[np.log(2.0 * unit)], np.zeros(n_classes)])
    bounds = [tuple(np.log(np.multiply(_SLOPES, unit)))] + [(-20.0, 20.0)] * n_classes
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return Probabilities(float(np.exp(found[0]) / unit), found[1:])


def class_shares(codes: IntArray, n_classes: int) -> FloatArray:
    """One-hot rows."""
    return np.asarray(np.eye(n_classes)[codes])


def shares_of(targets: FloatArray) -> FloatArray:
    """The share of each class in each distinct row, from targets between -1 and 1."""
    if targets.shape[1] == 1:
        targets = np.hstack([-targets, targets])
    return np.asarray((targets + 1) / 2)
