"""Softmax, as in scipy."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy import special

from kboost.solvers.softmax import log_softmax, softmax


def test_equal_to_scipy():
    scores = np.random.default_rng(0).normal(size=(50, 4)) * np.logspace(-3, 5, 50)[:, None]
    assert_array_equal(softmax(scores), special.softmax(scores, axis=1))
    assert_array_equal(log_softmax(scores), special.log_softmax(scores, axis=1))
