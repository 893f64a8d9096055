"""Newton's method with truncated conjugate gradients."""

import numpy as np
import pytest

from kboost.solvers.newton_cg import Model, minimise, remaining_gain

RNG = np.random.default_rng(0)
A = RNG.normal(size=(30, 5))
B = RNG.normal(size=(5, 3))
H = A.T @ A + 0.1 * np.eye(5)


def test_a_quadratic_with_its_own_matrix_takes_one_step():
    points = []

    def model_at(z):
        points.append(z)
        return Model(
            0.5 * float(np.sum(z * (H @ z))) - float(np.sum(B * z)), H @ z - B, lambda v: H @ v
        )

    found, converged = minimise(model_at, lambda r: np.linalg.solve(H, r), np.zeros((5, 3)))
    np.testing.assert_allclose(found, np.linalg.solve(H, B), rtol=1e-8)
    assert converged
    assert len(points) == 2


@pytest.mark.parametrize("precondition", [lambda r: r, lambda r: np.linalg.solve(H / 4, r)])
def test_a_logistic_loss_ends_where_its_gradient_does(precondition):
    y = np.sign(RNG.normal(size=(30, 3)))

    def model_at(z):
        p = 1 / (1 + np.exp(y * (A @ z)))
        curvature = p * (1 - p)
        value = float(np.sum(np.logaddexp(0, -y * (A @ z)))) + 0.05 * float(np.sum(z**2))
        return Model(
            value, -A.T @ (y * p) + 0.1 * z, lambda v: A.T @ (curvature * (A @ v)) + 0.1 * v
        )

    found, converged = minimise(model_at, precondition, np.zeros((5, 3)), tol=1e-12)
    assert converged
    assert np.abs(model_at(found).gradient).max() < 1e-4


def test_a_step_too_long_is_halved():
    def model_at(z):  # sqrt(1 + z^2): Newton's full step overshoots far from 0
        root = np.sqrt(1 + z**2)
        return Model(float(root.sum()), z / root, lambda v: v / root**3)

    found, _ = minimise(model_at, lambda r: r, np.full((1, 1), 3.0), tol=1e-12)
    assert abs(found[0, 0]) < 1e-4


def test_before_step_can_end_it():
    def over():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        minimise(
            lambda z: Model(float(np.sum(z**2)), 2 * z, lambda v: 2 * v),
            lambda r: r,
            np.ones((2, 1)),
            before_step=over,
        )


def test_the_remaining_gain_of_a_quadratic():
    z = RNG.normal(size=(5, 3))
    best = np.linalg.solve(H, B)
    away = 0.5 * float(np.sum((z - best) * (H @ (z - best))))
    model = Model(1.0, H @ z - B, lambda v: H @ v)
    assert remaining_gain(model, lambda r: r, 20, inner_tol=1e-16) == pytest.approx(away)
    assert 0.0 < remaining_gain(model, lambda r: r, 1) < away
    assert remaining_gain(model, lambda r: r, 20, go_on=lambda: False) < away


def test_a_limit_is_not_convergence():
    def model_at(z):
        return Model(0.5 * float(np.sum(z * (H @ z))), H @ z, lambda v: H @ v)

    _, converged = minimise(model_at, lambda r: r, np.ones((5, 1)), max_steps=1)
    assert not converged
