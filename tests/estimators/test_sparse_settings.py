"""Settings of the sparse kernel machines: values that are checked, copied, searched and saved."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kboost import SparseKernelClassifier, SparseKernelRegressor, load_model, save_model, settings
from kboost.kernels import Gaussian
from kboost.settings import (
    ALD,
    RAN,
    Cells,
    EarlyStopping,
    Full,
    Joint,
    MatchingPursuit,
    MaxResidual,
    One,
    Random,
    Series,
    SteepestDescent,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(120, 2))
Y = np.sin(2 * X[:, 0]) * X[:, 1]
KERNEL = [Gaussian(0.5)]


def fitted(**options):
    return SparseKernelRegressor(KERNEL, ridge=0.01, max_columns=20, **options).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "short", "value"),
    [
        ("selection", "random", Random()),
        ("selection", "mp", MatchingPursuit()),
        ("selection", "max-res", MaxResidual()),
        ("selection", "boost", SteepestDescent()),
        ("selection", "ald", ALD()),
        ("selection", "ran", RAN()),
        ("update", "joint", Joint()),
        ("update", "full", Full()),
        ("update", "one", One()),
        ("cells", 40, Cells(40)),
        ("early_stopping", 0.3, EarlyStopping(0.3)),
    ],
)
def test_a_short_form_stands_for_its_object(name, short, value):
    options = {"update": "full"} if name == "selection" else {}
    one, other = fitted(**options, **{name: short}), fitted(**options, **{name: value})
    assert_array_equal(one.predict(X), other.predict(X))
    assert getattr(one, name) == short  # parameters stay as they were given


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cells(0), r"^size must be an integer of at least 1; got size=0\.$"),
        (lambda: Cells(partitions=0), r"^partitions must be .*; got partitions=0\.$"),
        (lambda: Cells(overlap=1.5), r"^overlap must be between 0 and 1; got overlap=1\.5\.$"),
        (lambda: Cells(columns_per_cell=0.5), r"^columns_per_cell must be .*; got columns_per_"),
        (
            lambda: EarlyStopping(1.0),
            r"^validation_fraction must be strictly between 0 and 1, or",
        ),
        (lambda: EarlyStopping(n_iter_no_change=0), r"^n_iter_no_change must be .*=0\.$"),
        (lambda: MatchingPursuit(0), r"^n_candidates must be .*, or None; got n_candidates=0\.$"),
        (lambda: ALD(0.0), r"^threshold must be positive; got threshold=0\.0\.$"),
        (lambda: RAN("a"), r"^threshold must be positive; got threshold='a'\.$"),
        (lambda: Joint(0), r"^columns_per_step must be an integer .*, or 'auto'; got columns_"),
        (lambda: Full("auto"), r"^columns_per_step must be an integer of at least 1; got"),
        (lambda: Full(combination="best"), r"^combination must be 'boost' or 'mp'; got"),
        (lambda: Full(series=0), r"^series must be .* a Series, or None; got series=0\.$"),
        (lambda: Series(max_rows=0), r"^max_rows must be .*, or None; got max_rows=0\.$"),
        (lambda: One(shrinkage=2.0), r"^shrinkage must be above 0 and at most 1; got"),
        (lambda: One(n_init_rows=0), r"^n_init_rows must be .*; got n_init_rows=0\.$"),
    ],
)
def test_bad_values_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


ALL = {
    "selection": ALD(0.05),
    "update": One(2, shrinkage=0.5, series=Series(3, max_rows=20)),
    "early_stopping": EarlyStopping(0.2, n_iter_no_change=3),
}


def test_settings_are_values(tmp_path):
    model = fitted(**ALL)
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert {name: copy.get_params()[name] for name in ALL} == ALL
    path = tmp_path / "m.kboost"
    save_model(model.set_predict_dtype("float32"), path)
    again = load_model(path)
    assert again.get_params() == model.get_params()
    assert again.stop_reason_ == model.stop_reason_
    assert_array_equal(again.predict(X), model.predict(X))
    assert len({hash(value) for value in ALL.values()}) == 3


def test_every_setting_can_be_saved(tmp_path):
    model = fitted()
    for name in settings.__all__:
        model.set_params(selection=getattr(settings, name)())
        save_model(model, tmp_path / "m.kboost")
        assert load_model(tmp_path / "m.kboost").selection == model.selection


def test_settings_can_be_searched():
    grid = {"cells": [None, Cells(30), Cells(60, partitions=2)]}
    search = GridSearchCV(SparseKernelRegressor(KERNEL, ridge=0.01), grid, cv=2).fit(X, Y)
    assert search.best_params_["cells"] in grid["cells"]


@pytest.mark.parametrize("cls", [SparseKernelClassifier, SparseKernelRegressor])
def test_there_are_at_most_16_parameters(cls):
    assert len(inspect.signature(cls).parameters) <= 16


def test_methods_name_the_loss_they_require():
    model = SparseKernelClassifier()
    with pytest.raises(AttributeError) as raised:
        _ = model.set_params(loss="log").partial_fit
    cause = raised.value.__cause__
    assert str(cause) == "partial_fit requires loss='squared'; got loss='log'."
