"""Several classes by duels: who takes part, and who wins."""

import numpy as np
import pytest

from kboost.boosting.multiclass import binary_problems, class_scores, predicted_codes

CODES = np.array([0, 2, 1, 0, 2, 1, 1])


def test_pairs_meet_on_their_own_rows():
    duels = binary_problems(CODES, 3, "ovo")
    assert [(d.loser, d.winner) for d in duels] == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(duels[1].rows, [0, 1, 3, 4])
    np.testing.assert_array_equal(duels[1].signs, [-1, 1, -1, 1])


def test_each_against_the_rest_uses_all_rows():
    duels = binary_problems(CODES, 3, "ovr")
    assert [d.winner for d in duels] == [0, 1, 2]
    assert all(len(d.rows) == len(CODES) for d in duels)
    np.testing.assert_array_equal(duels[0].signs > 0, CODES == 0)


@pytest.mark.parametrize("how", ["ovo", "ovr"])
def test_two_classes_are_one_duel(how):
    duels = binary_problems(np.array([0, 1, 1]), 2, how)
    assert len(duels) == 1
    values = np.array([[0.3], [-0.2]])
    np.testing.assert_array_equal(class_scores(values, duels, 2), [0.3, -0.2])
    np.testing.assert_array_equal(predicted_codes(class_scores(values, duels, 2)), [1, 0])


def test_wins_come_first_and_values_break_ties():
    duels = binary_problems(CODES, 3, "ovo")
    two_wins = class_scores(np.array([[0.1, 0.1, -9.0]]), duels, 3)  # 1 beats 0 and 2
    assert predicted_codes(two_wins) == [1]
    circle = class_scores(np.array([[1.0, -5.0, 2.0]]), duels, 3)  # 1 > 0, 0 > 2, 2 > 1
    assert predicted_codes(circle) == [0]  # it won by 5 and lost by 1
    np.testing.assert_allclose(np.round(circle), 1.0)


@pytest.mark.parametrize("how", ["ovo", "ovr"])
def test_a_class_without_rows_never_wins(how):
    duels = binary_problems(np.array([0, 3, 0, 3, 1]), 4, how)
    values = np.random.default_rng(0).normal(-3.0, 1.0, size=(50, len(duels)))
    scores = class_scores(values, duels, 4)
    assert scores.shape == (50, 4)
    assert np.isfinite(scores).all()
    assert set(predicted_codes(scores)) <= {0, 1, 3}
