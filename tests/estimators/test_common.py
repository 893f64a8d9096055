"""scikit-learn's own checks, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_classes, parametrize_with_checks

from kboost import (
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    MKBoostClassifier,
    SemiSupervisedKernelBoostClassifier,
    SparseKernelClassifier,
    SparseKernelRegressor,
)
from kboost.kernels import Gaussian
from kboost.settings import ColumnGeneration, Full

ESTIMATORS = [
    SparseKernelClassifier(),
    SparseKernelClassifier(loss="log", update=Full(10), max_columns=30, ridge=0.1),
    SparseKernelRegressor(),
    SparseKernelRegressor("ard", selection="ran", update="full", max_columns=30),
    KernelBoostClassifier(),
    KernelBoostClassifier(kernels=[Gaussian()], intercept="penalized", column_scaling=None),
    KernelBoostClassifier(
        C=1.0, class_weight="balanced", solver=ColumnGeneration(early_stopping=0.3)
    ),
    KernelBoostClassifier(
        C=0.1, penalty="l2", max_columns=40, solver=ColumnGeneration(pricing="stratified")
    ),
    KernelBoostNovelty(),
    KernelBoostRegressor(),
    KernelBoostRegressor(C=0.1, penalty="l2", epsilon=0.1, max_columns=40),
    KernelBoostRegressor("active", C=0.1, max_iter=10),
    KernelBoostRegressor("halfspaces", C=0.1, solver="barrier", max_iter=10),
    SemiSupervisedKernelBoostClassifier(C=1.0),
    MKBoostClassifier(max_iter=10),
    MKBoostClassifier(variant="S2", max_iter=10, column_scaling="trace", multi_class="ovr"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:y has no unlabelled rows")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    if (
        isinstance(estimator, SemiSupervisedKernelBoostClassifier)
        and check.func is check_classifiers_classes
    ):
        # It asks for classes -1 and 1. Here -1 marks unlabelled rows, so that one class is left: an
        # error by intent. scikit-learn knows of its own semi-supervised classifiers by their names.
        check.func("SelfTrainingClassifier", estimator)
    else:
        check(estimator)
