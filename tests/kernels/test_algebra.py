"""Sums, products and multiples flatten, and read as they are written."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import SVC

from kboost.kernels import Gaussian, Laplacian, Linear, Polynomial, Sigmoid

G, L, P = Gaussian(0.5), Linear(), Polynomial(2)


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (G, "Gaussian(gamma=0.5)"),
        (Gaussian(), "Gaussian()"),
        (Gaussian(columns=[0, 1]), "Gaussian(columns=(0, 1))"),
        (P, "Polynomial(degree=2)"),
        (2.0 * L + G, "2.0 * Linear() + Gaussian(gamma=0.5)"),
        (2 * (L + G), "2.0 * (Linear() + Gaussian(gamma=0.5))"),
        ((L + G) * P, "(Linear() + Gaussian(gamma=0.5)) * Polynomial(degree=2)"),
        (3 * L * (2 * G), "6.0 * Linear() * Gaussian(gamma=0.5)"),
    ],
)
def test_repr(kernel, text):
    assert repr(kernel) == text


def test_flat():
    assert (L + G) + P == L + (G + P)
    assert (L * G) * P == L * (G * P)
    assert 2 * (3 * G) == 6 * G
    assert (2 * L) * G == 2 * (L * G) == L * (2 * G)
    assert 1.0 * G == G
    assert G * 2 == 2 * G == np.float64(2) * G == np.int64(2) * G
    assert len({L + G, L + G, G + L}) == 2


def test_claims():
    assert (L + G * P).is_psd
    assert not (L + Sigmoid()).is_psd
    assert not (2 * Sigmoid() * L).is_psd
    assert Polynomial(2, coef0=0.0).is_psd
    assert not Polynomial(2, coef0=-0.1).is_psd


def test_only_kernels_and_numbers_combine():
    with pytest.raises(TypeError):
        G + 1
    with pytest.raises(TypeError):
        G * "2"
    with pytest.raises(TypeError):
        [1.0] * G


def test_kernels_are_immutable_values():
    with pytest.raises(AttributeError):
        G.gamma = 2.0
    assert Gaussian(1) == Gaussian(1.0)
    assert Gaussian(1.0) != Laplacian(1.0)
    assert Gaussian(columns=[0]) == Gaussian(columns=(0,)) == Gaussian(columns=np.array([0]))


def test_they_serve_scikit_learn_as_kernel_functions():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] * X[:, 1] > 0
    ours = clone(SVC(kernel=G)).fit(X, y)
    theirs = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    assert np.allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
