"""Sparse regression ensembles: CG-k, CG-ak, CG-LP, Bar-k, Bar-ak, Bar-LP."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from kboost import KernelBoostRegressor
from kboost.datasets import make_sinc
from kboost.kernels import Gaussian, Laplacian
from kboost.model_selection import path
from kboost.settings import ActiveGaussians, Barrier, ColumnGeneration, Halfspaces

EACH = pytest.mark.parametrize("base", ["auto", "active", "halfspaces"])
SETTINGS = {"cg": ColumnGeneration, "barrier": Barrier}
SOLVERS = pytest.mark.parametrize("solver", ["cg", "barrier"])


def problem(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.3 * rng.standard_t(3, size=n)
    return X, y, rng


@SOLVERS
@pytest.mark.parametrize("seed", range(12))
def test_nu_bounds_the_fraction_outside_the_tube(solver, seed):
    # Prop. 2, with the weights of the rows
    X, y, rng = problem(seed)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    nu = rng.uniform(0.1, 0.6)
    base = ("auto", "active", "halfspaces")[seed % 3]
    model = KernelBoostRegressor(base, solver=solver, nu=nu, C=0.1)
    model.fit(X, y, sample_weight=weight)
    assert model.epsilon_ > 0
    distance, share = np.abs(y - model.predict(X)), weight / weight.sum()
    rounding = 1e-6 * y.std()
    assert share @ (distance > model.epsilon_ + rounding) <= nu + 1e-9
    assert share @ (distance >= model.epsilon_ - rounding) >= nu - 1e-9


@SOLVERS
@EACH
@pytest.mark.parametrize("tube", [{"epsilon": 0.2}, {"nu": 0.4}])
def test_no_more_columns_than_rows(solver, base, tube):
    X, y, _ = problem(1, n=30)
    model = KernelBoostRegressor(base, solver=solver, C=5.0, **tube).fit(X, y)
    assert 0 < model.n_columns_ <= len(y)  # Corollary 4
    assert model.epsilon_ == tube.get("epsilon", model.epsilon_)


@pytest.mark.parametrize("tube", [{"epsilon": 0.2}, {"nu": 0.4}])
def test_both_solvers_find_the_optimum_of_the_full_program(tube):
    X, y, _ = problem(2)
    kernel, C, n = Gaussian(0.5), 0.7, len(y)
    K = kernel(X)
    nu = tube.get("nu")
    # coef+, coef-, bias+, bias-, epsilon, slacks of both sides
    A = np.block(
        [
            [K, -K, np.ones((n, 1)), -np.ones((n, 1)), np.ones((n, 1)), np.eye(n), 0 * np.eye(n)],
            [-K, K, -np.ones((n, 1)), np.ones((n, 1)), np.ones((n, 1)), 0 * np.eye(n), np.eye(n)],
        ]
    )
    cost = np.concatenate([np.ones(2 * n), [0, 0, C * (nu or 0.0) * n], np.full(2 * n, C)])
    bounds = [(0, None)] * len(cost)
    if nu is None:
        bounds[2 * n + 2] = (0.2, 0.2)
    full = linprog(cost, A_ub=-A, b_ub=-np.concatenate([y, -y]), bounds=bounds).fun
    for solver in ("cg", "barrier"):
        model = KernelBoostRegressor(
            [kernel], solver=solver, C=C, column_scaling=None, tol=1e-6, **tube
        ).fit(X, y)
        assert_allclose(model.objective_, full, rtol=2e-6)
        assert model.dual_gap_ <= 2e-6


@SOLVERS
def test_active_kernels_are_better_than_those_they_start_from(solver):
    X, y = make_sinc(60)
    shared = {"C": 5.0, "nu": 0.3, "solver": solver, "column_scaling": None}
    kernels = [Gaussian(0.02), Gaussian(0.5)]
    fixed = KernelBoostRegressor(kernels, **shared).fit(X, y)
    active = KernelBoostRegressor(ActiveGaussians(kernels, width_bounds=(0.4, 6.0)), **shared)
    active.fit(X, y)
    assert active.objective_ < fixed.objective_
    assert "as far as the search could see" in str(active.stop_reason_)
    assert active.widths_.shape == (active.n_columns_,)
    assert active.centers_.shape == (active.n_columns_, 1)
    assert (active.widths_ >= 0.4 - 1e-12).all()
    assert (active.widths_ <= 6.0 + 1e-12).all()
    assert active.columns_per_kernel_ == {"active Gaussian": active.n_columns_}
    # the model is what its attributes say
    square = (X - active.centers_.T) ** 2
    values = np.exp(-square / (2 * active.widths_**2)) @ active.dual_coef_ + active.intercept_
    assert_allclose(active.predict(X), values, atol=1e-9)


@SOLVERS
def test_halfspaces_show_the_features_they_use(solver):
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(60, 40)) + 3
    y = np.where(X[:, 4] + X[:, 7] > 6, 2.0, 0.0) + 0.1 * rng.normal(size=60)
    model = KernelBoostRegressor("halfspaces", solver=solver, C=0.07).fit(X, y)
    assert {4, 7} <= set(model.selected_features_)
    assert len(model.selected_features_) < 40
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    values = (z @ model.directions_.T > model.cuts_) @ model.dual_coef_ + model.intercept_
    assert_allclose(model.predict(X), values, atol=1e-9)
    assert model.centers_ is None
    sparser = KernelBoostRegressor(Halfspaces(sparsity=0.95), C=0.07).fit(X, y)
    per_column = [np.count_nonzero(m.directions_, axis=1).mean() for m in (sparser, model)]
    assert per_column[0] <= per_column[1]


def test_what_one_base_shows_is_gone_with_the_next():
    X, y, _ = problem(3, n=30)
    model = KernelBoostRegressor("halfspaces", C=1.0).fit(X, y)
    model.set_params(kernels="auto").fit(X, y)
    assert model.directions_ is None
    assert model.centers_ is not None


@EACH
def test_the_default_c_is_found_for_every_base(base):
    X, y, _ = problem(4, n=30)
    model = KernelBoostRegressor(base).fit(X, y)
    assert model.tuning_ is not None
    assert model.score(X, y) > 0.3


@SOLVERS
@EACH
def test_few_columns_and_rows_held_out(solver, base):
    X, y, _ = problem(5)
    few = KernelBoostRegressor(base, solver=solver, C=1.0, max_columns=4).fit(X, y)
    assert few.n_columns_ <= 4
    watched = KernelBoostRegressor(base, solver=SETTINGS[solver](early_stopping=0.3), C=1.0)
    errors = watched.fit(X, y).trace_.values("validation_error")
    assert np.isfinite(errors).all()


@EACH
def test_nothing_to_explain(base):
    X, _, _ = problem(6, n=20)
    for solver in ("cg", "barrier"):
        model = KernelBoostRegressor(base, solver=solver, C=1.0).fit(X, np.full(20, 2.5))
        assert model.n_columns_ == 0
        assert_allclose(model.predict(X), 2.5)


STRATIFIED, TR1 = ColumnGeneration(pricing="stratified"), ColumnGeneration(stop_at_errors=True)
CONTRADICTIONS = [
    ({"solver": "barrier", "penalty": "l2"}, "penalty must be 'l1' with solver='barrier'"),
    ({"kernels": "active", "penalty": "l2"}, "penalty must be 'l1' with kernels='active'"),
    ({"kernels": Halfspaces(), "penalty": "l2"}, "penalty must be 'l1' with kernels=Halfspaces"),
    ({"kernels": "active", "solver": STRATIFIED}, "pricing must be 'scan' with kernels='active'"),
    ({"kernels": "halfspaces", "solver": TR1}, "stop_at_errors must be False with kernels='half"),
    ({"kernels": ActiveGaussians([Laplacian()])}, "ActiveGaussians must be Gaussians"),
    ({"kernels": ActiveGaussians([Gaussian(on="ranks")])}, "ActiveGaussians must be Gaussians"),
    ({"epsilon": 0.1, "nu": 0.5}, "epsilon must be None with nu"),
    ({"solver": "newton"}, "solver must be 'cg', 'barrier', a ColumnGeneration or a Barrier"),
]


@pytest.mark.parametrize("solver", ["cg", "barrier"])
def test_one_halfspace_a_step_where_one_is_allowed(solver):
    X, y, _ = problem(7, n=20)
    most = []
    for per_step in ("auto", 1):
        model = KernelBoostRegressor(
            "halfspaces",
            solver=SETTINGS[solver](columns_per_step=per_step),
            C=1.0,
            intercept="none",
        ).fit(X, y)
        most.append(np.diff(model.trace_.values("n_columns")).max())
    assert most == [2, 1]


@pytest.mark.parametrize(("parameters", "message"), CONTRADICTIONS)
def test_contradictions_are_refused_by_a_sentence_that_names_both_sides(parameters, message):
    X, y, _ = problem(7, n=20)
    with pytest.raises(ValueError, match=message):
        KernelBoostRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "parameters", [{"kernels": "active"}, {"kernels": Halfspaces()}, {"solver": "barrier"}]
)
def test_a_path_is_for_one_library_and_one_warm_solver(parameters):
    X, y, _ = problem(8, n=20)
    with pytest.raises(ValueError, match="on a path"):
        path(KernelBoostRegressor(**parameters), X, y)


def test_a_row_given_twice_is_a_row_of_weight_two():
    X, y, _ = problem(9, n=25)
    weight = np.ones(25)
    weight[:7] = 2.0
    for base in ("active", "halfspaces"):
        twice = KernelBoostRegressor(base, C=0.5).fit(np.r_[X, X[:7]], np.r_[y, y[:7]])
        once = KernelBoostRegressor(base, C=0.5).fit(X, y, sample_weight=weight)
        assert_array_equal(twice.predict(X), once.predict(X))
