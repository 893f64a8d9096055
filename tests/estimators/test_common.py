"""scikit-learn's own checks, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost import KernelBoostClassifier
from kboost.kernels import Gaussian

ESTIMATORS = [
    KernelBoostClassifier(),
    KernelBoostClassifier(kernels=[Gaussian()], intercept="penalized", column_scaling=None),
    KernelBoostClassifier(validation_fraction=0.3, random_state=0, class_weight="balanced"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
