"""The scores that decide where the user names none are those of scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, mean_squared_error

from kboost.auto.probabilities import calibrate, class_shares, class_signs
from kboost.auto.scores import negative_log_loss, negative_squared_error
from kboost.metric.folds import LearningRows

RNG = np.random.default_rng(0)
X, WEIGHT = RNG.normal(size=(60, 2)), RNG.uniform(0.5, 2.0, 60)
LEFT = np.arange(0, 60, 2)


def test_numbers():
    y, values = RNG.normal(size=60), RNG.normal(size=(30, 1))
    score = negative_squared_error(LearningRows(X, y[:, None], WEIGHT, labels=False))
    error = mean_squared_error(y[LEFT], values, sample_weight=WEIGHT[LEFT])
    assert score(values, LEFT) == pytest.approx(-error)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels(n_classes):
    codes = RNG.integers(n_classes, size=60)
    values = RNG.normal(size=(30, 1 if n_classes == 2 else n_classes))
    score = negative_log_loss(LearningRows(X, class_signs(codes, n_classes), WEIGHT, labels=True))
    shares, weight = class_shares(codes[LEFT], n_classes), WEIGHT[LEFT]
    shown = np.exp(calibrate(values, shares, weight).log_probabilities(values))
    loss = log_loss(codes[LEFT], shown, sample_weight=weight, labels=range(n_classes))
    assert score(values, LEFT) == pytest.approx(-loss)
