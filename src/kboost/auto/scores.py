"""How candidates are scored at rows left out where the user names no scorer; larger is better.

With the weights w_i of the rows, W = sum_i w_i, the shares s_ik of the classes in row i and their
calibrated probabilities p_ik,

    labels     sum_i w_i sum_k s_ik log p_ik / W
    numbers    -sum_i w_i (y_i - f_i)^2 / W
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray, IntArray
from kboost.auto.probabilities import calibrate, shares_of
from kboost.auto.scored_candidate import Scorer
from kboost.metric.folds import LearningRows


def negative_log_loss(rows: LearningRows) -> Scorer:
    """The score of labels."""
    shares, weight = shares_of(rows.targets), rows.weight

    def score(values: FloatArray, left_out: IntArray) -> float:
        logs = calibrate(values, shares[left_out], weight[left_out]).log_probabilities(values)
        return float(np.average(np.sum(shares[left_out] * logs, axis=1), weights=weight[left_out]))

    return score


def negative_squared_error(rows: LearningRows) -> Scorer:
    """The score of numbers."""
    y, weight = rows.targets[:, 0], rows.weight

    def score(values: FloatArray, left_out: IntArray) -> float:
        return -float(np.average((values[:, 0] - y[left_out]) ** 2, weights=weight[left_out]))

    return score
