"""KernelBoostRegressor: the optimum of every tube, the fitted width, the invariances."""

import clarabel
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.svm import SVR

from kboost import KernelBoostRegressor
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.settings import ColumnGeneration

LIBRARY = [Linear(), Polynomial(2), Gaussian()]
NU = 0.3


@pytest.fixture(scope="module")
def friedman():
    X, y = make_friedman1(60, n_features=5, noise=0.5, random_state=0)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    return X, y, weight


def unit_columns(model, X, weight):
    columns = np.hstack([k(X, X) for k in model.kernels_])
    rms = np.sqrt(weight @ columns**2 / weight.sum())
    return columns / np.maximum(rms, 0.3 * np.abs(columns).max(axis=0))


def full_lp(H, y, cap, *, epsilon, price, nonnegative, intercept):
    """Variables coef+, coef-, bias+, bias-, width, slack above, slack below."""
    n, m = H.shape
    one = np.ones((n, 1))
    values = np.hstack([H, -H, one, -one])
    eye, zero = np.eye(n), np.zeros((n, n))
    above = np.hstack([values, one, eye, zero])  # f + width + slack >= y - epsilon
    below = np.hstack([-values, one, zero, eye])
    bias = {"free": 0.0, "penalized": 1.0, "none": 0.0}[intercept]
    cost = np.concatenate([np.ones(2 * m), [bias, bias], [price or 0.0], cap, cap])
    upper = np.full(len(cost), np.inf)
    if nonnegative:
        upper[m : 2 * m] = 0.0
    if intercept == "none":
        upper[2 * m : 2 * m + 2] = 0.0
    if price is None:
        upper[2 * m + 2] = 0.0
    right = np.concatenate([y - epsilon, -y - epsilon])
    found = linprog(
        cost,
        A_ub=-np.vstack([above, below]),
        b_ub=-right,
        bounds=np.column_stack([np.zeros(len(cost)), upper]),
        method="highs",
    )
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("tube", [{"epsilon": 0.5}, {"epsilon": 0.0}, {"nu": NU}])
@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_optimum_equals_the_full_lp(friedman, tube, intercept, nonnegative):
    X, y, weight = friedman
    C = 0.5
    model = KernelBoostRegressor(
        LIBRARY, C=C, intercept=intercept, nonnegative=nonnegative, tol=1e-9, **tube
    ).fit(X, y, sample_weight=weight)
    price = C * NU * weight.sum() if "nu" in tube else None
    optimum = full_lp(
        unit_columns(model, X, weight),
        y,
        C * weight,
        epsilon=tube.get("epsilon", 0.0),
        price=price,
        nonnegative=nonnegative,
        intercept=intercept,
    )
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert 0 <= model.dual_gap_ <= 1e-6
    if "epsilon" in tube:
        assert model.epsilon_ == tube["epsilon"]


def test_large_tables_take_the_way_from_the_inside_to_the_same_optimum():
    X, y = make_friedman1(260, n_features=5, noise=0.5, random_state=1)
    for tube in ({"epsilon": 0.3}, {"nu": NU}):
        model = KernelBoostRegressor(LIBRARY, C=0.3, tol=1e-8, **tube).fit(X, y)
        price = 0.3 * NU * len(y) if "nu" in tube else None
        optimum = full_lp(
            unit_columns(model, X, np.ones(len(y))),
            y,
            np.full(len(y), 0.3),
            epsilon=tube.get("epsilon", 0.0),
            price=price,
            nonnegative=False,
            intercept="free",
        )
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
        assert model.dual_gap_ <= 1e-6


def full_qp(H, y, cap, epsilon):
    """1/2 |coef|^2 + cap (slack + slack*), free bias, by Clarabel."""
    n, m = H.shape
    eye, zero, one = sparse.eye(n), sparse.csr_matrix((n, n)), np.ones((n, 1))
    P = sparse.block_diag([sparse.eye(m), sparse.csr_matrix((1 + 2 * n, 1 + 2 * n))], format="csc")
    A = sparse.bmat(
        [
            [sparse.csr_matrix(-H), -one, -eye, zero],
            [sparse.csr_matrix(H), one, zero, -eye],
            [None, None, -eye, None],
            [None, None, None, -eye],
        ],
        format="csc",
    )
    b = np.concatenate([epsilon - y, epsilon + y, np.zeros(2 * n)])
    q = np.concatenate([np.zeros(m + 1), cap, cap])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.triu(P, format="csc"), q, A, b, [clarabel.NonnegativeConeT(4 * n)], settings
    )
    return solver.solve().obj_val


def test_the_2_norm_tube_equals_clarabel_and_an_svr(friedman):
    X, y, _ = friedman
    C, epsilon = 0.05, 0.5
    model = KernelBoostRegressor(
        LIBRARY,
        penalty="l2",
        C=C,
        epsilon=epsilon,
        tol=1e-10,
        solver=ColumnGeneration(columns_per_step=30),
    ).fit(X, y)
    H = unit_columns(model, X, np.ones(len(y)))
    assert model.objective_ == pytest.approx(full_qp(H, y, np.full(len(y), C), epsilon), rel=1e-6)
    svr = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8).fit(H @ H.T, y)
    np.testing.assert_allclose(model.predict(X), svr.predict(H @ H.T), atol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_nu_bounds_the_rows_outside_the_tube(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(80, 1))
    y = np.sinc(X[:, 0]) + 0.3 * rng.normal(size=80)
    nu = rng.uniform(0.2, 0.8)
    model = KernelBoostRegressor([Gaussian()], C=0.5, nu=nu, tol=1e-9).fit(X, y)
    assert model.epsilon_ > 0
    off, slack = np.abs(y - model.predict(X)), 1e-6 * y.std()
    assert np.mean(off > model.epsilon_ + slack) <= nu + 1e-9
    assert np.mean(off >= model.epsilon_ - slack) >= nu - 1e-9


def test_a_row_given_twice_equals_weight_two_and_order_does_not_matter(friedman):
    X, y, _ = friedman
    rng = np.random.default_rng(1)
    count = rng.integers(0, 3, len(y))
    repeated = rng.permutation(np.repeat(np.arange(len(y)), count))
    model = KernelBoostRegressor(LIBRARY)
    weighted = clone(model).fit(X, y, sample_weight=count.astype(float))
    again = clone(model).fit(X[repeated], y[repeated])
    assert pytest.approx(again.C_) == weighted.C_
    np.testing.assert_allclose(weighted.predict(X), again.predict(X), atol=1e-6)


def test_scaling_the_target_scales_the_model(friedman):
    X, y, _ = friedman
    one = KernelBoostRegressor(LIBRARY, C=0.5, tol=1e-9).fit(X, y)
    ten = KernelBoostRegressor(LIBRARY, C=0.5, tol=1e-9).fit(X, 10 * y)
    assert ten.objective_ == pytest.approx(10 * one.objective_, rel=1e-6)
    assert ten.epsilon_ == pytest.approx(10 * one.epsilon_, rel=1e-4, abs=1e-6)


def test_both_widths_are_refused(friedman):
    X, y, _ = friedman
    with pytest.raises(ValueError, match=r"^epsilon must be None with nu.*epsilon=0\.1"):
        KernelBoostRegressor(epsilon=0.1, nu=0.5).fit(X, y)
