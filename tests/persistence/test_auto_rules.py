"""A forged AutoKernel estimator, whose parts do not fit together, is not made."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import pytest

from kboost import load_model, save_model
from tests.fitted import fitted

FORGED = {  # a model, one of its attributes, and its value as a function of another model
    "a preparation of another table": ("auto", "preparation_", lambda m: m.preparation_),
    "no preparation": ("auto", "preparation_", lambda m: None),
    "a model of another table": ("auto", "estimator_", lambda m: m.estimator_),
    "another number of columns": ("auto", "n_features_in_", lambda m: 9),
    "another number of classes": ("auto", "classes_", lambda m: m.classes_),
    "offsets of another model": ("auto", "probabilities_", lambda m: m.probabilities_),
    "no transform of the target": ("auto numbers", "target_scale_", lambda m: None),
    "no residuals": ("auto numbers", "residuals_", lambda m: None),
}


@pytest.mark.parametrize("what", FORGED)
def test_parts_that_do_not_fit_together(what, tmp_path):
    name, attribute, value = FORGED[what]
    model = copy(fitted(name))
    setattr(model, attribute, value(fitted("auto three classes")))
    save_model(model, tmp_path / "m.kboost")
    with pytest.raises(ValueError, match=r"the fields of a AutoKernel\w+ are inconsistent"):
        load_model(tmp_path / "m.kboost")


def test_a_transform_without_residuals(tmp_path):
    model = copy(fitted("auto logarithms"))
    model.target_scale_ = replace(model.target_scale_, residuals=())
    save_model(model, tmp_path / "m.kboost")
    with pytest.raises(ValueError, match="the fields of a TargetScale are inconsistent"):
        load_model(tmp_path / "m.kboost")


def test_quantiles_that_are_not_in_pairs(tmp_path):
    model = copy(fitted("auto numbers"))
    model.residuals_ = replace(model.residuals_, lower=model.residuals_.lower[1:])
    save_model(model, tmp_path / "m.kboost")
    with pytest.raises(ValueError, match="the fields of a LeftOutResiduals are inconsistent"):
        load_model(tmp_path / "m.kboost")
