"""Damped Newton steps against SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from kboost.solvers.damped_newton import DampedNewton


class Rounded:
    """`sum_i log cosh(a_i'x - b_i) + 1/2 |x|^2 - sum_j log x_j` on x > 0."""

    def __init__(self, A, b):
        self.A, self.b = A, b
        self.curvatures = 0

    def value(self, x):
        z = self.A @ x - self.b
        return float((np.logaddexp(z, -z)).sum() + 0.5 * x @ x - np.log(x).sum())

    def gradient(self, x):
        return self.A.T @ np.tanh(self.A @ x - self.b) + x - 1 / x

    def reach(self, x, direction):
        falling = direction < 0
        return float(np.min(-x[falling] / direction[falling], initial=np.inf))

    def curvature(self, x):
        self.curvatures += 1
        own = np.ones(self.A.shape[1])
        own[: len(x)] = x
        z = self.A[:, : len(x)] @ x - self.b
        return 1 - np.tanh(z) ** 2, 1 + 1 / own**2

    def block(self, curvature, rows, columns):
        bend, own = curvature
        out = self.A[:, rows].T @ (bend[:, None] * self.A[:, columns])
        return out + np.diag(own)[np.ix_(rows, columns)]


@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_another_method(seed):
    rng = np.random.default_rng(seed)
    g = Rounded(rng.normal(size=(20, 6)), 3 * rng.normal(size=20))
    x, left = DampedNewton().minimise(g, np.full(6, 5.0), tol=1e-9, max_steps=200)
    assert left <= 1e-9
    assert np.abs(g.gradient(x)).max() <= 1e-7
    other = minimize(g.value, np.ones(6), jac=g.gradient, bounds=[(1e-9, None)] * 6, tol=1e-12)
    assert_allclose(g.value(x), other.fun, rtol=1e-9)
    assert (x > 0).all()


def test_a_factor_that_reduces_the_gradient_is_kept():
    rng = np.random.default_rng(0)
    A, b = 0.02 * rng.normal(size=(20, 6)), rng.normal(size=20)
    newton, g = DampedNewton(), Rounded(A, b)
    few = Rounded(A[:, :4], b)
    few.curvature = g.curvature  # its blocks serve the variables to come
    start, _ = newton.minimise(few, np.ones(4), tol=1e-10, max_steps=100)
    newton.forget()
    newton.minimise(few, start, tol=0.0, max_steps=1)
    asked = g.curvatures
    _, left = newton.minimise(g, np.append(start, [0.95, 1.05]), tol=1e-3, max_steps=100)
    assert left <= 1e-3
    assert g.curvatures == asked
    assert newton._factor.size == 6


def test_it_ends_at_the_minimum():
    g = Rounded(np.eye(2), np.zeros(2))
    x, left = DampedNewton().minimise(g, np.ones(2), tol=0.0, max_steps=500)
    assert left == 0.0
    assert np.abs(g.gradient(x)).max() < 1e-7


def test_weak_directions_of_a_nearly_singular_hessian():
    """The jitter of the factor is a hundred times the curvature along two of them."""
    rng = np.random.default_rng(1)
    A = 1e6 * rng.normal(size=(4, 6))

    class Steep(Rounded):
        def value(self, x):
            return 0.5 * float((A @ x - self.b) @ (A @ x - self.b)) + super().value(x)

        def gradient(self, x):
            return A.T @ (A @ x - self.b) + super().gradient(x)

        def block(self, curvature, rows, columns):
            return A[:, rows].T @ A[:, columns] + super().block(curvature, rows, columns)

        def product(self, curvature, direction):
            bend, own = curvature
            weak = self.A.T @ (bend * (self.A @ direction)) + own * direction
            return A.T @ (A @ direction) + weak

    g = Steep(np.zeros((4, 6)), A @ np.full(6, 0.5))
    _, left = DampedNewton().minimise(g, np.ones(6), tol=1e-2, max_steps=25)
    assert left <= 1e-2
