"""Widths by squaring are the widths by themselves; units of kernels."""

import numpy as np
import pytest

from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial
from kboost.kernels.normalize import normalized
from kboost.kernels.shared import MAX_SQUARINGS, chains, evaluate

X = np.random.default_rng(0).normal(size=(12, 3))
LIBRARY = [
    Gaussian(8.0),
    Linear(),
    Gaussian(0.5),
    3.0 * Gaussian(2.0),
    Gaussian(0.7),
    Laplacian(1.0),
    Laplacian(4.0),
    2.0 * Gaussian(0.5),
    Polynomial(2),
    Gaussian(0.5, columns=[0]),
    Gaussian(0.5 * 2.0**20),
]


def test_every_kernel_comes_once_with_its_own_values():
    kernels = [kernel.resolve(X) for kernel in LIBRARY]
    pairings = {pairing for kernel in kernels for pairing in kernel.pairings}
    blocks = {pairing: pairing.compute(X, X) for pairing in pairings}
    found = dict(evaluate(kernels, blocks))
    assert sorted(found) == list(range(len(LIBRARY)))
    for j, kernel in enumerate(kernels):
        np.testing.assert_allclose(found[j], kernel(X, X), rtol=1e-12, atol=1e-300)


def test_chains_join_what_doubles_on_one_view():
    found = [sorted(j for j, _ in chain) for chain in chains([k.resolve(X) for k in LIBRARY])]
    assert sorted(found) == [[0, 2, 3, 7], [1], [4], [5, 6], [8], [9], [10]]
    widths = [Gaussian(2.0**e).resolve(X) for e in range(0, 28, 2)]
    assert all(steps <= MAX_SQUARINGS for chain in chains(widths) for _, steps in chain)


@pytest.mark.parametrize(("how", "total"), [("mean", 6.0), ("trace", 1.0)])
def test_unit_counts_weights(how, total):
    weight = np.array([1.0, 2.0, 3.0])
    kernels = [Linear(), Gaussian(1.0)]
    scaled = normalized(kernels, [k.diag(X[:3]) for k in kernels], weight, how)
    for kernel in scaled:
        assert weight @ kernel.diag(X[:3]) == pytest.approx(total)


def test_a_kernel_that_is_zero_stays():
    assert normalized([Linear()], [np.zeros(2)], np.ones(2), "mean") == (Linear(),)


@pytest.mark.parametrize("how", ["mean", "trace", None])
def test_a_negative_diagonal_is_refused_but_rounding_is_not(how):
    with pytest.raises(ValueError, match=r"^kernels must be positive semidefinite .* = -2 at a"):
        normalized([Linear()], [np.array([1.0, -2.0])], np.ones(2), how)
    assert len(normalized([Linear()], [np.array([1.0, -1e-16])], np.ones(2), how)) == 1


def test_a_diagonal_too_small_to_be_scaled_is_refused():
    with pytest.raises(ValueError, match=r"^Linear\(\) must have larger values to be scaled; got"):
        normalized([Linear()], [np.full(2, 1e-320)], np.ones(2), "mean")
