"""nu in place of C, and one class: against libsvm and against the full LP."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_moons
from sklearn.svm import NuSVC

from kboost import KernelBoostClassifier, KernelBoostNovelty
from kboost.kernels import Gaussian, Linear, Polynomial
from kboost.settings import ColumnGeneration, EarlyStopping

LIBRARY = [Linear(), Polynomial(2), Gaussian()]


@pytest.fixture(scope="module")
def moons():
    return make_moons(70, noise=0.25, random_state=3)


def bounded_lp(H, signs, caps, *, nonnegative, free_bias):
    """max rho - caps'slack, sum|coef| <= 1; variables coef+, coef-, bias+, bias-, rho, slack."""
    n, m = H.shape
    g = signs[:, None] * np.hstack([H, -H, np.ones((n, 1)), -np.ones((n, 1))])
    rows = np.hstack([-g, np.ones((n, 1)), -np.eye(n)])
    norm = np.concatenate([np.ones(2 * m), np.zeros(3 + n)])[None, :]
    cost = np.concatenate([np.zeros(2 * m + 2), [-1.0], caps])
    upper = np.full(len(cost), np.inf)
    if nonnegative:
        upper[m : 2 * m] = 0.0
    if not free_bias:
        upper[2 * m : 2 * m + 2] = 0.0
    found = linprog(
        cost,
        A_ub=np.vstack([rows, norm]),
        b_ub=np.append(np.zeros(n), 1.0),
        bounds=np.column_stack([np.zeros(len(cost)), upper]),
        method="highs",
    )
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("nu", [0.2, 0.6])
@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_1_norm_equals_the_full_lp(moons, nu, intercept, nonnegative):
    X, y = moons
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = KernelBoostClassifier(
        LIBRARY, nu=nu, intercept=intercept, nonnegative=nonnegative, tol=1e-9,
        column_scaling=None,
    ).fit(X, y, sample_weight=weight)  # fmt: skip
    H = np.hstack([k(X, X) for k in model.kernels_])
    optimum = bounded_lp(
        H, 2.0 * y - 1, weight / (nu * weight.sum()),
        nonnegative=nonnegative, free_bias=intercept == "free",
    )  # fmt: skip
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert model.dual_gap_ <= 1e-7
    inside = (2.0 * y - 1) * model.decision_function(X) < 1 - 1e-6
    assert weight[inside].sum() / weight.sum() <= nu + 1e-9


def test_the_2_norm_is_libsvms(moons):
    X, y = moons
    nu = 0.41  # not a whole number of rows: where it is, rho is not unique
    model = KernelBoostClassifier(
        LIBRARY, nu=nu, penalty="l2", tol=1e-11, solver=ColumnGeneration(columns_per_step=30)
    ).fit(X, y)
    columns = np.hstack([k(X, X) for k in model.kernels_])
    rms = np.sqrt((columns**2).mean(axis=0))
    H = columns / np.maximum(rms, 0.3 * np.abs(columns).max(axis=0))
    svc = NuSVC(nu=nu, kernel="precomputed", tol=1e-9).fit(H @ H.T, y)
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(H @ H.T), atol=1e-4
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": 0.3, "C": 1.0}, r"^C must be 'auto' with nu.*got C=1\.0, nu=0\.3\.$"),
        ({"nu": 1.5}, r"^nu must be above 0 and at most 1, or None; got nu=1\.5\.$"),
        ({"nu": 0.3, "intercept": "penalized"}, r"^intercept must be 'free' or 'none' with nu"),
        ({"nonnegative": True, "intercept": "none", "kernels": [Gaussian()]}, r"one class only"),
    ],
)
def test_contradictions_are_refused(moons, options, message):
    with pytest.raises(ValueError, match=message):
        KernelBoostClassifier(**options).fit(*moons)


def test_nu_beyond_the_smaller_class_is_refused():
    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], [18, 2])
    with pytest.raises(
        ValueError, match=r"^nu must be at most twice the weight fraction .* 0\.2, with"
    ):
        KernelBoostClassifier([Linear()], nu=0.5).fit(X, y)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_novelty_is_the_full_lp_and_nu_bounds_the_rows_outside(nu):
    rng = np.random.default_rng(1)
    X, weight = rng.normal(size=(80, 2)), rng.uniform(0.5, 2.0, 80)
    model = KernelBoostNovelty(nu=nu, tol=1e-9).fit(X, sample_weight=weight)
    H = model.kernels_[0](X, X)
    optimum = bounded_lp(
        H, np.ones(80), weight / (nu * weight.sum()), nonnegative=True, free_bias=False
    )
    assert model.objective_ == pytest.approx(optimum, rel=1e-7)
    assert (model.dual_coef_ >= 0).all()
    outside = model.predict(X) < 0
    assert weight[outside].sum() / weight.sum() <= nu + 1e-9
    assert (model.predict([[0.0, 0.0], [8.0, 8.0]]) == [1, -1]).all()
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


@pytest.mark.parametrize("nu", [0.1, 0.2])
def test_rows_on_the_margin_are_no_novelties(nu):
    """On a grid every row may lie there; rounding must not decide."""
    X = np.random.default_rng(1).integers(-1, 2, size=(32, 2)).astype(float)
    model = KernelBoostNovelty([Gaussian(2.0)], nu=nu).fit(X)
    assert np.mean(model.predict(X) < 0) <= nu


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_step_that_held_out_rows_chose_has_the_margin_one_too(moons, penalty):
    """As everywhere: nu bounds the share of rows below the margin, which is 1."""
    X, y = moons
    nu = 0.5
    model = KernelBoostClassifier(
        LIBRARY,
        nu=nu,
        penalty=penalty,
        solver=ColumnGeneration(early_stopping=EarlyStopping(None, n_iter_no_change=3)),
    )
    model.fit(X, y, X_val=X[::3], y_val=y[::3])
    margins = np.where(y == model.classes_[1], 1.0, -1.0) * model.decision_function(X)
    assert np.mean(margins < 1.0 - 1e-6) <= nu + 1e-9
    assert np.mean(margins <= 1.0 + 1e-6) >= nu - 1e-9


def test_novelty_takes_a_name_as_the_kernel_of_that_name(moons):
    X, _ = moons
    named, listed = KernelBoostNovelty("laplacian").fit(X), KernelBoostNovelty(["laplacian"]).fit(X)
    assert named.kernels_ == listed.kernels_
    with pytest.raises(ValueError, match="kernels must be one of"):
        KernelBoostNovelty("gaussian").fit(X)


def test_novelty_on_precomputed_kernels(moons):
    X, _ = moons
    K = Gaussian(0.5)(X, X)
    direct = KernelBoostNovelty([Gaussian(0.5)]).fit(X)
    precomputed = KernelBoostNovelty("precomputed").fit(K)
    np.testing.assert_allclose(
        precomputed.decision_function(K), direct.decision_function(X), atol=1e-9
    )
