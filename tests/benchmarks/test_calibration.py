"""The scores of the calibration entry, on probabilities whose scores are known."""

import numpy as np
import pytest

from benchmarks.entries.calibration import logistic, scores


def test_scores_of_sure_and_right_probabilities_are_zero():
    y = np.array([0, 1, 2, 1])
    found = scores(np.eye(3)[y], y, y)
    assert found == {
        "log_loss": 0.0,
        "brier": 0.0,
        "ece": 0.0,
        "contradictions": 0,
        "test_error": 0.0,
    }


def test_scores_of_a_coin():
    y = np.array([0, 1])
    found = scores(np.full((2, 2), 0.5), np.array([0, 1]), y)
    assert found["log_loss"] == pytest.approx(np.log(2))
    assert found["brier"] == pytest.approx(0.5)
    assert found["ece"] == pytest.approx(0.0)
    assert found["contradictions"] == 1


def test_bare_values_of_two_classes():
    np.testing.assert_allclose(logistic(np.array([0.0, 2.0]))[:, 1], [0.5, 1 / (1 + np.exp(-2))])
