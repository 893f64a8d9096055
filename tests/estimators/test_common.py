"""scikit-learn's own checks, with no list of expected failures."""

import pytest
from sklearn.utils.estimator_checks import (
    check_classifiers_classes,
    estimator_checks_generator,
    parametrize_with_checks,
)

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
from kboost.kernels import Gaussian
from kboost.selection import c_path
from kboost.settings import ColumnGeneration, Full

ALL_CHECKS = [
    AutoKernelClassifier(),
    AutoKernelRegressor(),
    KernelBoostClassifier(),
    KernelBoostNovelty(),
    KernelBoostRegressor(),
    MKBoostClassifier(max_iter=10),
    SemiSupervisedKernelBoostClassifier(C=1.0),
    SparseKernelClassifier(),
    SparseKernelRegressor(),
]
VARIANTS = [
    AutoKernelClassifier(prefer="speed", scoring="accuracy", class_weight="balanced"),
    AutoKernelRegressor(prefer="size", scoring="neg_mean_absolute_error"),
    KernelBoostClassifier([Gaussian()], C=1.0, intercept="penalized", column_scaling=None),
    KernelBoostClassifier(
        C=1.0, class_weight="balanced", solver=ColumnGeneration(early_stopping=0.3)
    ),
    KernelBoostClassifier(
        C=0.1, penalty="l2", max_columns=40, solver=ColumnGeneration(pricing="stratified")
    ),
    KernelBoostRegressor(C=0.1, penalty="l2", epsilon=0.1, max_columns=40),
    KernelBoostRegressor("active", C=0.1, max_iter=10),
    KernelBoostRegressor("halfspaces", C=0.1, solver="barrier", max_iter=10),
    MKBoostClassifier(variant="S2", max_iter=10, column_scaling="trace", multi_class="ovr"),
    SparseKernelClassifier(loss="log", update=Full(10), max_columns=30, ridge=0.1),
    SparseKernelRegressor("ard", selection="ran", update="full", max_columns=30),
]
# What depends on the numerics of a variant; parameters, containers and messages do not.
NUMERICS = {
    "check_class_weight_classifiers",
    "check_classifiers_classes",
    "check_dict_unchanged",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_non_transformer_estimators_n_iter",
    "check_regressors_int",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
# What gives one model many containers: C="auto" is chosen in each, on one split of the rows.
CONTAINERS = {
    "check_dtype_object",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_dtypes",
}


def checks_of_variants():
    for number, estimator in enumerate(VARIANTS):
        for instance, check in estimator_checks_generator(estimator):
            if check.func.__name__ in NUMERICS:
                yield pytest.param(instance, check, id=f"{number}-{check.func.__name__}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:y has no unlabelled rows")
@parametrize_with_checks(ALL_CHECKS)
def test_scikit_learn_check(estimator, check, monkeypatch):
    if check.func.__name__ in CONTAINERS or check.keywords.get("readonly_memmap"):
        monkeypatch.setattr(c_path, "SPLITS", ((c_path.FEW_ROWS, 1),))
    if (
        isinstance(estimator, SemiSupervisedKernelBoostClassifier)
        and check.func is check_classifiers_classes
    ):
        # It asks for classes -1 and 1. Here -1 marks unlabelled rows, so that one class is left: an
        # error by intent. scikit-learn knows of its own semi-supervised classifiers by their names.
        check.func("SelfTrainingClassifier", estimator)
    else:
        check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), checks_of_variants())
def test_scikit_learn_check_of_a_variant(estimator, check):
    check(estimator)
