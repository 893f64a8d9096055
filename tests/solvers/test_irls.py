"""Newton's method on a basis against a general minimiser and the dual value."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kboost.masters.losses import LOSSES
from kboost.solvers import irls
from kboost.solvers.irls import reweighted_solve
from tests.contracts.reference import ridge_bound

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.sign(np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2], X[:, 0] - X[:, 1]]))
OFFSET = 0.1 * RNG.normal(size=(150, 2))
FEW = slice(0, 120, 3)


def basis(gamma):
    F = np.exp(-gamma * ((X[:, None] - X[FEW]) ** 2).sum(axis=2))
    return F, F[FEW]


def weights(spread):
    return np.exp(np.random.default_rng(1).uniform(0, np.log(spread), 150))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_the_optimum_is_that_of_a_general_minimiser(loss, bias):
    F, Q = basis(1.0)
    loss, weight, ridge = LOSSES[loss], weights(10.0), 0.1
    start = RNG.normal(size=(40 + bias, 2))
    found, left = reweighted_solve(F, Q, Y, OFFSET, weight, ridge, loss, start, bias=bias)
    assert left == 0.0
    for k in range(2):

        def objective(z, k=k):
            coef = z[int(bias) :]
            f = OFFSET[:, k] + F @ coef + (z[0] if bias else 0.0)
            slope = weight * loss.slope(Y[:, k], f)
            gradient = ridge * Q @ coef - F.T @ slope
            gradient = np.concatenate([[-slope.sum()], gradient]) if bias else gradient
            return weight @ loss.value(Y[:, k], f) + 0.5 * ridge * coef @ Q @ coef, gradient

        best = minimize(
            objective,
            np.zeros(40 + bias),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-10},
        )
        assert objective(found[:, k])[0] <= best.fun * (1 + 1e-9)


@pytest.mark.parametrize("spread", [1.0, 1e3])
@pytest.mark.parametrize(
    ("gamma", "ridge"), [(0.1, 1.0), (0.1, 1e-4), (0.1, 1e-8), (0.01, 1.0), (0.01, 1e-6)]
)
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_the_dual_value_proves_the_optimum(loss, gamma, ridge, spread):
    F, Q = basis(gamma)
    loss, weight, y, offset = LOSSES[loss], weights(spread), Y[:, 0], OFFSET[:, 0]
    z, left = reweighted_solve(
        F, Q, Y[:, :1], OFFSET[:, :1], weight, ridge, loss, np.zeros((41, 1)), bias=True
    )
    assert left == 0.0
    bias, coef = z[0, 0], z[1:, 0]
    f = offset + bias + F @ coef
    slope = weight * loss.slope(y, f)
    assert abs(slope.sum()) <= 1e-4 * np.abs(slope).sum()
    value = weight @ loss.value(y, f) + 0.5 * ridge * coef @ Q @ coef
    bound = ridge_bound(F, Q, y, offset, weight, loss, ridge, coef, bias)
    assert bound >= value * (1 - 1e-4)


def test_an_early_end_returns_the_remaining_gain():
    F, Q = basis(0.1)
    start, loss = np.zeros((41, 2)), LOSSES["log"]
    same, left = reweighted_solve(
        F, Q, Y, OFFSET, weights(1.0), 1e-3, loss, start, bias=True, go_on=lambda: False
    )
    np.testing.assert_array_equal(same, start)
    found, _ = reweighted_solve(F, Q, Y, OFFSET, weights(1.0), 1e-3, loss, start, bias=True)

    def value(z):
        loss_there = np.sum(loss.value(Y, OFFSET + z[0] + F @ z[1:]))
        return loss_there + 0.5e-3 * np.sum(z[1:] * (Q @ z[1:]))

    assert left == pytest.approx(value(start) - value(found), rel=0.5)


def test_a_step_that_rises_is_not_taken(monkeypatch):
    """What is left is told of the point that stands."""
    F, Q = basis(0.1)
    given = (F, Q, Y, OFFSET, weights(1.0), 1e-3, LOSSES["log"], np.zeros((41, 2)))
    _, expected = reweighted_solve(*given, bias=True, go_on=lambda: False)
    monkeypatch.setattr(irls._Output, "length", lambda *_: 1e3)
    same, left = reweighted_solve(*given, bias=True)
    np.testing.assert_array_equal(same, 0.0)
    assert left == pytest.approx(expected, rel=1e-12)


def test_rows_beyond_their_margin_have_no_curvature():
    """From where no row has a loss, the penalty alone pulls back to the optimum."""
    F, Q = basis(1.0)
    exact = np.sign(F @ np.linalg.solve(Q, RNG.normal(size=(40, 1))))
    start = np.vstack([[[0.0]], np.linalg.lstsq(F, 50.0 * exact, rcond=1e-10)[0]])
    ends = [
        reweighted_solve(F, Q, exact, 0 * exact, weights(1.0), 1e-2, LOSSES["hinge"], z, bias=True)[
            0
        ]
        for z in (start, 0 * start)
    ]
    np.testing.assert_allclose(F @ ends[0][1:], F @ ends[1][1:], atol=1e-3)
