"""Projected gradient ascent from many starts."""

import numpy as np
from numpy.testing import assert_allclose

from kboost.solvers.gradient_ascent import maximise


def quadratics(seed, m=7, q=4):
    """Concave quadratics with their maximisers."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, q, q))
    A = np.einsum("mij,mkj->mik", A, A) + 0.1 * np.eye(q)
    peak = rng.normal(size=(m, q))

    def functions(points, which):
        away = points - peak[which]
        slope = -np.einsum("mij,mj->mi", A[which], away)
        return 0.5 * np.einsum("mi,mi->m", slope, away), slope

    return functions, peak, A


def test_the_maximum_of_each_function_is_found():
    functions, peak, _ = quadratics(0)
    wide = np.full(peak.shape, 50.0)
    theta, value = maximise(functions, np.zeros(peak.shape), -wide, wide, max_steps=2000, tol=1e-15)
    assert_allclose(theta, peak, atol=1e-5)
    assert_allclose(value, 0.0, atol=1e-9)


def test_inside_the_box_the_projected_gradient_vanishes():
    functions, peak, _ = quadratics(1)
    low, high = np.full(peak.shape, -0.3), np.full(peak.shape, 0.4)
    theta, _ = maximise(functions, np.zeros(peak.shape), low, high, max_steps=2000, tol=1e-15)
    assert (theta >= low).all()
    assert (theta <= high).all()
    slope = functions(theta, np.arange(len(theta)))[1]
    assert_allclose(np.clip(theta + slope, low, high), theta, atol=1e-4)
    assert (theta == low).any()


def test_starts_are_independent_and_values_never_fall():
    def waves(points, which):
        return np.sin(3 * points).sum(axis=1), 3 * np.cos(3 * points)

    rng = np.random.default_rng(2)
    start = rng.uniform(-2, 2, size=(20, 2))
    low, high = np.full((20, 2), -2.0), np.full((20, 2), 2.0)
    before = waves(start, None)[0]
    for steps in (1, 2, 5, 20):
        theta, value = maximise(waves, start, low, high, max_steps=steps, tol=0.0)
        assert (value >= before).all()
        assert_allclose(value, waves(theta, None)[0])
        before = value
    alone = [
        maximise(waves, start[[k]], low[[k]], high[[k]], max_steps=20, tol=0.0)[0]
        for k in range(20)
    ]
    assert_allclose(np.concatenate(alone), theta)


def test_no_starts():
    def flat(points, which):
        return np.ones(len(points)), np.zeros_like(points)

    box = np.ones((3, 2))
    theta, value = maximise(flat, np.zeros((3, 2)), -box, box, max_steps=5, tol=1e-6)
    assert_allclose(theta, 0.0)
    assert_allclose(value, 1.0)
