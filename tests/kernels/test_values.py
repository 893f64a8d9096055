"""Values against scikit-learn, and messages for parameters and scales out of range."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

from kboost.kernels import Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from kboost.kernels.adapters import FunctionKernel, SklearnKernel

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(20, 5)), rng.normal(size=(7, 5))


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (Linear(), pairwise.linear_kernel(X, Z)),
        (Polynomial(3, coef0=0.5, gamma=0.2), pairwise.polynomial_kernel(X, Z, 3, 0.2, 0.5)),
        (Polynomial(6, coef0=-0.5), pairwise.polynomial_kernel(X, Z, 6, 1.0, -0.5)),
        (Sigmoid(0.2, coef0=0.1), pairwise.sigmoid_kernel(X, Z, 0.2, 0.1)),
        (Gaussian(0.3), pairwise.rbf_kernel(X, Z, 0.3)),
        (Laplacian(0.3), pairwise.laplacian_kernel(X, Z, 0.3)),
        (Matern(0.25, nu=0.5), gp.Matern(2.0, nu=0.5)(X, Z)),
        (Matern(0.25, nu=1.5), gp.Matern(2.0, nu=1.5)(X, Z)),
        (Matern(0.25, nu=2.5), gp.Matern(2.0, nu=2.5)(X, Z)),
        (SklearnKernel("cosine"), pairwise.cosine_similarity(X, Z)),
        (2 * Linear() + Gaussian(0.3), 2 * X @ Z.T + pairwise.rbf_kernel(X, Z, 0.3)),
        (Linear() * Gaussian(0.3), X @ Z.T * pairwise.rbf_kernel(X, Z, 0.3)),
        (Linear(columns=[3, 0]), X[:, [3, 0]] @ Z[:, [3, 0]].T),
    ],
    ids=lambda v: repr(v) if not isinstance(v, np.ndarray) else "",
)
def test_agrees_with_scikit_learn(kernel, expected):
    assert_allclose(kernel(X, Z), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["chi2", "additive_chi2"])
def test_kernels_of_scikit_learn_by_name(name):
    P, Q = np.abs(X), np.abs(Z)
    assert_allclose(SklearnKernel(name)(P, Q), pairwise.pairwise_kernels(P, Q, name))
    assert SklearnKernel(name).is_psd == (name == "chi2")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(-1), "gamma must be positive or one of 'mean', 'median', 'scale'; got gamma=-1."),
        (Gaussian(0.0), "gamma must be positive .* got gamma=0.0."),
        (Gaussian(np.inf), "gamma must be positive .* got gamma=inf."),
        (Laplacian("auto"), "gamma must be positive .* got gamma='auto'."),
        (Laplacian(True), "gamma must be positive .* got gamma=True."),
        (Matern(nu=2), "nu must be 0.5, 1.5 or 2.5; got nu=2."),
        (Polynomial(0), "degree must be an integer of at least 1; got degree=0."),
        (Polynomial(2.0), "degree must be an integer of at least 1; got degree=2.0."),
        (Polynomial(2, coef0=np.nan), "coef0 must be a finite number; got coef0=nan."),
        (Polynomial(2, gamma=None), "gamma must be positive .* got gamma=None."),
        (Sigmoid(coef0="1"), "coef0 must be a finite number; got coef0='1'."),
        (-2.0 * Linear(), "scale must be positive; got scale=-2.0."),
        (0 * Linear() + Gaussian(), "scale must be positive; got scale=0.0."),
        (Linear(on="log"), "on must be None, 'standard', 'ranks' or a fitted .* got on='log'."),
        (Linear(on=[1]), r"on must be None, .* got on=\[1\]."),
        (SklearnKernel("rbf"), "name must be one of .* got name='rbf'."),
        (FunctionKernel(3), "func must be callable; got func=3."),
    ],
    ids=repr,
)
def test_parameters_are_checked_when_resolved(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.resolve(X)
    with pytest.raises(ValueError, match=message):
        kernel(X, Z)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(2), Gaussian(1.0), Gaussian(), Gaussian("scale"), Matern("median")],
    ids=repr,
)
def test_overflow_is_one_sentence(kernel):
    huge = 1e300 * X
    with pytest.raises(
        ValueError, match=r"finite (values|distances); got inf or nan; scale the features"
    ):
        kernel(huge)


def test_nan_is_not_hidden():
    bad = X.copy()
    bad[3, 2] = np.nan
    for kernel in (Linear(), Gaussian(1.0), Laplacian(), Gaussian(on="ranks", gamma=1.0)):
        with pytest.raises(ValueError, match="finite"):
            kernel(bad)


@pytest.mark.parametrize("on", ["standard", "ranks"])
@pytest.mark.parametrize("kernel", [Linear, Gaussian, Laplacian, Matern, Sigmoid])
def test_any_scale_of_features_with_a_transform(kernel, on):
    sizes = np.array([1e300, 1e-300, 1.0, 1e-308, 1e308 / np.abs(X).max()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extreme = kernel(on=on)(X * sizes)
    assert_allclose(extreme, kernel(on=on)(X), rtol=1e-6, atol=1e-8)


def test_rows_must_be_a_table():
    with pytest.raises(ValueError, match=r"X must be two-dimensional .* got shape \(3,\)"):
        Linear()([1.0, 2.0, 3.0])
    assert Linear()([[1, 2]]).dtype == np.float64
