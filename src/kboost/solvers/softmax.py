"""Softmax of the rows of a matrix, and its logarithm; for one row faster than scipy's.

p_k = exp(s_k - max) / sum_l exp(s_l - max),     log p_k = s_k - max - log sum_l exp(s_l - max)
"""

from __future__ import annotations

import numpy as np

from kboost._typing import FloatArray


def softmax(scores: FloatArray) -> FloatArray:
    """`p_k` of each row of finite scores, (n, n_classes)."""
    out: FloatArray = np.exp(scores - scores.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def log_softmax(scores: FloatArray) -> FloatArray:
    """`log p_k` of each row of finite scores, (n, n_classes)."""
    shifted: FloatArray = scores - scores.max(axis=1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return shifted
