"""scikit-learn's own checks, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost import (
    AutoKernelClassifier,
    AutoKernelRegressor,
    KernelBoostClassifier,
    KernelBoostNovelty,
    KernelBoostRegressor,
    MKBoostClassifier,
    SemiSupervisedKernelBoostClassifier,
    SparseKernelClassifier,
    SparseKernelRegressor,
)
from kboost.auto import search
from kboost.kernels import Gaussian
from kboost.selection import c_path
from kboost.settings import ColumnGeneration, Full
from tests.checks import FIT, checks_of_variants

ALL_CHECKS = [
    AutoKernelClassifier(),
    AutoKernelRegressor(),
    KernelBoostClassifier(),
    KernelBoostNovelty(),
    KernelBoostRegressor(),
    MKBoostClassifier(max_iter=10),
    SemiSupervisedKernelBoostClassifier(C=1.0, unlabelled=None),  # -1 is a class in some checks
    SparseKernelClassifier(),
    SparseKernelRegressor(),
]
# Fitted in another way; columns are those of the default.
OTHER_FITS = [
    AutoKernelClassifier(prefer="speed", scoring="accuracy", class_weight="balanced"),
    AutoKernelRegressor(prefer="size", scoring="neg_mean_absolute_error"),
    KernelBoostClassifier(
        C=1.0, class_weight="balanced", solver=ColumnGeneration(early_stopping=0.3)
    ),
    KernelBoostClassifier(
        C=0.1, penalty="l2", max_columns=40, solver=ColumnGeneration(pricing="stratified")
    ),
    KernelBoostRegressor(C=0.1, penalty="l2", epsilon=0.1, max_columns=40),
]
OTHER_COLUMNS = [
    KernelBoostClassifier([Gaussian()], C=1.0, intercept="penalized", column_scaling=None),
    KernelBoostRegressor("active", C=0.1, max_iter=10),
    KernelBoostRegressor("halfspaces", C=0.1, solver="barrier", max_iter=10),
    MKBoostClassifier(variant="S2", max_iter=10, column_scaling="trace", multi_class="ovr"),
    SparseKernelClassifier(loss="log", update=Full(10), max_columns=30, ridge=0.1),
    SparseKernelRegressor("ard", selection="ran", update="full", max_columns=30),
]
# What depends on how C and the kernels are chosen. The other checks fit the same few rows again and
# again, in other containers and with other parameters: there fewer splits of the rows choose.
CHOICES = {
    "check_class_weight_classifiers",
    "check_classifiers_train",
    "check_fit_idempotent",
    "check_regressors_int",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ALL_CHECKS)
def test_scikit_learn_check(estimator, check, monkeypatch):
    if check.func.__name__ not in CHOICES or check.keywords.get("readonly_memmap"):
        monkeypatch.setattr(c_path, "SPLITS", ((c_path.FEW_ROWS, 1),))
        monkeypatch.setattr(search, "_FEW", 0)  # three folds, not five
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [*checks_of_variants(*OTHER_FITS, names=FIT), *checks_of_variants(*OTHER_COLUMNS)],
)
def test_scikit_learn_check_of_a_variant(estimator, check):
    check(estimator)
