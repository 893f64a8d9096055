"""The composite rivals: sums of kernels through every estimator, against independent solvers."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from kboost import KernelBoostClassifier, KernelBoostRegressor
from kboost.baselines import CompositeSVC, CompositeSVR, composite
from kboost.formulations import hinge, tube
from kboost.kernels import Gaussian, Linear, Polynomial, Sigmoid
from tests.contracts.reference import margin_lp, margin_qp, table

L, Q, R = Linear(), Polynomial(2, gamma=0.5), Gaussian(0.4)
SUMS = {"L+Q": L + Q, "L+R": L + R, "L+Q+R": L + Q + R}
NEW = np.random.default_rng(9).normal(size=(15, 3))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CompositeSVC(), CompositeSVR()])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_sum_through_the_classifier_is_the_optimum_of_the_full_problem(name, penalty):
    X, y, weight = table(1, n=40)
    model = KernelBoostClassifier(
        [SUMS[name]], penalty=penalty, C=0.5, column_scaling=None, tol=1e-8
    ).fit(X, y, weight)
    solve = margin_lp if penalty == "l1" else margin_qp
    optimum = solve(SUMS[name](X), hinge(y, weight, 0.5)).objective
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)
    assert model.columns_per_kernel_ == {repr(SUMS[name]): model.n_columns_}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_sum_through_the_regressor_is_the_optimum_of_the_full_problem(name, penalty):
    X, _, weight = table(2, n=30)
    y = X[:, 0] + np.sin(2 * X[:, 1])
    model = KernelBoostRegressor(
        [SUMS[name]], penalty=penalty, C=0.5, epsilon=0.1, column_scaling=None, tol=1e-8
    ).fit(X, y, weight)
    rows = tube(y, weight, 0.5, 0.1)
    K = SUMS[name](X)
    if penalty == "l1":  # the peer of the LP has a row a sample: give it each side as one
        sides = hinge(rows.signs, np.ones(60), 1.0)
        rows = type(sides)(rows.signs, rows.targets, rows.slack_costs)
        optimum = margin_lp(np.vstack([K, K]), rows).objective
    else:
        optimum = margin_qp(K, rows).objective
    assert model.objective_ == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("n_kernels", [2, 3])
def test_classifier_is_the_svm_on_the_sum(n_kernels):
    X, y, weight = table(3, n=60)
    kernels = [L, Q, R][:n_kernels]
    model = CompositeSVC(kernels, C=0.7, tol=1e-8).fit(X, y, weight)
    total = sum(kernel(X) for kernel in kernels)
    peer = SVC(kernel="precomputed", C=0.7, tol=1e-8).fit(total, y, weight)
    K = sum(kernel(NEW, X) for kernel in kernels)
    np.testing.assert_allclose(model.decision_function(NEW), peer.decision_function(K), atol=1e-5)
    assert model.n_columns_ == n_kernels * len(peer.support_)


def test_regressor_is_the_svm_on_the_sum():
    X, y = make_regression(50, 3, noise=1.0, random_state=0)
    y = y / y.std()
    model = CompositeSVR([L, R], C=0.7, epsilon=0.05, tol=1e-8).fit(X, y)
    peer = SVR(kernel="precomputed", C=0.7, epsilon=0.05, tol=1e-8).fit(L(X) + R(X), y)
    expected = peer.predict(L(NEW, X) + R(NEW, X))
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-5)


def test_no_split_over_the_kernels_is_cheaper():
    """The penalty of the head of the file, block by block, at other coefficients of the same f."""
    X, y, _ = table(4, n=25)
    model = CompositeSVC([Gaussian(0.5), Gaussian(2.0)], tol=1e-8).fit(X, y)
    one, other = Gaussian(0.5)(X), Gaussian(2.0)(X)
    coef = np.zeros(25)
    for center, value in zip(model.centers_, model.dual_coef_, strict=True):
        coef[np.flatnonzero((center == X).all(axis=1))] = value
    least = 0.5 * coef @ (one + other) @ coef
    for seed in range(5):
        step = np.random.default_rng(seed).normal(size=25)
        a, b = coef + step, coef - np.linalg.solve(other, one @ step)
        np.testing.assert_allclose(one @ a + other @ b, (one + other) @ coef, atol=1e-6)
        assert 0.5 * (a @ one @ a + b @ other @ b) >= least - 1e-9


def test_several_classes_precomputed_and_dense_agree():
    X, y = make_classification(90, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    kernels = [Gaussian(0.1), Gaussian(0.5)]
    model = CompositeSVC(kernels, tol=1e-8).fit(X, y)
    new = np.random.default_rng(0).normal(size=(20, 5))
    side_by_side = [np.hstack([kernel(rows, X) for kernel in kernels]) for rows in (X, new)]
    given = CompositeSVC("precomputed", tol=1e-8).fit(side_by_side[0], y)
    assert model.decision_function(new).shape == (20, 3)
    np.testing.assert_allclose(
        given.decision_function(side_by_side[1]), model.decision_function(new), atol=1e-5
    )


def test_kernels_that_are_not_psd_are_refused():
    X, y, _ = table(0)
    with pytest.raises(ValueError, match="kernels must be positive semidefinite"):
        CompositeSVC([Sigmoid()]).fit(X, y)


def test_a_class_without_weight_is_never_predicted():
    X, y, _ = table(2, n=40)
    labels = np.where(y > 0, "a", "b")
    labels[:3] = "c"
    some = labels != "c"
    model = CompositeSVC([R], tol=1e-8).fit(X, labels, some.astype(float))
    alone = CompositeSVC([R], tol=1e-8).fit(X[some], labels[some])
    assert set(model.classes_) == {"a", "b", "c"}
    np.testing.assert_array_equal(model.predict(NEW), alone.predict(NEW))


def test_libsvm_ends_where_it_cannot_converge(monkeypatch):
    """A polynomial of rows far from 0 has values of 1e16, whose differences are rounding."""
    monkeypatch.setattr(composite, "MOST_STEPS", 2000)
    X = np.random.default_rng(0).normal(size=(26, 2)) + 1e4
    y = X[:, 0] > 1e4
    with pytest.warns(ConvergenceWarning, match="max_iter=2000"):
        model = CompositeSVC([Polynomial(2, gamma=0.125)], tol=1e-8).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


def test_ctrl_c_while_probabilities_are_calibrated_changes_nothing(monkeypatch):
    X, y = make_classification(40, 4, random_state=0)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(composite, "left_out_svms", interrupt)
    model = CompositeSVC([Linear()])
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt, match="nothing has changed"):
        model.fit(X, y)
    assert vars(model) == before
