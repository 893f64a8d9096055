"""What ``kernels=`` may be, and what is said when it is something else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from kboost.kernels import Gaussian, Linear, as_kernels, default_kernels
from kboost.kernels.adapters import FunctionKernel, Precomputed, SklearnKernel

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_names_of_svc_give_its_kernels(name):
    svc = SVC(kernel=name).fit(X, np.arange(30) % 2)
    (kernel,) = as_kernels(name, X)
    own = SVC(kernel="precomputed").fit(kernel(X), np.arange(30) % 2)
    assert_allclose(own.decision_function(kernel(X)), svc.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("name", ["polynomial", "laplacian", "cosine", "chi2", "additive_chi2"])
def test_other_names_are_those_of_pairwise_kernels(name):
    P = np.abs(X)
    (kernel,) = as_kernels(name, P)
    assert_allclose(kernel(P, P[:7]), pairwise.pairwise_kernels(P, P[:7], name), rtol=1e-10)


def test_a_list_is_resolved_and_each_kernel_kept_once():
    kernels = as_kernels([Linear(), "linear", "rbf", Gaussian("scale"), Gaussian(1)], X)
    assert kernels[0] == Linear()
    assert len(kernels) == 3
    assert all(isinstance(k.gamma, float) for k in kernels[1:])
    assert as_kernels(Linear(), X) == (Linear(),)
    assert len(as_kernels(["auto", "linear"], X)) == 9


def test_callables():
    def box(A, B):
        return (np.abs(A[:, None] - B[None]).max(axis=2) < 1).astype(float)

    (kernel,) = as_kernels(box, X)
    assert_array_equal(kernel(X, X[:4]), box(X, X[:4]))
    assert_array_equal(kernel.diag(np.repeat(X, 5, axis=0)), 1)
    assert kernel == FunctionKernel(box)
    assert repr(kernel) == "FunctionKernel(func=box)"


def flat(A, B):
    return np.ones(len(A))


def infinite(A, B):
    return np.full((len(A), len(B)), np.inf)


def test_callables_are_held_to_their_rule():
    rule = r"kernel function flat must return shape \(n, m\) = \(30, 4\); got \(30,\)."
    with pytest.raises(ValueError, match=rule):
        FunctionKernel(flat)(X, X[:4])
    with pytest.raises(ValueError, match="kernel function infinite must return finite values"):
        FunctionKernel(infinite)(X, X[:4])
    with pytest.raises(ValueError, match="kernel function infinite must return finite values"):
        FunctionKernel(infinite).diag(X)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_precomputed(container):
    K = [X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))]
    side_by_side = container(np.hstack(K))
    kernels = as_kernels("precomputed", side_by_side)
    assert kernels == (Precomputed(0, 30), Precomputed(1, 30))
    assert kernels[0].is_psd
    assert not Precomputed(0, 30, psd=False).is_psd
    centers = np.array([[3], [17], [0]])
    for kernel, matrix in zip(kernels, K, strict=True):
        assert_array_equal(kernel(side_by_side, centers), matrix[:, [3, 17, 0]])
        assert_array_equal(kernel(side_by_side), matrix)
        assert_array_equal(kernel.diag(side_by_side), np.diagonal(matrix))
        assert_array_equal(kernel(side_by_side[:2], centers), matrix[:2, [3, 17, 0]])
        assert kernel.resolve(centers) == kernel


def test_precomputed_messages():
    with pytest.raises(ValueError, match=r"X must have a multiple of 30 columns .* got 3 columns"):
        as_kernels("precomputed", X)
    assert len(as_kernels("precomputed", np.ones((2, 6)), width=3)) == 2
    with pytest.raises(ValueError, match=r"X must have at least 8 columns .* got 6"):
        Precomputed(1, 4)(np.ones((2, 6)))
    with pytest.raises(ValueError, match="requires its 4 training rows; got 2 rows"):
        Precomputed(0, 4).diag(np.ones((2, 4)))
    with pytest.raises(ValueError, match="columns and on must be None for precomputed"):
        Precomputed(0, 4, on="ranks").resolve(np.ones((2, 4)))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([], r"kernels must not be empty; got kernels=\[\]."),
        ("gauss", "kernels must be one of 'auto', 'precomputed', 'linear', .* got 'gauss'."),
        (["precomputed"], "kernels='precomputed' must be a string, not part of a list"),
        (3.0, "kernels must be 'auto', .* or a list of these; got 3.0."),
        ([Linear(), None], "kernels must be 'auto', .* got None."),
        (Gaussian, "kernels must be 'auto', .* got <class"),
        (Linear(columns=[]), r"columns must be a non-empty list .* got columns=\(\)."),
        (Linear(columns="a"), "columns must be a non-empty list .* got columns='a'."),
        (Linear(columns=2), "columns must be a non-empty list .* got columns=2."),
        (Linear(columns=[0, 0]), r"columns must name each feature once; got columns=\(0, 0\)."),
        (
            Linear(columns=[0, 3]),
            "columns must be indices below 3, the number of features of X; got 3.",
        ),
        (
            Linear(columns=[-4]),
            "columns must be indices below 3, the number of features of X; got -4.",
        ),
        (Linear(columns=["a"]), "columns must be indices because X has no feature names; got 'a'."),
        (Linear(columns=[0.5]), "columns must contain names or indices; got 0.5."),
        (Linear(columns=[True]), "columns must contain names or indices; got True."),
    ],
)
def test_messages(spec, message):
    with pytest.raises(ValueError, match=message):
        as_kernels(spec, X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_come_from_the_frame(frame):
    data = frame(dict(zip("abc", X.T, strict=True)))
    (kernel,) = as_kernels(Gaussian(columns=["c", "a"]), data)
    assert kernel == Gaussian(columns=[2, 0]).resolve(X)
    assert_array_equal(Linear(columns=["b"])(data), Linear(columns=[1])(X))
    with pytest.raises(ValueError, match=r"columns must be feature names of X; got 'z'."):
        as_kernels(Linear(columns=["z"]), data)
    assert as_kernels(Linear(columns=np.array([1])), X) == (Linear(columns=(1,)),)
    named = as_kernels(Linear(columns=pd.Index(["v"])), X, feature_names=["u", "v", "w"])
    assert named == (Linear(columns=[1]),)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_default_library(container):
    kernels = default_kernels(container(X))
    assert as_kernels("auto", container(X)) == tuple(kernels)
    assert len(set(kernels)) == 8
    assert all(k.is_psd for k in kernels)
    assert all(k.resolve(X) == k for k in kernels)
    for kernel in kernels:
        K = kernel(X) / np.sqrt(np.outer(kernel.diag(X), kernel.diag(X)))
        off = np.abs(K[~np.eye(30, dtype=bool)])
        assert np.sqrt((off**2).mean()) > 0.05  # no column is a spike


def test_default_library_on_odd_rows():
    for odd in (np.ones((5, 2)), np.zeros((1, 1)), np.array([[1e300], [-1e300], [0.0]])):
        for kernel in default_kernels(odd):
            assert np.isfinite(kernel(odd)).all()


def test_sklearn_kernel_takes_columns():
    expected = pairwise.cosine_similarity(X[:, [0, 2]])
    assert_allclose(SklearnKernel("cosine", columns=[0, 2])(X), expected, rtol=1e-12)


def test_an_error_of_a_users_function_names_it():
    def untransposed(A, B):
        return A @ B

    with pytest.raises(ValueError, match="matmul") as error:
        FunctionKernel(untransposed)(np.ones((5, 2)), np.ones((4, 2)))
    assert error.value.__notes__ == [
        "Raised by kernel function untransposed on rows (5, 2) and (4, 2)."
    ]
