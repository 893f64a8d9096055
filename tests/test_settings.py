"""Settings: checked when made; values that can be cloned, pickled and searched over."""

import pickle
from dataclasses import FrozenInstanceError

import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.kernels import Gaussian
from kboost.settings import (
    ActiveGaussians,
    Barrier,
    ColumnGeneration,
    EarlyStopping,
    Halfspaces,
    Quantile,
)

BAD = [
    (
        ColumnGeneration,
        {"pricing": "random"},
        "pricing must be 'scan' or 'stratified'; got",
    ),
    (
        ColumnGeneration,
        {"columns_per_step": 0},
        "columns_per_step must be an integer of at least 1",
    ),
    (ColumnGeneration, {"stop_at_errors": 1}, "stop_at_errors must be True or False; got stop_at"),
    (ColumnGeneration, {"memory_budget": -1}, "memory_budget must be an integer of at least 1"),
    (
        ColumnGeneration,
        {"early_stopping": 1.0},
        "early_stopping must be a fraction strictly",
    ),
    (Barrier, {"columns_per_step": "few"}, "columns_per_step must be an integer of at least 1"),
    (EarlyStopping, {"validation_fraction": 1.0}, "validation_fraction must be strictly between 0"),
    (EarlyStopping, {"n_iter_no_change": 0}, "n_iter_no_change must be an integer of at least 1"),
    (Halfspaces, {"sparsity": 1.0}, "sparsity must be strictly between 0 and 1"),
    (Quantile, {"quantile": 90}, "quantile must be strictly between 0 and 1; got quantile=90"),
    (ActiveGaussians, {"width_bounds": (2.0, 1.0)}, "width_bounds must be two rising widths"),
    (ActiveGaussians, {"width_bounds": (1e-200, 1.0)}, "width_bounds must be two .* 1e-100"),
    (ActiveGaussians, {"width_bounds": (1.0, 1e200)}, "width_bounds must be two .* 1e100"),
    (ActiveGaussians, {"kernels": "precomputed"}, "kernels must be 'auto' or a list of Gaussians"),
]
VALUES = [
    ColumnGeneration("stratified", 3, early_stopping=EarlyStopping(0.2)),
    Barrier(early_stopping=0.3),
    ActiveGaussians([Gaussian(0.5)], (0.1, 2.0)),
    Halfspaces(0.9),
    Quantile(0.9),
]


@pytest.mark.parametrize(("settings", "options", "message"), BAD)
def test_bad_values_are_refused_when_settings_are_made(settings, options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        settings(**options)


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_settings_are_values(value):
    names = {ActiveGaussians: "kernels", Halfspaces: "kernels", Quantile: "epsilon"}
    name = names.get(type(value), "solver")
    model = KernelBoostRegressor(**{name: value})
    assert clone(model).get_params()[name] == value
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(FrozenInstanceError):
        value.extra = 1


def test_a_grid_search_goes_over_them():
    X, y = make_moons(60, noise=0.2, random_state=0)
    grid = {"solver": ["cg", ColumnGeneration(pricing="stratified", columns_per_step=2)]}
    search = GridSearchCV(KernelBoostClassifier(["rbf"], C=1.0), grid, cv=2).fit(X, y)
    assert search.best_params_["solver"] in grid["solver"]


def test_a_fraction_is_short_for_early_stopping():
    assert EarlyStopping.of(0.3) == EarlyStopping(0.3)
    assert EarlyStopping.of(None) is None
