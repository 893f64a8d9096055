"""Several classes as binary problems, and their values as class scores."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsOneClassifier

from kboost import KernelBoostClassifier
from kboost.data.multiclass import binary_problems, class_scores, predicted_codes

CODES = np.array([0, 2, 1, 0, 2, 1, 1])


def test_one_against_one_uses_the_rows_of_both_classes():
    problems = binary_problems(CODES, 3, "ovo")
    assert [(p.negative, p.positive) for p in problems] == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(problems[1].rows, [0, 1, 3, 4])
    np.testing.assert_array_equal(problems[1].signs, [-1, 1, -1, 1])


def test_one_against_the_rest_uses_all_rows():
    problems = binary_problems(CODES, 3, "ovr")
    assert [p.positive for p in problems] == [0, 1, 2]
    assert all(len(p.rows) == len(CODES) for p in problems)
    np.testing.assert_array_equal(problems[0].signs > 0, CODES == 0)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_two_classes_are_one_problem(multi_class):
    problems = binary_problems(np.array([0, 1, 1]), 2, multi_class)
    assert len(problems) == 1
    values = np.array([[0.3], [-0.2]])
    np.testing.assert_array_equal(class_scores(values, problems, 2), [0.3, -0.2])
    np.testing.assert_array_equal(predicted_codes(class_scores(values, problems, 2)), [1, 0])


def test_wins_come_first_and_values_break_ties():
    problems = binary_problems(CODES, 3, "ovo")
    two_wins = class_scores(np.array([[0.1, 0.1, -9.0]]), problems, 3)  # 1 beats 0 and 2
    assert predicted_codes(two_wins) == [1]
    circle = class_scores(np.array([[1.0, -5.0, 2.0]]), problems, 3)  # 1 > 0, 0 > 2, 2 > 1
    assert predicted_codes(circle) == [0]  # it won by 5 and lost by 1
    np.testing.assert_allclose(np.round(circle), 1.0)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_class_without_rows_is_never_predicted(multi_class):
    problems = binary_problems(np.array([0, 3, 0, 3, 1]), 4, multi_class)
    values = np.random.default_rng(0).normal(-3.0, 1.0, size=(50, len(problems)))
    scores = class_scores(values, problems, 4)
    assert scores.shape == (50, 4)
    assert np.isfinite(scores).all()
    assert set(predicted_codes(scores)) <= {0, 1, 3}


def test_pairs_of_classes_by_the_meta_estimator():
    X, y = load_iris(return_X_y=True)
    model = OneVsOneClassifier(KernelBoostClassifier(["rbf"], C=10.0)).fit(X[::3], y[::3])
    assert [each.classes_.tolist() for each in model.estimators_] == [[0, 1]] * 3
    assert max(each.dual_gap_ for each in model.estimators_) < 1e-3
    assert model.score(X, y) > 0.9
