"""The dual over a matrix of products: the optimum, its certificate, rows left out."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC, SVR

from kboost.solvers.gram_dual import GramDual
from kboost.solvers.margin_lp import MarginData
from kboost.solvers.margin_qp import MarginQP

RNG = np.random.default_rng(5)
N = 80
X = RNG.normal(size=(N, 3))
H = np.hstack([X, np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))])
K = np.ascontiguousarray(H @ H.T)
LABELS = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0, 1.0, -1.0)
VALUES = X[:, 1] ** 2 + 0.2 * RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 2.0, size=N)


def hinge(upper):
    return GramDual(K, LABELS, np.ones(N), upper)


def tube(upper, epsilon):
    signs = np.repeat([1.0, -1.0], N)
    targets = signs * np.tile(VALUES, 2) - epsilon
    return GramDual(K, signs, targets, np.tile(upper, 2), np.tile(np.arange(N), 2))


def optimum_over_columns(problem):
    rows = MarginData(problem.signs, problem.targets, problem.upper, False, "free")
    qp = MarginQP(rows, np.zeros(len(problem.signs)), problem.sample)
    qp.extend(H)
    found = qp.solve().checked()
    decision = H @ found.coef + found.bias
    per_row = decision if problem.sample is None else decision[problem.sample]
    slack = np.maximum(0.0, problem.targets - problem.signs * per_row)
    return 0.5 * found.coef @ found.coef + problem.upper @ slack


@pytest.mark.parametrize("C", [0.01, 0.3, 5.0])
def test_the_weighted_hinge_equals_the_program_over_columns_and_libsvm(C):
    problem = hinge(C * WEIGHTS)
    point = problem.solve(1e-9)
    assert point.gap <= 1e-9
    assert point.primal == pytest.approx(optimum_over_columns(problem), rel=1e-8)
    svc = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(point.values + point.bias, svc.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("C", [0.01, 0.3])
def test_the_weighted_tube_equals_the_program_over_columns_and_libsvm(C, epsilon):
    problem = tube(C * WEIGHTS, epsilon)
    point = problem.solve(1e-9)
    assert point.gap <= 1e-9
    assert point.primal == pytest.approx(optimum_over_columns(problem), rel=1e-8)
    svr = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8)
    svr.fit(K, VALUES, sample_weight=WEIGHTS)
    np.testing.assert_allclose(point.values + point.bias, svr.predict(K), atol=1e-4)


def test_the_weighted_hinge_equals_a_general_solver_on_its_dual():
    problem = hinge(0.3 * WEIGHTS)
    Q = LABELS[:, None] * K * LABELS
    found = minimize(
        lambda u: 0.5 * u @ Q @ u - u.sum(),
        np.zeros(N),
        jac=lambda u: Q @ u - 1.0,
        bounds=[(0.0, top) for top in problem.upper],
        constraints={"type": "eq", "fun": lambda u: LABELS @ u, "jac": lambda u: LABELS},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    point = problem.solve(1e-9)
    assert point.dual == pytest.approx(-found.fun, rel=1e-7)
    assert point.primal == pytest.approx(-found.fun, rel=1e-7)


def test_the_certificate_holds_for_any_duals():
    problem = hinge(0.3 * WEIGHTS)
    best = problem.solve(1e-9)
    for seed in range(10):
        guess = np.random.default_rng(seed).uniform(-0.2, 1.2, size=N) * problem.upper
        point = problem.point(guess)
        assert point.dual <= best.primal * (1 + 1e-9)
        assert point.primal >= best.dual * (1 - 1e-9)
        assert (point.duals >= 0).all()
        assert (point.duals <= problem.upper).all()
        assert abs(point.weights.sum()) <= 1e-12 * problem.upper.sum()


def test_a_row_without_cost_is_left_out():
    left_out = np.arange(N) % 5 == 0
    kept = np.flatnonzero(~left_out)
    point = hinge(np.where(left_out, 0.0, 0.3)).solve(1e-9)
    without = GramDual(
        np.ascontiguousarray(K[np.ix_(kept, kept)]), LABELS[kept], np.ones(len(kept)),
        np.full(len(kept), 0.3),
    ).solve(1e-9)  # fmt: skip
    assert point.primal == pytest.approx(without.primal, rel=1e-8)
    assert not point.weights[left_out].any()


def test_a_good_guess_needs_no_other_solver():
    best = hinge(0.3 * WEIGHTS).solve(1e-9)
    again = hinge(0.3 * WEIGHTS).from_guess(best.duals, 1e-9)
    assert again is not None
    assert again.gap <= 1e-9
    assert again.primal == pytest.approx(best.primal, rel=1e-9)


def test_without_time_the_gap_says_how_far_it_came():
    point = hinge(0.3 * WEIGHTS).solve(0.0, seconds=0.0)
    best = hinge(0.3 * WEIGHTS).solve(1e-9)
    assert point.primal - best.primal <= point.gap * point.primal * (1 + 1e-9) + 1e-12
