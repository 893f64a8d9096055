"""scikit-learn's own checks for estimators that pass all of them with other parameters."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

# What depends on how a variant is fitted. Parameters, containers and messages do not; nor do names
# and weights of classes, which become codes and weights of rows before anything is fitted.
FIT = {
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_non_transformer_estimators_n_iter",
    "check_regressors_int",
    "check_sample_weight_equivalence_on_dense_data",
}
# What depends on the columns of a model alone: how they are evaluated, on sparse rows too, and
# pickled.
PREDICTION = {
    "check_dict_unchanged",
    "check_estimators_pickle",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_sparse_data",
}


def checks_of_variants(*variants, names=FIT | PREDICTION):
    """The checks of these names, one case each."""
    for number, estimator in enumerate(variants):
        for instance, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            if name in names:
                options = "".join(f"-{option}" for option in check.keywords)
                yield pytest.param(instance, check, id=f"{number}-{name}{options}")
